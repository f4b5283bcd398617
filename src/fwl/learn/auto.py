"""FWL_auto: the same three steps, with the choices made by the data and never by a test set."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fwl.evaluate.folds import folds
from fwl.learn.finetune import finetune_on_soft
from fwl.learn.learned import Learned
from fwl.learn.pretrain import pretrain_until_it_generalises
from fwl.learn.recipe import Problem, Recipe, Teaching
from fwl.learn.soften import soften
from fwl.learn.view import FittedTeacher, fit_teacher, make_view, prior_mean
from fwl.randomness import Chance
from fwl.records import StrongSet
from fwl.students.contract import Student
from fwl.students.inference import predict
from fwl.teach.exact import ExactGP
from fwl.teach.selection import score, starting_kernel


def fidelity_weighted_auto(
    problem: Problem,
    recipe: Recipe,
    chance: Chance,
    pretrained: Student | None = None,  # noqa: ARG001
) -> Learned:
    """Learn from few strong and many weak labels, choosing teacher and beta by the strong labels alone.

    Args:
        problem: the weak set, the strong set and the task.
        recipe: the student, and in `auto` the choices to compare and the length of training.
        chance: where all draws come from.
        pretrained: not used; step 1 is stopped early here and so differs from the other methods'.
    """
    everything = problem.all_samples
    recipe = recipe.but(finetuning=recipe.auto.finetuning, uncertainty="relative", fidelity_as="step")

    # Step 1, stopped where held-out weak labels stop getting better.
    student, best_step = pretrain_until_it_generalises(problem, recipe, chance)

    # Step 2, with the input and the prior mean that make the strong labels most likely.
    teacher, scores = choose_teacher(student, problem, recipe)

    # Step 3, with the beta that best predicts strong labels left out.
    errors = beta_errors(student, teacher, problem, recipe, chance)
    recipe = recipe.but(beta=min(errors, key=errors.__getitem__))
    soft = soften(everything, teacher.posterior(everything), problem.task, recipe.beta, recipe.uncertainty)
    taught = finetune_on_soft(student, soft, problem.task, recipe, chance)
    choices = {
        "pretrain_steps": best_step,
        "input": teacher.teaching.input,
        "prior_mean": teacher.teaching.prior_mean,
        "beta": recipe.beta,
        "teacher_scores": scores,
        "beta_errors": {str(beta): error for beta, error in errors.items()},
    }
    return Learned((taught,), problem.task, teacher, soft, choices)


def choose_teacher(student: Student, problem: Problem, recipe: Recipe) -> tuple[FittedTeacher, dict[str, float]]:
    """The fitted teacher with the highest score, and the score of every candidate by "input, prior mean"."""
    candidates = [
        _fit_candidate(student, problem, input_, mean)
        for input_ in recipe.auto.inputs
        for mean in recipe.auto.prior_means
    ]
    scores = [score(candidate.teacher, len(problem.strong.X)) for candidate in candidates]
    named = {f"{c.teaching.input}, {c.teaching.prior_mean}": s for c, s in zip(candidates, scores, strict=True)}
    return candidates[int(np.argmax(scores))], named


def beta_errors(
    student: Student, teacher: FittedTeacher, problem: Problem, recipe: Recipe, chance: Chance
) -> dict[float, float]:
    """The cross-validated loss on the strong samples of a student taught with each beta.

    The teacher keeps the kernel it was fitted with and forgets the labels of the fold left out.
    """
    errors = dict.fromkeys(recipe.auto.betas, 0.0)
    plan = recipe.auto.finetuning
    recipe = recipe.but(finetuning=replace(plan, steps=plan.steps // 2))
    splits = folds(len(problem.strong.X), recipe.auto.folds, chance.child("beta folds"))
    for fold, (kept, left_out) in enumerate(splits):
        seen, unseen = _rows(problem.strong, kept), _rows(problem.strong, left_out)
        samples = np.concatenate([problem.weak.X, seen.X])
        posterior = _refit(teacher, seen).posterior(samples)
        for beta in errors:
            soft = soften(samples, posterior, problem.task, beta, recipe.uncertainty)
            taught = finetune_on_soft(student, soft, problem.task, recipe, chance.child("beta fold", fold))
            errors[beta] += _total_loss(taught, unseen)
    return {beta: total / len(problem.strong.X) for beta, total in errors.items()}


def _fit_candidate(student: Student, problem: Problem, input_: str, mean: str) -> FittedTeacher:
    everything = problem.all_samples
    draft = Teaching(input=input_, standardise=True, prior_mean=mean)
    kernel = starting_kernel(make_view(student, everything, draft)(everything), problem.strong.y)
    teaching = replace(draft, new_teacher=lambda: ExactGP(kernel, "evidence_with_prior", shrink_mean=True))
    return fit_teacher(student, problem.strong, everything, teaching)


def _refit(fitted: FittedTeacher, strong: StrongSet) -> FittedTeacher:
    """The same teacher, with the same kernel and view, on fewer strong labels."""
    assert isinstance(fitted.teacher, ExactGP)
    view, student = fitted.view, fitted.view.student
    teacher = ExactGP(fitted.teacher.kernel_, "fixed", shrink_mean=True)
    teacher.fit(view(strong.X), strong.y, prior_mean(student, strong.X, fitted.teaching))
    return replace(fitted, teacher=teacher)


def _rows(strong: StrongSet, rows: np.ndarray) -> StrongSet:
    return StrongSet(strong.X[rows], strong.y[rows])


def _total_loss(student: Student, strong: StrongSet) -> float:
    return float(((predict(student, strong.X) - strong.y) ** 2).mean(axis=1).sum())
