import numpy as np
import pytest
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA

from fwl.errors import NotFinite
from fwl.learn.learned import Learned
from fwl.learn.task import BINARY, MULTICLASS, REGRESSION, TASKS
from fwl.randomness import Chance
from fwl.students.inference import predict
from fwl.students.perceptron import Perceptron

X = np.random.default_rng(0).normal(size=(7, 2))


def students(n, outputs):
    return tuple(Perceptron(2, outputs, (6,), chance=Chance(seed)) for seed in range(n))


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_prediction_is_a_label_not_an_output(task):
    (student,) = students(1, 3 if task is MULTICLASS else 1)
    assert np.array_equal(Learned((student,), task).predict(X), task.link(predict(student, X)))


def test_several_students_are_averaged_in_the_space_of_labels():
    committee = students(3, 3)
    learned = Learned(committee, MULTICLASS)
    expected = sum(MULTICLASS.link(predict(student, X)) for student in committee) / 3
    np.testing.assert_allclose(learned.predict(X), expected, atol=ALGEBRA)
    np.testing.assert_allclose(learned.predict(X).sum(axis=1), 1.0, atol=ALGEBRA)


def test_samples_may_come_as_lists():
    learned = Learned(students(1, 1), BINARY)
    assert np.array_equal(learned.predict(X.tolist()), learned.predict(X))


def test_broken_samples_are_refused():
    with expect_refusal(NotFinite, "new samples: NaN or infinity in 1 of 2 rows (rows 1); drop or fill them first"):
        Learned(students(1, 1), REGRESSION).predict([[0.0, 1.0], [0.0, np.nan]])


def test_what_a_method_does_not_have_it_does_not_pretend_to():
    learned = Learned(students(1, 1), REGRESSION)
    assert (learned.teacher, learned.soft, learned.worth, learned.choices) == (None, None, None, {})
