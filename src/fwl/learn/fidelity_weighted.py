"""Algorithm 1 of the paper."""

from __future__ import annotations

from fwl.learn.eyes import OneStudent
from fwl.learn.finetune import finetune_on_soft
from fwl.learn.fitted import fit_teacher
from fwl.learn.learned import Learned
from fwl.learn.pretrain import pretrain
from fwl.learn.recipe import Problem, Recipe, check_answerable
from fwl.learn.soften import Softener
from fwl.learn.worth import judge
from fwl.randomness import Chance
from fwl.students.contract import Student


def fidelity_weighted(problem: Problem, recipe: Recipe, chance: Chance, pretrained: Student | None = None) -> Learned:
    """Learn from few strong and many weak labels.

    Args:
        problem: the weak set D_w, the strong set D_s and the task.
        recipe: everything that is to be chosen: student, teacher, steps, beta.
        chance: where all draws come from.
        pretrained: the student after step 1, if that was done already with the same recipe and chance.
    """
    check_answerable(problem, [recipe.teaching.prior_mean])
    everything = problem.all_samples  # D_w and D_s

    # Line 1: train the student on samples from the weakly annotated data D_w.
    student = pretrained or pretrain(problem, recipe, chance)

    # Line 2: freeze psi and train the teacher on the strong data {(psi(x_j), y_j)};
    # apply it to all samples x_t to obtain the soft label T(x_t) and its uncertainty Sigma(x_t).
    teacher = fit_teacher(OneStudent(student), problem.strong, everything, recipe.teaching, problem.task)
    posterior = teacher.posterior(everything, problem.all_weak_labels)
    soft = Softener(teacher, recipe.beta, recipe.uncertainty).of(everything, posterior)

    # Line 3: train the student on the soft data, each sample's step scaled by eta2 = exp(-beta Sigma(x_t)).
    taught = finetune_on_soft(student, soft, problem, recipe, chance)
    worth = judge(teacher, problem.strong, student, soft, posterior)
    return Learned((taught,), problem.task, teacher, soft, worth=worth)
