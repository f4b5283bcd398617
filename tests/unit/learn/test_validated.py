from dataclasses import replace

import numpy as np
import pytest
from tests.problems import new_student, sine_problem

from fwl.errors import InvalidInput, WrongShape
from fwl.learn.recipe import Problem
from fwl.learn.task import REGRESSION
from fwl.learn.validated import train_on
from fwl.randomness import Chance
from fwl.records import StrongSet
from fwl.students.training import Lesson, Training

PROBLEM = sine_problem()
LESSON = Lesson(PROBLEM.weak.X, PROBLEM.weak.y)
PLAN = Training(steps=200, batch_size=16, learning_rate=1e-2, patience=3, check_every=5)
X = np.linspace(-3, 3, 30)[:, None]
VALIDATION = StrongSet(X, np.sin(X))


def with_validation(task=REGRESSION):
    return Problem(PROBLEM.weak, PROBLEM.strong, task, VALIDATION)


def test_a_plan_with_patience_stops_on_the_validation_set():
    history = train_on(with_validation(), new_student(Chance(0)), LESSON, PLAN, Chance(0))
    assert history.held_out
    assert history.best_step < 200


def test_without_patience_the_validation_set_is_not_looked_at():
    history = train_on(
        with_validation(), new_student(Chance(0)), LESSON, replace(PLAN, patience=None, steps=10), Chance(0)
    )
    assert history.held_out == []


def test_the_task_says_what_is_watched():
    task = replace(REGRESSION, watch=lambda outputs, y: float(len(outputs) + len(y)))
    history = train_on(with_validation(task), new_student(Chance(0)), LESSON, PLAN, Chance(0))
    assert set(history.held_out) == {60.0}


def test_patience_without_a_validation_set_is_refused():
    with pytest.raises(InvalidInput, match="needs a held-out set"):
        train_on(PROBLEM, new_student(Chance(0)), LESSON, PLAN, Chance(0))


def test_a_validation_set_of_other_columns_is_refused():
    with pytest.raises(WrongShape, match="validation samples"):
        Problem(PROBLEM.weak, PROBLEM.strong, REGRESSION, StrongSet(np.zeros((3, 2)), np.zeros((3, 1))))
