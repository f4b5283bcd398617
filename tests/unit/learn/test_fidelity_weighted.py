import numpy as np
import pytest
from tests.problems import class_problem, class_recipe
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA

from fwl.errors import InvalidInput
from fwl.evaluate.calibration import accuracy
from fwl.learn.fidelity_weighted import fidelity_weighted
from fwl.learn.recipe import Problem
from fwl.randomness import Chance
from fwl.records import StrongSet

CLASSES = pytest.mark.parametrize("classes", [2, 3])


def taught(classes, seed):
    example = class_problem(n_weak=400, n_strong=100, classes=classes, seed=seed)
    return fidelity_weighted(example.problem, class_recipe(1 if classes == 2 else 3), Chance(seed)), example


@CLASSES
def test_student_and_teacher_are_better_than_the_annotator(classes):
    gains = []
    for seed in range(3):
        learned, example = taught(classes, seed)
        annotator = accuracy(example.y, example.weak)
        student = accuracy(example.y, learned.predict(example.X))
        teacher = accuracy(example.y, learned.teacher.predict(example.X, example.weak))
        gains.append((student - annotator, teacher - annotator))
    assert np.min(gains) > 0.03
    assert (np.mean(gains, axis=0) > 0.08).all()


@CLASSES
def test_soft_labels_and_predictions_are_probabilities(classes):
    learned, example = taught(classes, 0)
    for p in (learned.soft.label, learned.predict(example.X)):
        assert ((p >= 0) & (p <= 1)).all()
        assert p.shape[1] == example.y.shape[1]
        if classes == 3:
            np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=ALGEBRA)
    assert len(learned.soft.X) == 500
    assert ((learned.soft.fidelity > 0) & (learned.soft.fidelity <= 1)).all()


def test_a_prior_mean_that_reads_weak_labels_needs_those_of_the_strong_samples():
    problem = class_problem().problem
    not_asked = Problem(problem.weak, StrongSet(problem.strong.X, problem.strong.y), problem.task)
    message = (
        'prior mean "student_and_weak" needs what the annotator says of the strong samples; '
        "give it as StrongSet(X, y, weak=...), or choose another prior mean"
    )
    with expect_refusal(InvalidInput, message):
        fidelity_weighted(not_asked, class_recipe(), Chance(0))
