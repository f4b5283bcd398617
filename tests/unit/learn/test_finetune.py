import numpy as np
from tests.problems import new_student, small_recipe

from fwl.learn.finetune import finetune_on_soft, finetune_on_strong
from fwl.learn.recipe import Problem
from fwl.randomness import Chance
from fwl.records import SoftSet, StrongSet, WeakSet
from fwl.students.inference import predict
from fwl.students.training import Training

X = np.array([[-1.0], [1.0]])
PROBLEM = Problem(WeakSet(X, [0.0, 0.0]), StrongSet(X, [1.0, -1.0]))


def soft(fidelity):
    return SoftSet(X, [[1.0], [-1.0]], [0.1, 0.1], fidelity)


def test_the_student_handed_in_stays_as_it_was():
    student = new_student(Chance(0))
    before = predict(student, X)
    finetune_on_strong(student, StrongSet(X, [5.0, 5.0]), PROBLEM, Training(steps=5), Chance(0))
    assert np.array_equal(predict(student, X), before)


def test_samples_of_low_fidelity_are_learned_less():
    student, recipe = new_student(Chance(0)), small_recipe(finetuning=Training(steps=300, learning_rate=1e-2))
    taught = predict(finetune_on_soft(student, soft([1.0, 1e-12]), PROBLEM, recipe, Chance(0)), X)
    assert abs(taught[0, 0] - 1.0) < 0.05
    assert abs(taught[1, 0] + 1.0) > 0.5


def test_sampling_by_fidelity_hardly_ever_draws_what_is_not_trusted():
    student = new_student(Chance(0))
    recipe = small_recipe(finetuning=Training(steps=300, batch_size=2, learning_rate=1e-2), fidelity_as="sampling")
    taught = predict(finetune_on_soft(student, soft([1.0, 1e-12]), PROBLEM, recipe, Chance(0)), X)
    assert abs(taught[0, 0] - 1.0) < 0.05
    assert abs(taught[1, 0] + 1.0) > 0.5
