"""FWL_auto as a committee: weak-then-strong students and the teacher itself, averaged rather than distilled."""

from __future__ import annotations

from typing import Any

from fwl.errors import InvalidInput
from fwl.learn.baselines import weak_then_strong_averaged
from fwl.learn.choose import choose_teacher
from fwl.learn.learned import Learned
from fwl.learn.pretrain import pretrain
from fwl.learn.recipe import Problem, Recipe
from fwl.randomness import Chance
from fwl.students.contract import Student


def students_and_teacher(
    problem: Problem, recipe: Recipe, chance: Chance, pretrained: Student | None = None
) -> Learned:
    """Students fine-tuned on the strong labels, and the teacher that looks through one that has seen none of them.

    The teacher reads the annotator's label of a sample where its prior mean asks for it, so `predict` takes weak labels
    too: the annotator can be run on new samples as well.
    """
    if not problem.task.has_classes:
        raise InvalidInput("auto: a committee averages class probabilities; leave committee at 0 for numbers")
    student = pretrained or pretrain(problem, recipe, chance)
    teacher, scores = choose_teacher(student, problem, recipe, chance)
    averaged = weak_then_strong_averaged(problem, recipe, chance, student, recipe.auto.committee)
    choices: dict[str, Any] = {
        "input": teacher.teaching.input,
        "prior_mean": teacher.teaching.prior_mean,
        "criterion": recipe.auto.criterion,
        "teacher_scores": scores,
    }
    return Learned(
        averaged.students, problem.task, teacher, choices=choices, with_teacher=True, rebalance=recipe.auto.rebalance
    )
