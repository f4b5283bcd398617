"""How much of a committee's prediction is whose: what strong labels say that were left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fwl.learn.crossfit import cross_fit
from fwl.learn.fitted import FittedTeacher, left_out
from fwl.learn.linear import FittedLinear
from fwl.learn.recipe import Problem, Recipe
from fwl.learn.task import both_columns
from fwl.randomness import Chance
from fwl.records import Array
from fwl.students.contract import Student

TEACHER, STUDENTS, LINEAR = "teacher", "students", "linear"
# Beforehand, as if so many labels had spoken for each side: nobody is silenced by a few strong labels (D65). For the
# students, so many for each kind of them (D70).
BELIEVED = {TEACHER: 12.0, STUDENTS: 6.0, LINEAR: 6.0}
LEAST = 1e-6  # a probability that one label cannot make infinitely unlikely
ROUNDS = 500  # of the iteration, at the most
SETTLED = 1e-6  # a change of shares that is none


@dataclass(frozen=True, eq=False)
class Kind:
    """Students of one kind in a committee.

    Attributes:
        start: one of them after step 1.
        recipe: how it is trained.
        chance: where its trainings draw from.
        students: all of them, after strong labels.
    """

    start: Student
    recipe: Recipe
    chance: Chance
    students: tuple[Student, ...]


def committee_shares(
    teacher: FittedTeacher, kinds: Sequence[Kind], linear: FittedLinear | None, problem: Problem
) -> dict[str, float]:
    """The shares under which strong labels are most likely that no side had seen, together with `BELIEVED`.

    The teacher leaves out one label at a time, in closed form; a student of each kind is fine-tuned after step 1 on all
    folds but one, and so is the linear model.
    """
    answers = [left_out_answers(kind.start, problem, kind.recipe, kind.chance) for kind in kinds]
    said = {
        TEACHER: both_columns(teacher.label(left_out(teacher, problem.strong))),
        STUDENTS: both_columns(np.mean(answers, axis=0)),
    }
    if linear is not None and linear.left_out is not None:
        said[LINEAR] = linear.left_out
    believed = {**BELIEVED, STUDENTS: len(kinds) * BELIEVED[STUDENTS]}
    return most_likely_shares(said, both_columns(problem.strong.y), believed)


def most_likely_shares(
    said: Mapping[str, Array], y: Array, believed_in: Mapping[str, float] = BELIEVED
) -> dict[str, float]:
    """Shares of a mixture of probabilities [N, C] under which labels y [N, C] and those believed in are most likely.

    Expectation maximisation: how likely each label came from each side, then the average of that. The function it
    climbs has one top.
    """
    likelihood = np.stack([np.maximum((each * y).sum(axis=1), LEAST) for each in said.values()], axis=1)  # [N, sides]
    believed = np.array([believed_in[side] for side in said])
    shares = believed / believed.sum()
    for _ in range(ROUNDS):
        before = shares
        from_each = likelihood * shares
        counted = believed + (from_each / from_each.sum(axis=1, keepdims=True)).sum(axis=0)
        shares = counted / counted.sum()
        if np.abs(shares - before).max() < SETTLED:
            break
    return dict(zip(said, shares.tolist(), strict=True))


def left_out_answers(student: Student, problem: Problem, recipe: Recipe, chance: Chance) -> Array:
    """What the student says of each strong sample after it was fine-tuned on the other folds, [N, C]."""
    n, k = len(problem.strong.X), recipe.auto.share_folds
    fold_students = cross_fit(student, problem, recipe.on_strong(n - n // k), k, chance.child("shares"))
    return problem.task.link(fold_students.respond_to_strong(problem.strong))
