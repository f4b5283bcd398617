from dataclasses import replace

import numpy as np
import pytest
from tests.problems import class_problem, sine_problem, small_recipe

from fwl.errors import InvalidInput
from fwl.evaluate.calibration import accuracy
from fwl.learn.auto import fidelity_weighted_auto
from fwl.learn.baselines import weak_then_strong_averaged
from fwl.learn.recipe import Auto
from fwl.learn.task import MULTICLASS
from fwl.randomness import Chance
from fwl.students.perceptron import Perceptron
from fwl.students.training import Training
from fwl.teach.calibration import rebalanced

DATA = class_problem()


def recipe(**changes):
    auto = Auto(inputs=("x",), prior_means=("average", "student_and_weak"), committee=2, **changes)
    return small_recipe(
        new_student=lambda chance: Perceptron(4, 3, (8,), "relu", chance=chance),
        pretraining=Training(steps=60, batch_size=32),
        finetuning=Training(steps=30, batch_size=32),
        auto=auto,
    )


def learned(**changes):
    return fidelity_weighted_auto(DATA.problem, recipe(**changes), Chance(0))


def test_it_is_half_the_students_and_half_the_teacher():
    committee = learned()
    students = replace(committee, with_teacher=False)
    mean = (students.predict(DATA.X) + committee.teacher.predict(DATA.X, DATA.weak)) / 2
    assert np.allclose(committee.predict(DATA.X, DATA.weak), mean)


def test_its_students_are_those_of_the_averaged_control_draw_for_draw():
    control = weak_then_strong_averaged(DATA.problem, recipe(), Chance(0), members=2)
    students = replace(learned(), with_teacher=False)
    assert np.array_equal(students.predict(DATA.X), control.predict(DATA.X))


def test_its_probabilities_are_rebalanced_at_the_end():
    plain, moved = learned(), learned(rebalance=0.5)
    expected = rebalanced(plain.predict(DATA.X, DATA.weak), plain.teacher.shares, 0.5)
    assert np.allclose(moved.predict(DATA.X, DATA.weak), expected)
    assert np.allclose(expected.sum(axis=1), 1.0)


def test_it_beats_chance_and_records_what_it_compared():
    committee = learned()
    assert accuracy(DATA.y, committee.predict(DATA.X, DATA.weak)) > 0.5
    assert set(committee.choices["teacher_scores"]) == {"x, average", "x, student_and_weak"}


def test_a_kernel_fitted_on_some_rows_still_teaches_all_strong_labels():
    some = learned(kernel_rows=30)
    assert len(some.teacher.teacher.leave_one_out().mean) == len(DATA.problem.strong.X)
    assert some.teacher.teaching.new_teacher.hyperparameters == "fixed"


def test_numbers_are_refused():
    numbers = small_recipe(auto=Auto(committee=2))
    with pytest.raises(InvalidInput, match="leave committee at 0 for numbers"):
        fidelity_weighted_auto(sine_problem(), numbers, Chance(0))


def test_the_task_stays_the_problems():
    assert learned().task is MULTICLASS
