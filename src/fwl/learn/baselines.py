"""The methods the paper compares with, one function each; all start from the same student, draw for draw."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fwl.learn.eyes import OneStudent
from fwl.learn.fidelity_weighted import fidelity_weighted
from fwl.learn.finetune import finetune_on_strong
from fwl.learn.fitted import fit_teacher
from fwl.learn.learned import Learned
from fwl.learn.members import weak_then_strong_student
from fwl.learn.pretrain import pretrain
from fwl.learn.recipe import Problem, Recipe
from fwl.learn.soften import Softener
from fwl.learn.validated import train_on
from fwl.randomness import Chance
from fwl.students.batches import Alternating
from fwl.students.contract import Student
from fwl.students.training import Lesson, Training


def weak_only(problem: Problem, recipe: Recipe, chance: Chance, pretrained: Student | None = None) -> Learned:
    """NN_W: step 1 and nothing else."""
    return Learned((pretrained or pretrain(problem, recipe, chance),), problem.task)


def strong_only(problem: Problem, recipe: Recipe, chance: Chance, pretrained: Student | None = None) -> Learned:  # noqa: ARG001
    """NN_S: a new student on the strong labels alone, for as many steps as the others take in all."""
    student = recipe.new_student(chance.child("student"))
    strong = problem.strong
    plan = _both_phases(recipe, recipe.on_strong(len(strong.X)))
    train_on(problem, student, Lesson(strong.X, strong.y), plan, chance.child("strong only"))
    return Learned((student,), problem.task)


def strong_and_weak_by_turns(
    problem: Problem,
    recipe: Recipe,
    chance: Chance,
    pretrained: Student | None = None,  # noqa: ARG001
) -> Learned:
    """NN_S+/W: a new student on samples drawn by turns, weak without replacement and strong with."""
    student = recipe.new_student(chance.child("student"))
    weak, strong, plan = problem.weak, problem.strong, _both_phases(recipe, recipe.on_strong(len(problem.strong.X)))
    lesson = Lesson(problem.all_samples, np.concatenate([weak.y, strong.y]))
    stream = chance.child("by turns")
    batches = Alternating(len(weak.X), len(strong.X), plan.batch_size, stream)
    train_on(problem, student, lesson, plan, stream, batches=batches)
    return Learned((student,), problem.task)


def weak_then_strong(problem: Problem, recipe: Recipe, chance: Chance, pretrained: Student | None = None) -> Learned:
    """NN_W->S: step 1, then fine-tuned on the strong labels."""
    return Learned((weak_then_strong_student(problem, recipe, chance, pretrained),), problem.task)


def weak_then_strong_averaged(
    problem: Problem, recipe: Recipe, chance: Chance, pretrained: Student | None = None, members: int = 4
) -> Learned:
    """NN_W->Sx4: four weak-then-strong students averaged, the fair control for any committee."""
    students = (weak_then_strong_student(problem, recipe, chance, pretrained, number) for number in range(members))
    return Learned(tuple(students), problem.task)


def weak_at_fixed_weight_then_strong(
    problem: Problem, recipe: Recipe, chance: Chance, pretrained: Student | None = None
) -> Learned:
    """NN_Womega->S: weak steps scaled by one omega, the mean of FWL's eta2; then fine-tuned on the strong labels."""
    omega = mean_fidelity(problem, recipe, chance, pretrained)
    student = pretrain(problem, recipe, chance, weight=omega)
    student = finetune_on_strong(student, problem.strong, problem, recipe.on_strong(len(problem.strong.X)), chance)
    return Learned((student,), problem.task, choices={"omega": omega})


def unsupervised_representation(
    problem: Problem,
    recipe: Recipe,
    chance: Chance,
    pretrained: Student | None = None,  # noqa: ARG001
) -> Learned:
    """FWL_unsuprep: a teacher on what no label has shaped; a new student, for as many steps as the others take in all.

    The representation is the samples' own: of texts the sentence encoder's vectors, of numbers the numbers.
    """
    student = recipe.new_student(chance.child("student"))
    recipe = recipe.but(
        teaching=replace(recipe.teaching, input="x"), finetuning=_both_phases(recipe, recipe.finetuning)
    )
    return fidelity_weighted(problem, recipe, chance, pretrained=student)


def fidelity_ignored(problem: Problem, recipe: Recipe, chance: Chance, pretrained: Student | None = None) -> Learned:
    """FWL_noSigma: the teacher's labels, every step at full size."""
    return fidelity_weighted(problem, recipe.but(fidelity_as="nothing"), chance, pretrained)


def fidelity_sampled(problem: Problem, recipe: Recipe, chance: Chance, pretrained: Student | None = None) -> Learned:
    """FWL_s: the teacher's labels, samples drawn in proportion to their fidelity."""
    return fidelity_weighted(problem, recipe.but(fidelity_as="sampling"), chance, pretrained)


def mean_fidelity(problem: Problem, recipe: Recipe, chance: Chance, pretrained: Student | None = None) -> float:
    """The mean of eta2 over the soft dataset, as FWL with the same recipe would use it."""
    student = pretrained or pretrain(problem, recipe, chance)
    everything = problem.all_samples
    teacher = fit_teacher(OneStudent(student), problem.strong, everything, recipe.teaching, problem.task)
    soft = Softener(teacher, recipe.beta, recipe.uncertainty)(everything, problem.all_weak_labels)
    return float(soft.fidelity.mean())


def _both_phases(recipe: Recipe, last: Training) -> Training:
    """One phase of training as long as step 1 and this step 3 together, stopped as that is."""
    first = recipe.pretraining
    return replace(first, steps=first.steps + last.steps, patience=last.patience, check_every=last.check_every)
