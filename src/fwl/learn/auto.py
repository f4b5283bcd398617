"""FWL_auto: the same three steps, with the choices made by the data and never by a test set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from fwl.evaluate.folds import folds
from fwl.learn.choose import NewTeacher, choose_teacher
from fwl.learn.committee import students_and_teacher
from fwl.learn.eyes import FoldStudents
from fwl.learn.finetune import finetune_on_soft
from fwl.learn.fitted import FittedTeacher, fit_through
from fwl.learn.learned import Learned
from fwl.learn.pretrain import pretrain_until_it_generalises
from fwl.learn.recipe import Problem, Recipe, check_answerable
from fwl.learn.soften import Softener
from fwl.learn.task import Task
from fwl.learn.worth import judge
from fwl.randomness import Chance
from fwl.records import StrongSet
from fwl.students.contract import Student
from fwl.students.inference import predict


def fidelity_weighted_auto(
    problem: Problem,
    recipe: Recipe,
    chance: Chance,
    pretrained: Student | None = None,
) -> Learned:
    """Learn from few strong and many weak labels, choosing teacher and beta by the strong labels alone.

    Args:
        problem: the weak set, the strong set and the task.
        recipe: the student, and in `auto` the choices to compare and the length of training.
        chance: where all draws come from.
        pretrained: the student after step 1, for a committee only: otherwise step 1 is stopped early here and so
            differs from the other methods'.
    """
    check_answerable(problem, recipe.auto.prior_means or ())
    if recipe.auto.committee:
        return students_and_teacher(problem, recipe, chance, pretrained)
    everything = problem.all_samples
    recipe = recipe.but(finetuning=recipe.auto.finetuning, uncertainty="relative", fidelity_as="step")

    # Step 1, stopped where held-out weak labels stop getting better.
    student, best_step = pretrain_until_it_generalises(problem, recipe, chance)

    # Step 2, with the teacher that makes the strong labels most likely.
    teacher, scores = choose_teacher(student, problem, recipe, chance)

    # Step 3, with the beta that best predicts strong labels left out.
    errors = beta_errors(student, teacher, problem, recipe, chance)
    recipe = recipe.but(beta=min(errors, key=errors.__getitem__))
    posterior = teacher.posterior(everything, problem.all_weak_labels)
    soft = Softener(teacher, recipe.beta, recipe.uncertainty).of(everything, posterior)
    taught = finetune_on_soft(student, soft, problem, recipe, chance)
    choices = _record(teacher, recipe, scores, errors) | {"pretrain_steps": best_step}
    worth = judge(teacher, problem.strong, student, soft, posterior)
    return Learned((taught,), problem.task, teacher, soft, choices, worth)


def beta_errors(
    student: Student, teacher: FittedTeacher, problem: Problem, recipe: Recipe, chance: Chance
) -> dict[float, float]:
    """The cross-validated loss on the strong samples of a student taught with each beta.

    The teacher keeps the kernel it was fitted with and forgets the labels of the fold left out.
    """
    errors = dict.fromkeys(recipe.auto.betas, 0.0)
    plan, weak = recipe.auto.finetuning, problem.weak
    recipe = recipe.but(finetuning=replace(plan, steps=plan.steps // 2))
    splits = folds(len(problem.strong.X), recipe.auto.folds, chance.child("beta folds"))
    for fold, (kept, left_out) in enumerate(splits):
        seen, unseen = _rows(problem.strong, kept), _rows(problem.strong, left_out)
        samples = np.concatenate([weak.X, seen.X])
        forgetful = _refit(teacher, seen, kept)
        posterior = forgetful.posterior(samples, None if seen.weak is None else np.concatenate([weak.y, seen.weak]))
        for beta in errors:
            soft = Softener(forgetful, beta, recipe.uncertainty).of(samples, posterior)
            taught = finetune_on_soft(student, soft, problem, recipe, chance.child("beta fold", fold))
            errors[beta] += _total_loss(taught, unseen, problem.task)
    return {beta: total / len(problem.strong.X) for beta, total in errors.items()}


def _refit(fitted: FittedTeacher, strong: StrongSet, kept: np.ndarray) -> FittedTeacher:
    """The same teacher, with the same kernel, base and view, on fewer strong labels."""
    new, view = fitted.teaching.new_teacher, fitted.view
    assert isinstance(new, NewTeacher)
    kernel = fitted.teacher.kernel_  # type: ignore[attr-defined]
    teacher = replace(new, kernel=kernel, hyperparameters="fixed")()
    if isinstance(view.eyes, FoldStudents):
        view = replace(view, eyes=replace(view.eyes, fold=view.eyes.fold[kept]))
    return fit_through(view, teacher, strong, fitted.prior, fitted.teaching, fitted.task)


def _record(
    teacher: FittedTeacher, recipe: Recipe, scores: dict[str, dict[str, float]], errors: dict[float, float]
) -> dict[str, Any]:
    """What was decided, and by which figures."""
    return {
        "input": teacher.teaching.input,
        "prior_mean": teacher.teaching.prior_mean,
        "beta": recipe.beta,
        "criterion": recipe.auto.criterion,
        "teacher_scores": scores,
        "beta_errors": {str(beta): error for beta, error in errors.items()},
    }


def _rows(strong: StrongSet, rows: np.ndarray) -> StrongSet:
    return StrongSet(strong.X[rows], strong.y[rows], None if strong.weak is None else strong.weak[rows])


def _total_loss(student: Student, strong: StrongSet, task: Task) -> float:
    outputs = torch.from_numpy(predict(student, strong.X))
    return float(task.loss(outputs, torch.from_numpy(strong.y)).sum())
