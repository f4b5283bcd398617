import numpy as np
import pytest

from fwl.learn.eyes import FoldStudents, OneStudent, SeveralStudents
from fwl.randomness import Chance
from fwl.records import StrongSet
from fwl.students.inference import predict, represent
from fwl.students.perceptron import Perceptron

X = np.random.default_rng(0).normal(size=(6, 3))
STRONG = StrongSet(X, np.zeros((6, 2)))
STUDENTS = tuple(Perceptron(3, 2, (5, 4), chance=Chance(seed)) for seed in range(3))
FOLD = np.array([2, 0, 1, 1, 0, 2])


def test_one_student_sees_every_sample_alike():
    eyes = OneStudent(STUDENTS[0])
    assert np.array_equal(eyes.represent(X), represent(STUDENTS[0], X))
    assert np.array_equal(eyes.respond(X), predict(STUDENTS[0], X))
    assert np.array_equal(eyes.represent_strong(STRONG), eyes.represent(X))
    assert np.array_equal(eyes.respond_to_strong(STRONG), eyes.respond(X))


def test_fold_students_see_any_sample_as_they_do_on_average():
    eyes = FoldStudents(STUDENTS, FOLD)
    assert eyes.represent(X) == pytest.approx(sum(represent(s, X) for s in STUDENTS) / 3)
    assert eyes.respond(X) == pytest.approx(sum(predict(s, X) for s in STUDENTS) / 3)


def test_a_strong_sample_is_seen_by_the_student_of_its_fold():
    eyes = FoldStudents(STUDENTS, FOLD)
    psi, outputs = eyes.represent_strong(STRONG), eyes.respond_to_strong(STRONG)
    assert psi.shape == (6, 4)
    assert outputs.shape == (6, 2)
    for i, fold in enumerate(FOLD):
        assert np.array_equal(psi[i], represent(STUDENTS[fold], X)[i])
        assert np.array_equal(outputs[i], predict(STUDENTS[fold], X)[i])


def test_students_that_are_the_same_are_one_student():
    eyes, one = FoldStudents((STUDENTS[1],) * 3, FOLD), OneStudent(STUDENTS[1])
    assert eyes.represent(X) == pytest.approx(one.represent(X))
    assert np.array_equal(eyes.respond_to_strong(STRONG), one.respond_to_strong(STRONG))


def test_several_students_stand_side_by_side_and_answer_as_one():
    eyes = SeveralStudents(STUDENTS)
    assert np.array_equal(eyes.represent(X), np.hstack([represent(s, X) for s in STUDENTS]))
    assert eyes.respond(X) == pytest.approx(sum(predict(s, X) for s in STUDENTS) / 3)
    assert np.array_equal(eyes.represent_strong(STRONG), eyes.represent(X))
    assert np.array_equal(eyes.respond_to_strong(STRONG), eyes.respond(X))
