"""Small problems and recipes that many tests share."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from fwl.experiments.synthetic import SmoothClasses
from fwl.learn.recipe import Auto, Problem, Recipe, Teaching
from fwl.learn.task import BINARY, MULTICLASS
from fwl.randomness import Chance
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


@dataclass(frozen=True, eq=False)
class ClassProblem:
    """Classes, an annotator that was asked about every sample, and fresh samples to test on."""

    problem: Problem
    X: np.ndarray
    y: np.ndarray
    weak: np.ndarray


@cache
def class_problem(n_weak=300, n_strong=60, classes=3, seed=0, distortion=0.2, flips=0.4):
    """Smooth classes in four columns; two classes come in one column, that of the second."""
    chance = Chance(seed).child("class problem")
    task = SmoothClasses(4, classes, chance=chance, distortion=distortion, flips=flips)
    sets = {part: task.draw(n, chance.child(part)) for part, n in (("w", n_weak), ("s", n_strong), ("t", 1000))}
    weak = {part: _columns(task.annotate(X, chance.child(part, "weak"))) for part, X in sets.items()}
    y = {part: _columns(task.label(X, chance.child(part, "strong"))) for part, X in sets.items()}
    strong = StrongSet(sets["s"], y["s"], weak["s"])
    problem = Problem(WeakSet(sets["w"], weak["w"]), strong, BINARY if classes == 2 else MULTICLASS)
    return ClassProblem(problem, sets["t"], y["t"], weak["t"])


def class_recipe(outputs=3, **changes):
    recipe = Recipe(
        new_student=lambda chance: Perceptron(4, outputs, (16, 8), chance=chance),
        pretraining=Training(steps=200, batch_size=32, learning_rate=1e-2),
        finetuning=Training(steps=200, batch_size=32, learning_rate=1e-2),
        teaching=Teaching(new_class_teacher, "x", standardise=True, prior_mean="student_and_weak", calibrate=True),
        auto=Auto(
            pretraining=Training(steps=200, batch_size=32, learning_rate=1e-2, patience=5, check_every=10),
            finetuning=Training(steps=200, batch_size=32, learning_rate=1e-2),
            inputs=("x", "psi"),
            prior_means=("average", "student_and_weak"),
            betas=(0.0, 1.0),
            folds=2,
        ),
    )
    return recipe.but(**changes)


def new_class_teacher():
    return ExactGP(RBF(2.0, 0.1) + White(0.1), shrink_mean=True)


def _columns(one_hot):
    return one_hot[:, 1:] if one_hot.shape[1] == 2 else one_hot
