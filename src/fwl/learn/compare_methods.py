"""Is it better than just fine-tuning on the strong labels? Every method, on the same folds of them, under one budget.

The strong rows are cut into folds, some times over; each method learns from the weak set and all folds but one, and
predicts that one. Step 1 sees no strong row and is done once. What is compared is the score of each strong row, the
mean over the repetitions: methods are paired row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from fwl.errors import InvalidInput, UnknownName
from fwl.evaluate.folds import folds, stratified_folds
from fwl.evaluate.reliability import Bin, reliability_bins
from fwl.learn.fold_work import ANNOTATOR, AUTO, AUTO_READING, Cut, Rows, Work, over_folds
from fwl.learn.own_data import LINEAR_ALONE, OwnData, first_step
from fwl.learn.recipe import Recipe
from fwl.learn.task import both_columns
from fwl.progress import Progress, Silent
from fwl.randomness import Chance
from fwl.records import Array
from fwl.threads import one_thread

COMPARED = (
    *(ANNOTATOR, LINEAR_ALONE, "NN_S", "NN_W", "NN_S+/W", "NN_W->S", "NN_W->Sx4"),
    *("FWL_noSigma", "FWL", AUTO, AUTO_READING),
)
READ_WEAK = (ANNOTATOR, AUTO_READING)  # need the annotator's label of the row itself
ON_THE_CURVE = (LINEAR_ALONE, "NN_W->S", "NN_W->Sx4", AUTO, AUTO_READING)
FOLDS = 5
ENOUGH = 2 * FOLDS  # strong rows that can be compared on
WANTED = 120  # predictions of strong rows, about: few rows are cut into folds more often
MOST_REPEATS = 5
LEAST = 8  # strong rows of the shortest point of the learning curve


@dataclass(frozen=True, eq=False)
class Scored:
    """How well a method predicts strong labels it has not seen.

    Attributes:
        method: its name.
        of_rows: the score of each strong row, the mean over repetitions, [N]: 1 or 0 for a right or wrong class; the
            squared error of a number.
        of_folds: the mean score of each fold of each repetition.
        seconds: that all its trainings took.
        reliability: what it says of strong rows beside what is true of them: how sure it is of its class and how often
            that is right, or predicted and true numbers.
    """

    method: str
    of_rows: Array
    of_folds: tuple[float, ...]
    seconds: float
    reliability: tuple[Bin, ...] = ()


@dataclass(frozen=True, eq=False)
class Point:
    """One point of a learning curve: so many strong labels, and each method's score of every strong row, [N]."""

    strong: int
    of_rows: dict[str, Array]

    @property
    def scores(self) -> dict[str, float]:
        """The mean score of each method."""
        return {name: float(values.mean()) for name, values in self.of_rows.items()}

    @property
    def standard_errors(self) -> dict[str, float]:
        """Of these means."""
        return {name: standard_error(values) for name, values in self.of_rows.items()}


@dataclass(frozen=True, eq=False)
class Comparison:
    """What every method made of the same data.

    Attributes:
        metric: "accuracy", or "squared error".
        lower_is_better: whether that should be small.
        strong: how many strong rows there are.
        learned_from: strong rows that each method learned from in a fold.
        scores: by method.
        curve: the learning curve over subsets of the strong rows, the last point with all that a fold leaves.
        steps: updates of step 1.
        copies: weak rows that nothing was learned from, because they nearly repeat a strong one.
    """

    metric: str
    lower_is_better: bool
    strong: int
    learned_from: int
    scores: dict[str, Scored]
    curve: tuple[Point, ...]
    steps: int
    copies: int = 0


def compare_methods(
    data: OwnData,
    recipe: Recipe,
    chance: Chance,
    *,
    methods: Sequence[str] | None = None,
    repeats: int | None = None,
    with_curve: bool = True,
    workers: int = 1,
    progress: Progress | None = None,
) -> Comparison:
    """Run every method on the same folds of the strong rows.

    Args:
        data: both sets.
        recipe: every method's student, plans and teacher.
        chance: where folds and trainings are drawn from.
        methods: names in `COMPARED`; those that read weak labels are left out where strong rows have none. None for
            all.
        repeats: how often the strong rows are cut into folds anew; None for more often where they are few.
        with_curve: whether methods also learn from fewer strong rows.
        workers: processes that share the folds.
        progress: hears of every fold.
    """
    names = _answerable(data, methods)
    n = len(data.strong)
    check_enough(n)
    times = min(MOST_REPEATS, max(1, round(WANTED / n))) if repeats is None else repeats
    cuts = [list(_folds(data, chance.child("folds", i))) for i in range(times)]
    sizes = _sizes(n) if with_curve else []
    listener = progress or Silent()
    on_curve = [name for name in ON_THE_CURVE if name in names]
    listener.start(1 + times * FOLDS * len(names) + len(sizes) * FOLDS * len(on_curve), "comparing")
    try:
        with one_thread():
            first = first_step(data, recipe, chance)
        listener.advance()
        bench = _Bench(Work(data, recipe, chance, first), listener, workers)
        runs = bench.over(names, list(chain(*cuts)))
        curve = [_point(bench, on_curve, cuts[0], size, chance) for size in sizes]
    finally:
        listener.finish()
    scores = {name: run.scored(name, data) for name, run in runs.items()}
    whole = Point(n - n // FOLDS, {name: scores[name].of_rows for name in on_curve})
    metric = "accuracy" if data.task.has_classes else "squared error"
    points = (*curve, whole) if with_curve else ()
    return Comparison(metric, not data.task.has_classes, n, whole.strong, scores, points, first.steps)


def check_enough(strong: int) -> None:
    """Refuse to compare on fewer strong rows than can be cut into folds."""
    if strong < ENOUGH:
        raise InvalidInput(f"a comparison needs at least {ENOUGH} strong rows, got {strong}; label some more by hand")


def together(parts: Sequence[Comparison]) -> Comparison:
    """One comparison of several on the same folds, each of other methods; all but scores as the last has it."""
    scores = {name: scored for part in parts for name, scored in part.scores.items()}
    points = (
        Point(same[-1].strong, {name: rows for point in same for name, rows in point.of_rows.items()})
        for same in zip(*(part.curve for part in parts), strict=True)
    )
    in_order = {name: scores[name] for name in COMPARED if name in scores}
    return replace(parts[-1], scores=in_order, curve=tuple(points))


def _answerable(data: OwnData, methods: Sequence[str] | None) -> list[str]:
    for name in methods or ():
        if name not in COMPARED:
            raise UnknownName("method to compare", name, COMPARED)
    wanted = COMPARED if methods is None else methods
    asked = data.strong_weak is not None and bool(data.asked.any())
    return [name for name in wanted if asked or name not in READ_WEAK]


def _folds(data: OwnData, chance: Chance) -> Iterator[tuple[Rows, Rows]]:
    if not data.task.has_classes:
        return folds(len(data.strong), FOLDS, chance)
    return stratified_folds(both_columns(data.y).argmax(axis=1), FOLDS, chance)


def _sizes(n: int) -> list[int]:
    """A quarter and a half of what a fold learns from, if that is not too few."""
    most = n - n // FOLDS
    return [size for size in (most // 4, most // 2) if size >= LEAST]


def _point(bench: _Bench, names: Sequence[str], cut: list[tuple[Rows, Rows]], size: int, chance: Chance) -> Point:
    """The same folds, with some of the strong rows only."""
    fewer = [(_some(bench.data, kept, size, chance.child("curve", size, i)), out) for i, (kept, out) in enumerate(cut)]
    runs = bench.over(names, fewer)
    return Point(size, {name: run.scored(name, bench.data).of_rows for name, run in runs.items()})


def _some(data: OwnData, kept: Rows, size: int, chance: Chance) -> Rows:
    """So many of the rows, with about the classes' shares; at least two classes, where there are two."""
    order = chance.numpy().permutation(kept)
    if data.task.has_classes:
        classes = both_columns(data.y)[order].argmax(axis=1)
        rank = np.zeros(len(order))
        for c in np.unique(classes):  # the share of its class that comes before each row
            mine = classes == c
            rank[mine] = (np.arange(mine.sum()) + 0.5) / mine.sum()
        order = order[np.argsort(rank, kind="stable")]
    return np.sort(order[:size])


@dataclass(frozen=True, eq=False)
class _Run:
    """A method's predictions of left-out rows, fold by fold."""

    parts: tuple[tuple[Rows, Array], ...]
    seconds: float

    def scored(self, method: str, data: OwnData) -> Scored:
        total, said, times = np.zeros((3, len(data.strong)))
        of_folds = []
        for rows, predicted in self.parts:
            score = _score(data, rows, predicted)
            total[rows] += score
            said[rows] += _stated(data, predicted)
            times[rows] += 1
            of_folds.append(float(score.mean()))
        total, said = total / np.maximum(times, 1), said / np.maximum(times, 1)
        was = total if data.task.has_classes else data.y[:, 0]
        bins = reliability_bins(said, was, shares=data.task.has_classes)
        return Scored(method, total, tuple(of_folds), self.seconds, bins)


def _score(data: OwnData, rows: Rows, predicted: Array) -> Array:
    if not data.task.has_classes:
        return np.asarray(((predicted - data.y[rows]) ** 2).mean(axis=1))
    truth, said = (both_columns(labels).argmax(axis=1) for labels in (data.y[rows], predicted))
    return np.asarray(truth == said, dtype=np.float64)


def _stated(data: OwnData, predicted: Array) -> Array:
    """How sure a method is of its class, or its number, [N]."""
    return np.asarray(both_columns(predicted).max(axis=1) if data.task.has_classes else predicted[:, 0])


@dataclass(frozen=True, eq=False)
class _Bench:
    """Where methods are tried, fold by fold."""

    work: Work
    progress: Progress
    workers: int

    @property
    def data(self) -> OwnData:
        return self.work.data

    def over(self, names: Sequence[str], cuts: Sequence[Cut]) -> dict[str, _Run]:
        """Every method on every fold."""
        parts: dict[str, list[tuple[Rows, Array]]] = {name: [] for name in names}
        seconds = dict.fromkeys(names, 0.0)
        for fold in over_folds(self.work, names, cuts, self.workers):
            for name in names:
                parts[name].append((fold.rows, fold.predicted[name]))
                seconds[name] += fold.seconds[name]
            self.progress.advance(len(names))
        return {name: _Run(tuple(parts[name]), seconds[name]) for name in names}


def as_plain(comparison: Comparison) -> dict[str, object]:
    """Plain values, for JSON."""
    scores = {
        name: {
            "mean": float(scored.of_rows.mean()),
            "standard_error": standard_error(scored.of_rows),
            "of_folds": list(scored.of_folds),
            "seconds": scored.seconds,
            "reliability": [bin_.as_dict() for bin_ in scored.reliability],
        }
        for name, scored in comparison.scores.items()
    }
    curve = [
        {"strong": point.strong, "scores": point.scores, "standard_errors": point.standard_errors}
        for point in comparison.curve
    ]
    plain = {
        name: getattr(comparison, name)
        for name in ("metric", "lower_is_better", "strong", "learned_from", "steps", "copies")
    }
    return {**plain, "scores": scores, "curve": curve}


def standard_error(values: Array) -> float:
    """Of the mean of rows' scores."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
