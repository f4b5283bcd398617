"""LR_S: a linear model on the strong labels alone, the control that any use of weak labels has to beat.

FWL_auto's committee for a user's own classes has it as a member.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression, RidgeCV

from fwl.errors import InvalidInput
from fwl.evaluate.folds import folds
from fwl.learn.learned import Learned
from fwl.learn.recipe import Problem, Recipe
from fwl.learn.view import VECTOR
from fwl.randomness import Chance
from fwl.records import Array
from fwl.students.contract import Student
from fwl.students.inference import part_of
from fwl.students.linear import LinearStudent
from fwl.threads import one_thread

# C of the logistic regression, on columns of variance 1: small ones for a thousand columns, large ones for ten (D73).
STRENGTHS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
PENALTIES = tuple(np.logspace(-2, 4, 13).tolist())  # alpha of the ridge regression
FOLDS = 3
_Fit = tuple[Array, Array, Array | None]  # weights, biases, left-out probabilities
NEVER = -30.0  # the logit of a class that no strong label names


@dataclass(frozen=True, eq=False)
class FittedLinear:
    """A linear model of the strong labels.

    Attributes:
        student: the model.
        left_out: of classes, what models of its kind say of each strong sample that they have not seen, [N, C], two
            columns for two classes; None of numbers, and where all strong labels are one class.
    """

    student: LinearStudent
    left_out: Array | None


def balanced_linear(
    problem: Problem,
    recipe: Recipe,  # noqa: ARG001
    chance: Chance,
    pretrained: Student | None = None,  # noqa: ARG001
) -> Learned:
    """A logistic regression in which every class counts alike (of numbers, a ridge regression), on strong labels alone.

    How far it is regularised is chosen by cross-validation; it reads the samples' own numbers.
    """
    if not has_numbers(problem.strong.X):
        parts = ", ".join(problem.strong.X.dtype.names or ())
        raise InvalidInput(f"LR_S reads numbers; these samples have none (parts: {parts}); choose another")
    return Learned((fit_linear(problem, chance).student,), problem.task)


def has_numbers(samples: npt.NDArray[Any]) -> bool:
    """Whether a linear model can read these samples."""
    return samples.dtype.names is None or VECTOR in samples.dtype.names


def fit_linear(problem: Problem, chance: Chance) -> FittedLinear:
    """The model of `balanced_linear`, and what it would have said of the strong samples."""
    reads = None if problem.strong.X.dtype.names is None else VECTOR
    X, everything = (_numbers(samples, reads) for samples in (problem.strong.X, problem.all_samples))
    frame = _Frame.of(everything)
    with one_thread():
        fit = _fit_classes if problem.task.has_classes else _fit_numbers
        weight, bias, left_out = fit(frame(X), problem.strong.y, chance)
    student = LinearStudent(X.shape[1], problem.strong.y.shape[1], reads, chance=chance.child("student")).double()
    student.set_weights(*frame.back(weight, bias))
    return FittedLinear(student, left_out)


@dataclass(frozen=True, eq=False)
class _Frame:
    """Columns moved to mean 0 and brought to one scale all together, so that they keep their proportions."""

    centre: Array
    scale: float

    @classmethod
    def of(cls, X: Array) -> _Frame:
        return cls(X.mean(axis=0), float(np.sqrt(X.var(axis=0).mean())) or 1.0)

    def __call__(self, X: Array) -> Array:
        return (X - self.centre) / self.scale

    def back(self, weight: Array, bias: Array) -> tuple[Array, Array]:
        """The same function of columns as they came."""
        weight = weight / self.scale
        return weight, bias - weight @ self.centre


def _numbers(samples: np.ndarray, reads: str | None) -> Array:
    return np.asarray(part_of(samples, reads).reshape(len(samples), -1), dtype=np.float64)


def _fit_numbers(X: Array, y: Array, chance: Chance) -> _Fit:  # noqa: ARG001
    model = RidgeCV(PENALTIES).fit(X, y)
    return np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_), None


def _fit_classes(X: Array, y: Array, chance: Chance) -> _Fit:
    classes, count = _classes(y), max(2, y.shape[1])
    strength, left_out = STRENGTHS[0], None
    if len(np.unique(classes)) > 1:
        strength, left_out = _best_strength(X, classes, count, chance)
    weight, bias = _logistic(X, classes, strength, count)
    if y.shape[1] == 1:  # one logit, of the second class against the first
        weight, bias = weight[1:] - weight[:1], bias[1:] - bias[:1]
    return weight, bias, left_out


def _best_strength(X: Array, classes: np.ndarray, count: int, chance: Chance) -> tuple[float, Array]:
    """The regularisation with the smallest log loss on strong labels left out, each class counting alike.

    And the probabilities [N, count] that it gives those labels' samples.
    """
    left_out = {strength: np.empty((len(X), count)) for strength in STRENGTHS}
    for kept, rows in folds(len(X), FOLDS, chance.child("strength")):
        for strength, probabilities in left_out.items():
            weight, bias = _logistic(X[kept], classes[kept], strength, count)
            probabilities[rows] = softmax(X[rows] @ weight.T + bias, axis=1)
    rarity, own = 1.0 / np.bincount(classes)[classes], (np.arange(len(X)), classes)
    losses = {strength: -float(rarity @ np.log(said[own])) for strength, said in left_out.items()}
    best = min(losses, key=losses.__getitem__)
    return best, left_out[best]


def _logistic(X: Array, classes: np.ndarray, strength: float, count: int) -> tuple[Array, Array]:
    """Weights [count, D] and biases [count] of a balanced logistic regression."""
    weight, bias = np.zeros((count, X.shape[1])), np.full(count, NEVER)
    seen: Sequence[int] = np.unique(classes).tolist()
    bias[seen] = 0.0
    if len(seen) > 1:
        model = LogisticRegression(C=strength, class_weight="balanced", max_iter=1000).fit(X, classes)
        rows = seen[1:] if len(seen) == 2 else seen
        weight[rows], bias[rows] = model.coef_, model.intercept_
    return weight, bias


def _classes(y: Array) -> np.ndarray:
    return (y[:, 0] > 0.5).astype(np.int64) if y.shape[1] == 1 else y.argmax(axis=1)
