"""Step 1: the student learns the task, and its representation, from weak labels."""

from __future__ import annotations

import numpy as np

from fwl.learn.recipe import Problem, Recipe
from fwl.learn.validated import train_on
from fwl.progress import Progress
from fwl.randomness import Chance
from fwl.students.contract import Student
from fwl.students.training import Lesson, train


def pretrain(
    problem: Problem,
    recipe: Recipe,
    chance: Chance,
    *,
    weight: float | None = None,
    progress: Progress | None = None,
) -> Student:
    """Train a new student on all weak labels, each step scaled by one fixed `weight` if given (NN_Womega->S)."""
    student = recipe.new_student(chance.child("student"))
    weak = problem.weak
    weights = None if weight is None else np.full(len(weak.X), weight)
    lesson = Lesson(weak.X, weak.y, weights)
    train_on(problem, student, lesson, recipe.pretraining, chance.child("step 1"), progress=progress)
    return student


def pretrain_until_it_generalises(
    problem: Problem, recipe: Recipe, chance: Chance, progress: Progress | None = None
) -> tuple[Student, int]:
    """Train a new student on most weak labels, stopping when it no longer improves on the others.

    Returns:
        The student at its best on the held-out weak labels, and the step at which that was.
    """
    student = recipe.new_student(chance.child("student"))
    order = chance.child("held-out weak labels").numpy().permutation(len(problem.weak.X))
    n_held_out = max(1, round(recipe.auto.held_out_share * len(order)))
    held_out, kept = order[:n_held_out], order[n_held_out:]
    if len(kept) == 0:  # a single weak label can only be learned, not watched
        kept = held_out
    history = train(
        student,
        _rows(problem, kept),
        recipe.auto.pretraining,
        chance.child("step 1"),
        loss=problem.task.loss,
        held_out=_rows(problem, held_out),
        progress=progress,
    )
    return student, history.best_step


def _rows(problem: Problem, rows: np.ndarray) -> Lesson:
    return Lesson(problem.weak.X[rows], problem.weak.y[rows])
