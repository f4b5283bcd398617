"""Compare methods on a user's own data, and keep the one that is worth it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sklearn.base import clone

from fwl.errors import InvalidInput
from fwl.estimators.classifier import FWLClassifier
from fwl.estimators.gathering import gather_classes, gather_numbers
from fwl.estimators.inputs import TEXTS
from fwl.estimators.new_students import TUNED_ENCODER
from fwl.estimators.overlap import near_copies
from fwl.estimators.regressor import FWLRegressor
from fwl.estimators.text_inputs import as_text_list
from fwl.learn.compare_methods import COMPARED, Comparison, as_plain, check_enough, compare_methods, together
from fwl.learn.decide import Verdict, decide
from fwl.learn.fold_work import AUTO, AUTO_READING
from fwl.learn.own_data import LINEAR_ALONE, WITHOUT_WEAK
from fwl.progress import Progress
from fwl.randomness import Chance, chance_from

Estimator = FWLClassifier | FWLRegressor


@dataclass(frozen=True, eq=False)
class Compared:
    """The figures and the verdict.

    Attributes:
        comparison: every method's scores on the same strong rows.
        verdict: which to use, by how much, how sure.
    """

    comparison: Comparison
    verdict: Verdict

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"comparison": as_plain(self.comparison), "verdict": self.verdict.as_dict()}

    def winner(self, estimator: Estimator) -> Estimator:
        """A new estimator like this one, not fitted, with the method that the verdict keeps."""
        method = AUTO if self.verdict.kept == AUTO_READING else self.verdict.kept
        chosen: Estimator = clone(estimator).set_params(method=method)
        return chosen


def compare_on(
    estimator: Estimator,
    X: Any,
    y: Any,
    weak: Any,
    y_weak: Any = None,
    *,
    methods: Sequence[str] | None = None,
    repeats: int | None = None,
    with_curve: bool = True,
    workers: int = 1,
    progress: Progress | None = None,
) -> Compared:
    """Run every method with an estimator's settings on the same folds of the strong rows.

    Args:
        estimator: says student, teacher and budget; its method does not matter, and it is not fitted.
        X: strong rows.
        y: their labels.
        weak: a `WeakSet(X, y)`.
        y_weak: what the annotator says of the strong rows, as in `fit`.
        methods: names in `fwl.learn.compare_methods.COMPARED`; None for all.
        repeats: how often the strong rows are cut into folds anew; None for more often where they are few.
        with_curve: whether methods also learn from fewer strong rows.
        workers: processes that share the folds.
        progress: hears of every fold.
    """
    if weak is None:
        raise InvalidInput("a comparison needs weak labels; give weak=WeakSet(X, y)")
    if hasattr(y, "__len__"):  # what is no column of labels is refused when it is read
        check_enough(len(y))  # before texts are encoded
    given, chance = {"X": X, "y": y, "weak": weak, "y_weak": y_weak}, chance_from(estimator.random_state)
    how = {"repeats": repeats, "with_curve": with_curve, "workers": workers, "progress": progress}
    parts = [
        _comparison(clone(estimator).set_params(method=one_of_them), given, chance, {"methods": names, **how})
        for one_of_them, names in _read_alike(estimator, methods).items()
    ]
    comparison = together(parts)
    return Compared(comparison, decide(comparison))


def _read_alike(estimator: Estimator, methods: Sequence[str] | None) -> dict[str, Sequence[str] | None]:
    """The methods to compare, those together that read samples as one does: weak labels may have shaped how."""
    if estimator.student != TUNED_ENCODER:
        return {AUTO: methods}
    wanted = COMPARED if methods is None else methods
    apart = {
        LINEAR_ALONE: [name for name in wanted if name in WITHOUT_WEAK],
        AUTO: [name for name in wanted if name not in WITHOUT_WEAK],
    }
    return {one_of_them: names for one_of_them, names in apart.items() if names}


def _comparison(estimator: Estimator, given: dict[str, Any], chance: Chance, how: dict[str, Any]) -> Comparison:
    """Methods that read samples as the estimator's own does."""
    gather = gather_classes if isinstance(estimator, FWLClassifier) else gather_numbers
    gathered = gather(estimator, **given, chance=chance, progress=how["progress"])
    data = gathered.data
    if gathered.kind == TEXTS:  # as if strong rows were new ones: no copy of those was learned from
        data = data.learning_without(near_copies(as_text_list(given["weak"].X), as_text_list(given["X"])))
    comparison = compare_methods(data, estimator.recipe_for(gathered), chance, **how)
    return replace(comparison, copies=len(gathered.data.learned_from) - len(data.learned_from))
