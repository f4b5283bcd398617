"""Numbers as labels, behind scikit-learn's contract."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from fwl.errors import UnknownName
from fwl.learn.methods import METHODS
from fwl.learn.recipe import Problem, Recipe, Teaching
from fwl.randomness import Chance, chance_from
from fwl.records import Array, StrongSet, WeakSet
from fwl.students.contract import Student
from fwl.students.perceptron import Perceptron
from fwl.students.training import Training
from fwl.teach.exact import ExactGP
from fwl.teach.kernels import RBF, White


class FWLRegressor(RegressorMixin, BaseEstimator):
    """Learn a number from few rows you trust and many you don't.

    Inputs and labels are standardised over both sets; predictions come back on the labels' own scale.

    Args:
        method: a name in `fwl.METHODS`; "FWL_auto" lets the strong labels choose teacher and beta, "FWL" is the paper's
            Algorithm 1.
        hidden: width of each hidden layer of the student.
        beta: of eta2 = exp(-beta Sigma), for methods that do not choose it.
        pretrain_steps: updates on weak labels, for methods that do not stop early.
        finetune_steps: updates on soft or strong labels.
        batch_size: samples per update.
        learning_rate: of Adam.
        random_state: a seed, or None for a fresh one.

    Attributes:
        learned_: students, teacher and soft set.
        soft_labels_: the teacher's label of every sample, weak ones first, on the labels' own scale, [N].
        uncertainty_: Sigma of each, [N].
        fidelity_: eta2 of each, [N]; usable as `sample_weight` elsewhere.
        choices_: what the method decided by itself.
        n_features_in_: columns seen in fit.

    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (200, 1))
    >>> weak = WeakSet(X, np.sin(X) + 0.5)  # every label half too high
    >>> X_strong = rng.uniform(-3, 3, (12, 1))
    >>> model = FWLRegressor(hidden=(32,), random_state=0).fit(X_strong, np.sin(X_strong[:, 0]), weak=weak)
    >>> bool(np.abs(model.predict(X) - np.sin(X[:, 0])).mean() < 0.1)
    True
    """

    def __init__(
        self,
        method: str = "FWL_auto",
        hidden: tuple[int, ...] = (128, 128),
        beta: float = 1.0,
        pretrain_steps: int = 1000,
        finetune_steps: int = 1000,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        random_state: int | None = None,
    ) -> None:
        self.method = method
        self.hidden = hidden
        self.beta = beta
        self.pretrain_steps = pretrain_steps
        self.finetune_steps = finetune_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.random_state = random_state

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, weak: WeakSet | None = None) -> Self:
        """Learn from strong rows X [N, D], y [N] and a weak set; without one, from the strong rows alone."""
        if self.method not in METHODS:
            raise UnknownName("method", self.method, METHODS)
        X_strong, y_strong = validate_data(self, X, y, y_numeric=True, dtype=np.float64)
        pool = WeakSet(X_strong, y_strong) if weak is None else weak
        problem = self._scaled(Problem(pool, StrongSet(X_strong, y_strong)))
        recipe = self._recipe(X_strong.shape[1])
        self.learned_ = METHODS[self.method](problem, recipe, chance_from(self.random_state), None)
        for student in self.learned_.students:
            student.double()  # in single precision a row's prediction would depend on the rows beside it
        self.choices_ = self.learned_.choices
        self._tell_soft_labels()
        return self

    def predict(self, X: npt.ArrayLike) -> Array:
        """The predicted numbers of rows X [M, D], [M]."""
        check_is_fitted(self, "learned_")
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        return self._unscaled(self.learned_.predict(self._x_scaler.transform(rows)))

    def _scaled(self, problem: Problem) -> Problem:
        """The problem with inputs and labels standardised over both sets; the scales are kept for predicting."""
        weak, strong = problem.weak, problem.strong
        self._x_scaler = StandardScaler().fit(problem.all_samples)
        self._y_scaler = StandardScaler().fit(np.concatenate([weak.y, strong.y]))
        x, y = self._x_scaler.transform, self._y_scaler.transform
        return replace(problem, weak=WeakSet(x(weak.X), y(weak.y)), strong=StrongSet(x(strong.X), y(strong.y)))

    def _recipe(self, n_inputs: int) -> Recipe:
        plan = Training(steps=self.pretrain_steps, batch_size=self.batch_size, learning_rate=self.learning_rate)
        finetuning = replace(plan, steps=self.finetune_steps)
        recipe = Recipe(
            new_student=_NewPerceptron(n_inputs, tuple(self.hidden)),
            pretraining=plan,
            finetuning=finetuning,
            teaching=Teaching(_NewTeacher(self.hidden[-1]), standardise=True),
            beta=self.beta,
        )
        patient = replace(plan, steps=10 * self.pretrain_steps, patience=25, check_every=20)
        return recipe.but(auto=replace(recipe.auto, pretraining=patient, finetuning=finetuning))

    def _tell_soft_labels(self) -> None:
        soft = self.learned_.soft
        if soft is not None:
            self.soft_labels_ = self._unscaled(soft.label)
            self.uncertainty_, self.fidelity_ = soft.uncertainty, soft.fidelity

    def _unscaled(self, labels: Array) -> Array:
        column: Array = self._y_scaler.inverse_transform(labels)[:, 0]
        return column

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        return tags


@dataclass(frozen=True)
class _NewTeacher:
    """The paper's teacher on psi, its lengthscale started at the distance of standardised columns and then fitted.

    The paper's l = 1 is for representations on its own scale; between standardised rows of a hundred columns every
    distance is above ten and the kernel would be zero everywhere.
    """

    width: int

    def __call__(self) -> ExactGP:
        return ExactGP(RBF(math.sqrt(0.5 * self.width)) + White(0.02), "evidence_with_prior")


@dataclass(frozen=True)
class _NewPerceptron:
    n_inputs: int
    hidden: tuple[int, ...]

    def __call__(self, chance: Chance) -> Student:
        return Perceptron(self.n_inputs, 1, self.hidden, chance=chance)
