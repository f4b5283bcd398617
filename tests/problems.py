"""Small problems and recipes that many tests share."""

import numpy as np

from fwl.learn.recipe import Auto, Problem, Recipe, Teaching
from fwl.records import StrongSet, WeakSet
from fwl.students.perceptron import Perceptron
from fwl.students.training import Training
from fwl.teach.exact import ExactGP
from fwl.teach.kernels import RBF, White


def sine_problem(n_weak=40, n_strong=8, seed=0, weak=lambda x: np.sin(x) + 0.5, true=np.sin):
    rng = np.random.default_rng(seed)
    x_weak, x_strong = rng.uniform(-3, 3, (n_weak, 1)), rng.uniform(-3, 3, (n_strong, 1))
    return Problem(WeakSet(x_weak, weak(x_weak)), StrongSet(x_strong, true(x_strong)))


def new_student(chance):
    return Perceptron(1, 1, (8, 8), chance=chance)


def new_teacher():
    return ExactGP(RBF() + White(0.01))


def small_recipe(**changes):
    recipe = Recipe(
        new_student=new_student,
        pretraining=Training(steps=20, batch_size=16),
        finetuning=Training(steps=15, batch_size=16),
        teaching=Teaching(new_teacher, "psi"),
        auto=Auto(
            pretraining=Training(steps=40, batch_size=16, patience=2, check_every=5),
            finetuning=Training(steps=20, batch_size=16),
            folds=2,
        ),
    )
    return recipe.but(**changes)
