"""Training for a problem: its loss, and its validation set where a plan asks to be stopped."""

from __future__ import annotations

from fwl.learn.recipe import Problem
from fwl.progress import Progress
from fwl.randomness import Chance
from fwl.students.batches import Batches
from fwl.students.contract import Student
from fwl.students.training import History, Lesson, Training, train


def train_on(
    problem: Problem,
    student: Student,
    lesson: Lesson,
    plan: Training,
    chance: Chance,
    *,
    batches: Batches | None = None,
    progress: Progress | None = None,
) -> History:
    """Train a student in place; with a patience, to where it does best on the problem's validation set."""
    validation = problem.validation
    return train(
        student,
        lesson,
        plan,
        chance,
        loss=problem.task.loss,
        batches=batches,
        held_out=None if validation is None else Lesson(validation.X, validation.y),
        watch=problem.task.watch,
        progress=progress,
    )
