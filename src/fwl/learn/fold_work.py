"""Every method on one fold of the strong rows, in this process or in others."""

from __future__ import annotations

import copy
import time
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed

from fwl.errors import TeacherWarning
from fwl.learn.learned import Learned
from fwl.learn.members import Starts, sharing
from fwl.learn.own_data import OWN_METHODS, FirstStep, OwnData, prepared, weak_or_student
from fwl.learn.prior import average_label
from fwl.learn.recipe import Problem, Recipe
from fwl.learn.task import silent_rows
from fwl.randomness import Chance
from fwl.records import Array
from fwl.students.contract import Student
from fwl.threads import deaf_workers, one_thread

ANNOTATOR = "WA"
AUTO, AUTO_READING = "FWL_auto", "FWL_auto+W"  # the second reads the weak label of the row to be predicted

Rows = npt.NDArray[np.int64]
Cut = tuple[Rows, Rows]  # rows to learn from, rows to predict


@dataclass(frozen=True, eq=False)
class Work:
    """What every fold has in common.

    Attributes:
        data: both sets.
        recipe: every method's student, plans and teacher.
        chance: where trainings are drawn from.
        first: step 1, which no fold changes.
        starts: step 1 of a committee's further members, once they are known.
        name: its own, by which a worker knows it again.
    """

    data: OwnData
    recipe: Recipe
    chance: Chance
    first: FirstStep
    starts: Starts = field(default_factory=OrderedDict)
    name: str = field(default_factory=lambda: uuid4().hex)

    def on(self, methods: Sequence[str], cut: Cut) -> FoldResult:
        """Every method on one fold."""
        kept, left_out = cut
        with sharing(self.starts):
            fold = _Fold.of(self, kept, left_out)
            predicted, seconds = {}, {}
            for name in methods:
                started = time.monotonic()
                predicted[name] = fold.predicted(name)
                seconds[name] = time.monotonic() - started
        return FoldResult(left_out, predicted, seconds)


@dataclass(frozen=True, eq=False)
class FoldResult:
    """What each method says of the rows left out, and the seconds it took."""

    rows: Rows
    predicted: dict[str, Array]
    seconds: dict[str, float]


def over_folds(work: Work, methods: Sequence[str], cuts: Sequence[Cut], workers: int = 1) -> Iterator[FoldResult]:
    """Every fold, in order; the numbers are the same however many workers share them."""
    if workers == 1:
        with one_thread():
            yield from (work.on(methods, cut) for cut in cuts)
        return
    calls = (delayed(_in_worker)(work, methods, cut) for cut in cuts)
    with deaf_workers():
        results = Parallel(n_jobs=workers, return_as="generator")(calls)  # which starts them
    yield from results


_HELD: dict[str, Work] = {}  # of a worker: what it was given first, whose committees have begun already


def _in_worker(work: Work, methods: Sequence[str], cut: Cut) -> FoldResult:
    if work.name not in _HELD:
        _HELD.clear()
        _HELD[work.name] = work
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", TeacherWarning)  # what dozens of teachers are worth is in the scores
        return _HELD[work.name].on(methods, cut)


@dataclass(frozen=True, eq=False)
class _Fold:
    """Methods on one fold, which share its students and, where one is another's, all it learned."""

    seen: OwnData
    new: OwnData
    problem: Problem
    recipe: Recipe
    chance: Chance
    student: Student
    learned: dict[str, Learned] = field(default_factory=dict)

    @classmethod
    def of(cls, work: Work, kept: Rows, left_out: Rows) -> _Fold:
        seen, new = work.data.with_strong(kept), work.data.with_strong(left_out)
        problem, recipe = prepared(seen, work.recipe, work.first)
        # A copy for each fold: what was trained from it is let go with it.
        return cls(seen, new, problem, recipe, work.chance, copy.deepcopy(work.first.student))

    def predicted(self, method: str) -> Array:
        """The method's labels of the rows left out."""
        if method == ANNOTATOR:
            return annotators_word(self.new.strong_weak, self.seen)
        own = AUTO if method == AUTO_READING else method
        if own not in self.learned:
            self.learned[own] = OWN_METHODS[own](self.problem, self.recipe, self.chance, self.student)
        return _answer(self.learned[own], self.new, self.new.strong_weak if method == AUTO_READING else None)


def annotators_word(weak: Array | None, seen: OwnData) -> Array:
    """What the annotator says, and the strong labels' average where it is silent."""
    assert weak is not None
    average = average_label(seen.y, seen.task)
    return np.where(silent_rows(weak)[:, None], average, weak)


def _answer(learned: Learned, new: OwnData, weak: Array | None) -> Array:
    if learned.teacher is None:
        return learned.predict(new.strong)
    read = weak_or_student(learned.teacher, new.strong, weak)
    if weak is not None and not learned.with_teacher:
        return learned.teacher.predict(new.strong, read)
    return learned.predict(new.strong, read)
