"""Classes as labels, behind scikit-learn's contract.

What learns is opened when it is asked for: importing an estimator takes no torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from fwl.errors import UnknownName
from fwl.progress import Progress
from fwl.records import Array

if TYPE_CHECKING:
    from fwl.estimators.gathering import Gathered
    from fwl.learn.recipe import Auto, Recipe

STRONG_PASSES = 40  # over strong rows alone: more were no better (DECISIONS.md, D54)
KERNEL_ROWS = 500  # strong rows on which FWL_auto's teachers are compared; the one chosen learns from all
SHARE_FOLDS = 4  # of the strong rows, on which each side's share of the committee is chosen (D62, D65)
BELIEVED_ROWS = 100.0  # for so many strong rows counts what is expected of student and annotator beforehand (D62)


class FWLClassifier(ClassifierMixin, BaseEstimator):
    """Learn classes from few rows you trust and many you don't.

    X is an array or sparse matrix of numbers, a pandas, polars or Arrow frame (categories are encoded, missing cells
    filled), or a list of texts. Weak labels are classes by name, votes of several annotators, or distributions; None,
    NaN or -1 is an abstention.

    Args:
        method: a name in `fwl.METHODS`, or "LR_S" for a balanced linear model of the strong rows alone. "FWL_auto" is
            a committee: students trained on weak, then strong labels (of two kinds, where an encoder reads texts), a
            teacher that starts from what student and annotator say, and that linear model; "FWL" is the paper's
            Algorithm 1.
        student: "auto" suits the samples: "perceptron" for numbers, "text_cnn" for texts, "encoder" for texts read by a
            sentence encoder, their words and their spelling, "tuned_encoder" for the same with a copy of the encoder
            beside it that learns from the weak labels first: slower and better; or a function
            `(samples, outputs, chance) -> module` of your own.
        encoder: the folder of a sentence encoder, for texts.
        encoder_layers: how many of its upper layers are read.
        tuning_steps: updates that tune the copy of a "tuned_encoder".
        hidden: width of each hidden layer of the student.
        teacher: "auto", "exact", "clustered", or a function that makes one; methods other than FWL_auto use it as it
            is.
        beta: of eta2 = exp(-beta Sigma).
        pretrain_steps: updates on weak labels, at the most: step 1 stops early on held-out ones.
        finetune_steps: updates on soft or strong labels, at the most: a few strong rows are gone over 40 times.
        batch_size: samples per update.
        learning_rate: of Adam.
        committee: students of FWL_auto's committee.
        rebalance: how far its probabilities are moved towards equal classes, 0 to 1; ½ is good for macro-F1.
        combine: of several annotators' votes: "majority", "dawid_skene", or an object with `predict_proba`.
        classes: all that there are, where some have no strong label; None for those of the strong labels.
        class_map: what weak classes that no strong label names stand for: a class, or None for an abstention.
        pool_size: the most weak rows to learn from; of more, some are drawn. All of them get soft labels. None for all.
        random_state: a seed, or None for a fresh one.

    Attributes:
        classes_: the classes, sorted.
        soft_labels_: the teacher's probabilities of every row, weak ones first, [N, C].
        uncertainty_: Sigma of each, [N].
        fidelity_: eta2 of each, [N]; usable as `sample_weight` elsewhere.
        student_: the first student.
        teacher_: the teacher, which can be asked for its own opinion.
        learned_: all that the method made.
        choices_: what it decided by itself.
        report_: what was given, what became of it, how far each annotator can be relied on; plain values.
        n_features_in_: columns seen in fit, where there are columns.

    >>> import numpy as np
    >>> from fwl.records import WeakSet
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> truth = np.where(X[:, 0] > 0, "up", "down")
    >>> says = np.where(rng.random(400) < 0.2, np.where(truth == "up", "down", "up"), truth)  # wrong every fifth time
    >>> model = FWLClassifier(random_state=0).fit(X[:20], truth[:20], weak=WeakSet(X[20:], says[20:]))
    >>> model.score(X, truth) > 0.93
    True
    """

    def __init__(
        self,
        method: str = "FWL_auto",
        student: str | Callable[..., Any] = "auto",
        encoder: str | None = None,
        encoder_layers: int = 1,
        tuning_steps: int = 100,
        hidden: tuple[int, ...] = (64,),
        teacher: str | Callable[[], Any] = "auto",
        beta: float = 1.0,
        pretrain_steps: int = 4000,
        finetune_steps: int = 500,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        committee: int = 4,
        rebalance: float = 0.0,
        combine: Any = "majority",
        classes: Any = None,
        class_map: Mapping[Any, Any] | None = None,
        pool_size: int | None = 100_000,
        random_state: int | None = None,
    ) -> None:
        self.method = method
        self.student = student
        self.encoder = encoder
        self.encoder_layers = encoder_layers
        self.tuning_steps = tuning_steps
        self.hidden = hidden
        self.teacher = teacher
        self.beta = beta
        self.pretrain_steps = pretrain_steps
        self.finetune_steps = finetune_steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.committee = committee
        self.rebalance = rebalance
        self.combine = combine
        self.classes = classes
        self.class_map = class_map
        self.pool_size = pool_size
        self.random_state = random_state

    def fit(self, X: Any, y: Any, weak: Any = None, y_weak: Any = None, progress: Progress | None = None) -> Self:
        """Learn from strong rows and a weak set.

        Args:
            X: strong rows.
            y: their classes.
            weak: a `WeakSet(X, y)`; without one, the strong rows alone are learned from.
            y_weak: what the annotator says of the strong rows, so that the teacher learns how it errs; found by itself
                for strong rows that stand in the weak set too.
            progress: hears of step 1 and the rest, then of every row that has its soft label.
        """
        from fwl.estimators.fitting import Fitted, keep_fitted
        from fwl.estimators.gathering import gather_classes
        from fwl.estimators.new_students import threads_for
        from fwl.learn.own_data import OWN_METHODS, learn
        from fwl.randomness import chance_from

        if self.method not in OWN_METHODS:
            raise UnknownName("method", self.method, OWN_METHODS)
        chance = chance_from(self.random_state)
        gathered = gather_classes(self, X, y, weak, y_weak, chance, progress)
        recipe = self.recipe_for(gathered)
        with threads_for(self.student):
            taught = learn(gathered.data, self.method, recipe, chance, progress=progress)
        self.classes_ = gathered.labels.classes  # type: ignore[attr-defined]
        keep_fitted(self, Fitted.of(gathered, taught, self.method, self.beta, progress))
        return self

    def predict(self, X: Any, weak: Any = None) -> npt.NDArray[Any]:
        """The class of each row; the teacher reads what the annotator says of them where that is given."""
        probabilities = self.predict_proba(X, weak)
        classes: npt.NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return classes

    def predict_proba(self, X: Any, weak: Any = None) -> Array:
        """The probability of each class, [M, C], in the order of `classes_`."""
        from fwl.estimators.fitting import read_samples
        from fwl.estimators.telling import predict_with

        check_is_fitted(self, "learned_")
        samples = read_samples(self, X)
        read = None if weak is None else self._fitted.labels.weak(weak, len(samples))
        columns = predict_with(self.learned_, self.teacher_, samples, read)
        probabilities: Array = self._fitted.labels.told(columns)
        return probabilities

    def recipe_for(self, gathered: Gathered) -> Recipe:
        """Every choice of a run on this data; comparisons of methods use it too."""
        from fwl.estimators.new_students import is_encoded, new_student_for, second_kind_for, words_of
        from fwl.estimators.new_teachers import NewTeacher, teacher_named
        from fwl.learn.recipe import Recipe, Teaching
        from fwl.students.training import Training

        plan = Training(steps=self.pretrain_steps, batch_size=self.batch_size, learning_rate=self.learning_rate)
        data, hidden, inputs = gathered.data, tuple(self.hidden), gathered.inputs
        reading = data.strong, data.y.shape[1], self.student, hidden, words_of(inputs)
        clusters, new_teacher = teacher_named(self.teacher, NewTeacher(hidden[-1], len(data.strong), classes=True))
        recipe = Recipe(
            new_student=new_student_for(*reading, is_encoded(inputs)),
            pretraining=plan,
            finetuning=replace(plan, steps=self.finetune_steps),
            strong_passes=STRONG_PASSES,
            teaching=Teaching(new_teacher, standardise=True),
            beta=self.beta,
        )
        auto = replace(self._auto_for(gathered, recipe), clusters=clusters)
        return recipe.but(auto=replace(auto, second_kind=second_kind_for(*reading)) if gathered.has_weak else auto)

    def _auto_for(self, gathered: Gathered, recipe: Recipe) -> Auto:
        """What FWL_auto may choose from, of teachers and shares."""
        from fwl.estimators.gathering import has_no_numbers
        from fwl.learn.recipe import Auto

        return Auto(
            pretraining=replace(recipe.pretraining, patience=10, check_every=20),
            finetuning=recipe.finetuning,
            inputs=("psi",) if has_no_numbers(gathered.data.strong) else ("x", "both"),
            # Without a weak set the student has seen the strong labels: what it says of them is no belief from before.
            prior_means=("student", "student_and_weak") if gathered.has_weak else ("average",),
            kernel_rows=KERNEL_ROWS,
            committee=self.committee,
            many_eyes=True,
            share_folds=SHARE_FOLDS,
            believed_rows=BELIEVED_ROWS,
            rebalance=self.rebalance,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = self.random_state is None
        tags.input_tags.sparse = True
        return tags
