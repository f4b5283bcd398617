"""Step 3: the student goes on from what it learned from weak labels, on labels that know how good they are."""

from __future__ import annotations

import copy

from fwl.learn.recipe import Problem, Recipe
from fwl.learn.validated import train_on
from fwl.progress import Progress
from fwl.randomness import Chance
from fwl.records import SoftSet, StrongSet
from fwl.students.batches import Batches, ByProbability
from fwl.students.contract import Student
from fwl.students.training import Lesson, Training


def finetune_on_soft(
    student: Student,
    soft: SoftSet,
    problem: Problem,
    recipe: Recipe,
    chance: Chance,
    progress: Progress | None = None,
) -> Student:
    """A copy of the student, fine-tuned on soft labels with fidelity used as the recipe says."""
    weight = soft.fidelity if recipe.fidelity_as == "step" else None
    lesson = Lesson(soft.X, soft.label, weight)
    stream = chance.child("step 3")
    batches: Batches | None = None
    if recipe.fidelity_as == "sampling":
        batches = ByProbability(soft.fidelity, recipe.finetuning.batch_size, stream.child("sampling"))
    return _finetune(student, lesson, problem, recipe.finetuning, stream, batches, progress)


def finetune_on_strong(
    student: Student,
    strong: StrongSet,
    problem: Problem,
    plan: Training,
    chance: Chance,
    progress: Progress | None = None,
) -> Student:
    """A copy of the student, fine-tuned on strong labels alone: the common way to use them."""
    return _finetune(student, Lesson(strong.X, strong.y), problem, plan, chance.child("step 3"), None, progress)


def _finetune(
    student: Student,
    lesson: Lesson,
    problem: Problem,
    plan: Training,
    chance: Chance,
    batches: Batches | None,
    progress: Progress | None,
) -> Student:
    student = copy.deepcopy(student)
    train_on(problem, student, lesson, plan, chance, batches=batches, progress=progress)
    return student
