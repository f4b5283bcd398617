"""FWL_auto as a committee: weak-then-strong students and the teacher itself, averaged rather than distilled."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fwl.errors import InvalidInput
from fwl.learn.baselines import weak_then_strong_averaged
from fwl.learn.choose import choose_teacher
from fwl.learn.eyes import SeveralStudents
from fwl.learn.learned import Learned
from fwl.learn.linear import fit_linear, has_numbers
from fwl.learn.members import member_chance, shared_starts, started, started_until_it_generalises
from fwl.learn.pretrain import pretrain
from fwl.learn.recipe import Problem, Recipe
from fwl.learn.shares import LINEAR, STUDENTS, TEACHER, Kind, committee_shares
from fwl.randomness import Chance
from fwl.records import Array
from fwl.students.contract import Student
from fwl.students.inference import predict
from fwl.teach.calibration import rebalanced

GUEST_SHARES = (0.0, 1 / 3, 1 / 2)


def students_and_teacher(
    problem: Problem, recipe: Recipe, chance: Chance, pretrained: Student | None = None
) -> Learned:
    """Students fine-tuned on the strong labels, and the teacher that looks through some that have seen none of them.

    The teacher reads the annotator's label of a sample where its prior mean asks for it, so `predict` takes weak labels
    too: the annotator can be run on new samples as well.
    """
    if not problem.task.has_classes:
        raise InvalidInput("auto: a committee averages class probabilities; leave committee at 0 for numbers")
    student = pretrained or pretrain(problem, recipe, chance)
    with shared_starts():  # the teacher looks through the same students that are fine-tuned
        eyes = all_members(student, problem, recipe, chance) if recipe.auto.many_eyes else None
        averaged = weak_then_strong_averaged(problem, recipe, chance, student, recipe.auto.committee)
        second = second_kind(problem, recipe, chance)
    teacher, scores = choose_teacher(student, problem, recipe, chance, eyes)
    choices: dict[str, Any] = {
        "input": teacher.teaching.input,
        "prior_mean": teacher.teaching.prior_mean,
        "criterion": recipe.auto.criterion,
        "teacher_scores": scores,
    }
    committee = Learned(
        averaged.students, problem.task, teacher, choices=choices, with_teacher=True, rebalance=recipe.auto.rebalance
    )
    if recipe.auto.guest is not None:
        return with_guest(committee, problem, recipe)
    if not recipe.auto.share_folds:
        return committee
    kinds = [Kind(student, recipe, chance, averaged.students), *([] if second is None else [second])]
    return with_linear(committee, kinds, problem, chance)


def second_kind(problem: Problem, recipe: Recipe, chance: Chance) -> Kind | None:
    """Weak-then-strong students of another kind, whose step 1 stops where it suits them."""
    if recipe.auto.second_kind is None:
        return None
    recipe = recipe.but(new_student=recipe.auto.second_kind)
    chance = chance.child("second kind")
    start, steps = started_until_it_generalises(problem, recipe, chance)
    start = copy.deepcopy(start)  # what is trained from it is let go with it
    recipe = recipe.but(pretraining=replace(recipe.pretraining, steps=max(1, steps)))
    learned = weak_then_strong_averaged(problem, recipe, chance, start, recipe.auto.of_second_kind)
    return Kind(start, recipe, chance, learned.students)


def with_linear(committee: Learned, kinds: Sequence[Kind], problem: Problem, chance: Chance) -> Learned:
    """The committee with students of all kinds, and a linear model of the strong labels where samples have numbers.

    Each side has the share that left-out strong labels speak for.
    """
    assert committee.teacher is not None
    linear = fit_linear(problem, chance) if has_numbers(problem.strong.X) else None
    shares = committee_shares(committee.teacher, kinds, linear, problem)
    of_teacher = shares[TEACHER] / (shares[TEACHER] + shares[STUDENTS])
    choices = {**committee.choices, "shares": shares}
    others = tuple(student for kind in kinds[1:] for student in kind.students)
    committee = replace(committee, choices=choices, teacher_share=of_teacher, second_kind=others)
    if linear is None or LINEAR not in shares:
        return committee
    return replace(committee, guest=linear.student, guest_share=shares[LINEAR])


def all_members(student: Student, problem: Problem, recipe: Recipe, chance: Chance) -> SeveralStudents:
    """The students of the committee after step 1, of which this is the first."""
    others = (started(problem, recipe, member_chance(chance, i)) for i in range(1, recipe.auto.committee))
    return SeveralStudents((student, *others))


def with_guest(committee: Learned, problem: Problem, recipe: Recipe) -> Learned:
    """The committee with a student of another kind beside it, at the share that suits the validation set best."""
    make, validation = recipe.auto.guest, problem.validation
    if make is None or validation is None:
        raise InvalidInput("auto: a guest's share is chosen on a validation set; give Problem(..., validation=...)")
    guest = make(problem)
    calm = replace(committee, rebalance=0.0).predict(validation.X, validation.weak)
    said = problem.task.link(predict(guest, validation.X))
    losses = {share: _loss(committee, problem, (1.0 - share) * calm + share * said) for share in GUEST_SHARES}
    share = min(losses, key=losses.__getitem__)
    choices = {**committee.choices, "guest_share": share, "guest_losses": {f"{k:.2f}": v for k, v in losses.items()}}
    return replace(committee, choices=choices, guest=guest if share else None, guest_share=share)


def _loss(committee: Learned, problem: Problem, mean: Array) -> float:
    """What the task watches, of probabilities moved towards equal classes as the committee's; else their log loss."""
    assert committee.teacher is not None
    assert problem.validation is not None
    moved, y = rebalanced(mean, committee.teacher.shares, committee.rebalance), problem.validation.y
    if problem.task.watch is not None:
        return problem.task.watch(moved, y)
    return float(-np.mean(np.sum(y * np.log(np.clip(moved, 1e-12, 1.0)), axis=1)))
