"""Numbers as labels, behind scikit-learn's contract.

What learns is opened when it is asked for: importing an estimator takes no torch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from fwl.errors import UnknownName
from fwl.progress import Progress
from fwl.records import Array, WeakSet

if TYPE_CHECKING:
    from fwl.estimators.gathering import Gathered
    from fwl.learn.recipe import Recipe


class FWLRegressor(RegressorMixin, BaseEstimator):
    """Learn a number from few rows you trust and many you don't.

    Inputs and labels are standardised over both sets; predictions come back on the labels' own scale. X is an array or
    sparse matrix of numbers, a pandas, polars or Arrow frame (categories are encoded, missing cells filled), or a list
    of texts. Weak labels are numbers, a column for each annotator if there are several; NaN is an abstention.

    Args:
        method: a name in `fwl.METHODS`, or "LR_S" for a linear model of the strong rows alone; "FWL_auto" lets the
            strong labels choose teacher and beta, "FWL" is the paper's Algorithm 1.
        hidden: width of each hidden layer of the student.
        beta: of eta2 = exp(-beta Sigma), for methods that do not choose it.
        pretrain_steps: updates on weak labels, for methods that do not stop early.
        finetune_steps: updates on soft or strong labels.
        batch_size: samples per update.
        learning_rate: of Adam.
        random_state: a seed, or None for a fresh one.
        student: as in `FWLClassifier`.
        encoder: the folder of a sentence encoder, for texts.
        encoder_layers: how many of its upper layers are read.
        teacher: as in `FWLClassifier`.
        pool_size: the most weak rows to learn from; of more, some are drawn. All of them get soft labels. None for all.

    Attributes:
        learned_: students, teacher and soft set.
        soft_labels_: the teacher's label of every sample, weak ones first, on the labels' own scale, [N].
        uncertainty_: Sigma of each, [N].
        fidelity_: eta2 of each, [N]; usable as `sample_weight` elsewhere.
        student_: the first student.
        teacher_: the teacher, which can be asked for its own opinion.
        choices_: what the method decided by itself.
        report_: what was given, what became of it, how far each annotator can be relied on; plain values.
        n_features_in_: columns seen in fit, where there are columns.

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
        student: str | Callable[..., Any] = "auto",
        encoder: str | None = None,
        encoder_layers: int = 1,
        teacher: str | Callable[[], Any] = "auto",
        pool_size: int | None = 100_000,
    ) -> None:
        self.method = method
        self.hidden = hidden
        self.beta = beta
        self.pretrain_steps = pretrain_steps
        self.finetune_steps = finetune_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.random_state = random_state
        self.student = student
        self.encoder = encoder
        self.encoder_layers = encoder_layers
        self.teacher = teacher
        self.pool_size = pool_size

    def fit(
        self, X: Any, y: Any, weak: WeakSet | None = None, y_weak: Any = None, progress: Progress | None = None
    ) -> Self:
        """Learn from strong rows and a weak set.

        Args:
            X: strong rows.
            y: their numbers.
            weak: a `WeakSet(X, y)`; without one, the strong rows alone are learned from.
            y_weak: what the annotator says of the strong rows, so that the teacher learns how it errs.
            progress: hears of step 1 and the rest, then of every row that has its soft label.
        """
        from fwl.estimators.fitting import Fitted, keep_fitted
        from fwl.estimators.gathering import gather_numbers
        from fwl.estimators.new_students import threads_for
        from fwl.learn.own_data import OWN_METHODS, learn_as_planned
        from fwl.randomness import chance_from

        if self.method not in OWN_METHODS:
            raise UnknownName("method", self.method, OWN_METHODS)
        chance = chance_from(self.random_state)
        gathered = gather_numbers(self, X, y, weak, y_weak, chance)
        recipe = self.recipe_for(gathered)
        with threads_for(self.student):
            taught = learn_as_planned(gathered.data, self.method, recipe, chance, progress=progress)
        keep_fitted(self, Fitted.of(gathered, taught, self.method, self.beta, progress))
        return self

    def predict(self, X: Any, weak: Any = None) -> Array:
        """The predicted numbers of rows, [M]; the teacher's, where what the annotator says of them is given."""
        from fwl.estimators.fitting import read_samples
        from fwl.estimators.telling import predict_with

        check_is_fitted(self, "learned_")
        samples = read_samples(self, X)
        read = None if weak is None else self._fitted.labels.weak(weak, len(samples))
        columns = predict_with(self.learned_, self.teacher_, samples, read)
        return np.asarray(self._fitted.labels.told(columns))

    def recipe_for(self, gathered: Gathered) -> Recipe:
        """Every choice of a run on this data; comparisons of methods use it too."""
        from fwl.estimators.gathering import has_no_numbers
        from fwl.estimators.new_students import is_encoded, new_student_for, words_of
        from fwl.estimators.new_teachers import NewTeacher, teacher_named
        from fwl.learn.recipe import Recipe, Teaching
        from fwl.students.training import Training

        reading = words_of(gathered.inputs), is_encoded(gathered.inputs)
        plan = Training(steps=self.pretrain_steps, batch_size=self.batch_size, learning_rate=self.learning_rate)
        finetuning = replace(plan, steps=self.finetune_steps)
        data, hidden = gathered.data, tuple(self.hidden)
        clusters, new_teacher = teacher_named(self.teacher, NewTeacher(hidden[-1], len(data.strong)))
        recipe = Recipe(
            new_student=new_student_for(data.strong, 1, self.student, hidden, *reading),
            pretraining=plan,
            finetuning=finetuning,
            teaching=Teaching(new_teacher, standardise=True),
            beta=self.beta,
        )
        patient = replace(plan, steps=10 * self.pretrain_steps, patience=25, check_every=20)
        auto = replace(recipe.auto, pretraining=patient, finetuning=finetuning, clusters=clusters)
        return recipe.but(auto=replace(auto, inputs=("psi",)) if has_no_numbers(data.strong) else auto)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        tags.input_tags.sparse = True
        return tags
