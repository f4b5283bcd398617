"""How much of a committee's prediction should be the teacher's: what strong labels say that were left out."""

from __future__ import annotations

import numpy as np

from fwl.learn.crossfit import cross_fit
from fwl.learn.fitted import FittedTeacher, left_out
from fwl.learn.recipe import Problem, Recipe
from fwl.learn.task import both_columns
from fwl.randomness import Chance
from fwl.records import Array
from fwl.students.contract import Student

SHARES = np.arange(1, 20) / 20.0  # nobody is silenced by a few strong labels
LEAST = 1e-6  # a probability that one label cannot make infinitely unlikely


def teacher_share(
    teacher: FittedTeacher, student: Student, problem: Problem, recipe: Recipe, chance: Chance
) -> tuple[float, dict[str, float]]:
    """The share under which strong labels are most likely that neither side had seen, and what each share scored.

    The teacher leaves out one label at a time, in closed form; the student after step 1 is fine-tuned on all folds but
    one. A share of a half is believed beforehand, as if one label had spoken for either side.
    """
    beliefs = both_columns(teacher.label(left_out(teacher, problem.strong)))
    answers = both_columns(left_out_answers(student, problem, recipe, chance))
    scores = log_likelihoods(beliefs, answers, both_columns(problem.strong.y))
    return float(SHARES[scores.argmax()]), {f"{s:.2f}": float(v) for s, v in zip(SHARES, scores, strict=True)}


def log_likelihoods(teacher: Array, students: Array, y: Array) -> Array:
    """The log likelihood of labels y [N, C] under each of `SHARES`, plus that of one label for either side."""
    of_teacher, of_students = ((said * y).sum(axis=1) for said in (teacher, students))  # [N]
    mixed = SHARES[:, None] * of_teacher + (1.0 - SHARES[:, None]) * of_students
    scores: Array = np.log(np.maximum(mixed, LEAST)).sum(axis=1) + np.log(SHARES * (1.0 - SHARES))
    return scores


def left_out_answers(student: Student, problem: Problem, recipe: Recipe, chance: Chance) -> Array:
    """What the student says of each strong sample after it was fine-tuned on the other folds, [N, C]."""
    n, k = len(problem.strong.X), recipe.auto.share_folds
    fold_students = cross_fit(student, problem, recipe.on_strong(n - n // k), k, chance.child("shares"))
    return problem.task.link(fold_students.respond_to_strong(problem.strong))
