"""Any method on a user's two sets: labels may have gaps, the sets may overlap, the pool may be far larger than needed.

Step 1 is the same for all methods and is done once: it is stopped early on held-out weak labels, and samples whose
strong label is known take no part in it, so that what the student says of them is what it says of any other sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fwl.errors import InvalidInput
from fwl.learn.choose import choose_teacher
from fwl.learn.fitted import FittedTeacher
from fwl.learn.learned import Learned
from fwl.learn.linear import balanced_linear
from fwl.learn.methods import METHODS, Method
from fwl.learn.pretrain import pretrain, pretrain_until_it_generalises
from fwl.learn.recipe import Problem, Recipe
from fwl.learn.task import Task, silent_rows
from fwl.progress import Piece, Progress, Silent
from fwl.randomness import Chance
from fwl.records import Array, StrongSet, WeakSet
from fwl.students.contract import Student
from fwl.students.inference import predict

Rows = npt.NDArray[np.int64]

LINEAR_ALONE = "LR_S"
OWN_METHODS: dict[str, Method] = {**METHODS, LINEAR_ALONE: balanced_linear}
WITHOUT_WEAK = (LINEAR_ALONE, "NN_S", "FWL_unsuprep")  # what these read, no weak label has shaped
FROM_WEAK, THE_REST = "learning from weak labels", "learning from strong labels"  # as a bar tells it
ASKED_ENOUGH = 0.5  # the teacher reads weak labels if so many of the strong samples have one


@dataclass(frozen=True, eq=False)
class OwnData:
    """Two sets of samples, encoded; a label that nobody gave is a row of NaN.

    Attributes:
        pool: the weak set's samples, [M, ...].
        pool_weak: what the annotator says of them, [M, C].
        strong: the strong samples, [N, ...].
        y: their strong labels, [N, C].
        strong_weak: what the annotator says of them, [N, C]; None if it was not asked.
        learned_from: the rows of the pool that step 1 learns from.
        task: what the labels are.
        weak: D_w, made of them once: those who share it share step 1 too.
    """

    pool: npt.NDArray[Any]
    pool_weak: Array
    strong: npt.NDArray[Any]
    y: Array
    strong_weak: Array | None
    learned_from: Rows
    task: Task
    weak: WeakSet = field(default=None)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.weak is None:
            weak = WeakSet(self.pool[self.learned_from], self.pool_weak[self.learned_from])
            object.__setattr__(self, "weak", weak)

    def with_strong(self, rows: Rows) -> OwnData:
        """The same with some of the strong samples only."""
        weak = None if self.strong_weak is None else self.strong_weak[rows]
        return replace(self, strong=self.strong[rows], y=self.y[rows], strong_weak=weak)

    def learning_without(self, rows: Rows) -> OwnData:
        """The same with step 1 learning from fewer rows of the pool; from as many as before, if none would be left."""
        left = np.setdiff1d(self.learned_from, rows)
        if not 0 < len(left) < len(self.learned_from):
            return self
        return replace(self, learned_from=left, weak=WeakSet(self.pool[left], self.pool_weak[left]))

    def read_as(self, pool: npt.NDArray[Any], strong: npt.NDArray[Any]) -> OwnData:
        """The same samples, encoded otherwise."""
        weak = WeakSet(pool[self.learned_from], self.pool_weak[self.learned_from])
        return replace(self, pool=pool, strong=strong, weak=weak)

    @property
    def asked(self) -> npt.NDArray[np.bool_]:
        """Which strong samples the annotator has labelled, [N]."""
        if self.strong_weak is None:
            return np.zeros(len(self.strong), dtype=bool)
        return ~silent_rows(self.strong_weak)


@dataclass(frozen=True, eq=False)
class FirstStep:
    """The student after step 1, and after how many updates it was best."""

    student: Student
    steps: int


@dataclass(frozen=True, eq=False)
class Taught:
    """What came of a method.

    Attributes:
        learned: the students, and what else the method made.
        teacher: the method's own, or the one that FWL_auto would choose: every method can say which labels it doubts.
        steps: updates of step 1.
        problem: what was learned from.
    """

    learned: Learned
    teacher: FittedTeacher
    steps: int
    problem: Problem


def rows_to_learn_from(
    pool_weak: Array, in_both: npt.NDArray[np.bool_], most: int | None, chance: Chance
) -> npt.NDArray[np.int64]:
    """The rows of the pool that have a label and are no strong samples; of too many, some that are drawn."""
    rows = np.flatnonzero(~silent_rows(pool_weak) & ~in_both)
    if not len(rows):
        raise InvalidInput(
            "no sample of the weak set can be learned from: the annotator abstains everywhere, or labels strong "
            "samples only; give weak labels for others too"
        )
    if most is not None and len(rows) > most:
        rows = np.sort(chance.child("pool").numpy().permutation(rows)[:most])
    return rows


def first_step(data: OwnData, recipe: Recipe, chance: Chance, progress: Progress | None = None) -> FirstStep:
    """Step 1, stopped where held-out weak labels stop getting better."""
    listener = Piece(progress or Silent(), f"{FROM_WEAK}, at most")
    student, steps = pretrain_until_it_generalises(problem_of(data), recipe, chance, listener)
    return FirstStep(student, max(1, steps))


def problem_of(data: OwnData, student: Student | None = None) -> Problem:
    """The problem that methods take; the student after step 1 stands in where the annotator was silent."""
    return Problem(data.weak, StrongSet(data.strong, data.y, _filled(data, student)), data.task)


def _filled(data: OwnData, student: Student | None) -> Array | None:
    """The strong samples' weak labels without gaps, or None where too few have one."""
    asked = data.asked
    if asked.all():
        return data.strong_weak
    if data.strong_weak is None or student is None or asked.mean() < ASKED_ENOUGH:
        return None
    return np.where(asked[:, None], data.strong_weak, data.task.link(predict(student, data.strong)))


def learn(
    data: OwnData,
    method: str,
    recipe: Recipe,
    chance: Chance,
    first: FirstStep | None = None,
    progress: Progress | None = None,
) -> Taught:
    """Run a method on a user's data.

    Args:
        data: both sets.
        method: a name in `OWN_METHODS`.
        recipe: student and plans; `recipe.auto.pretraining` is step 1.
        chance: where all draws come from.
        first: step 1, if it was done already with the same recipe and chance.
        progress: hears of every update of step 1, and then that the rest is under way.
    """
    with _heard(progress) as listener:
        first = first or first_step(data, recipe, chance, listener)
        listener.start(0, THE_REST)
        return _taught(data, method, recipe, chance, first)


def learn_as_planned(
    data: OwnData, method: str, recipe: Recipe, chance: Chance, progress: Progress | None = None
) -> Taught:
    """The same with step 1 as long as the recipe says; FWL_auto does a step 1 of its own."""
    with _heard(progress) as listener:
        return _as_planned(data, method, recipe, chance, listener)


def _as_planned(data: OwnData, method: str, recipe: Recipe, chance: Chance, listener: Progress) -> Taught:
    if method == "FWL_auto":
        problem = problem_of(data)
        learned = OWN_METHODS[method](problem, recipe, chance, None)
        assert learned.teacher is not None
        return Taught(learned, learned.teacher, learned.choices["pretrain_steps"], problem)
    student = pretrain(problem_of(data), recipe, chance, progress=Piece(listener, FROM_WEAK))
    listener.start(0, THE_REST)
    return _taught(data, method, recipe, chance, FirstStep(student, recipe.pretraining.steps))


@contextmanager
def _heard(progress: Progress | None) -> Iterator[Progress]:
    """Step 1, and the rest, which ends when it ends."""
    listener = progress or Silent()
    listener.start(0, "learning")
    try:
        yield listener
    finally:
        listener.finish()


def prepared(data: OwnData, recipe: Recipe, first: FirstStep) -> tuple[Problem, Recipe]:
    """What a method is given after step 1."""
    problem = problem_of(data, first.student)
    recipe = recipe.but(pretraining=replace(recipe.pretraining, steps=first.steps))
    return problem, _with_suitable_prior(recipe, problem)


def _taught(data: OwnData, method: str, recipe: Recipe, chance: Chance, first: FirstStep) -> Taught:
    problem, recipe = prepared(data, recipe, first)
    learned = OWN_METHODS[method](problem, recipe, chance, first.student)
    teacher = learned.teacher or choose_teacher(first.student, problem, recipe, chance)[0]
    return Taught(learned, teacher, first.steps, problem)


def _with_suitable_prior(recipe: Recipe, problem: Problem) -> Recipe:
    """Of the prior means to compare, the one that reads student and annotator, if both are there.

    With a factor of zero it is one of the others, and each would be a teacher to fit.
    """
    offered = recipe.auto.prior_means or ()
    if problem.strong.weak is None or "student_and_weak" not in offered:
        return recipe
    return recipe.but(auto=replace(recipe.auto, prior_means=("student_and_weak",)))


def weak_or_student(fitted: FittedTeacher, X: npt.NDArray[Any], weak: Array | None) -> Array | None:
    """What a teacher reads as weak labels: the annotator's, or the student's prediction of them where it was silent.

    None where the teacher asks for none.
    """
    if not fitted.prior.asks_annotator:
        return None
    if weak is None:
        return fitted.task.link(fitted.view.eyes.respond(X))
    silent = silent_rows(weak)
    if not silent.any():  # asking the students takes long
        return weak
    read = weak.copy()
    read[silent] = fitted.task.link(fitted.view.eyes.respond(X[silent]))
    return read
