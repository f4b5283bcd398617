import numpy as np
import pytest
import torch

from fwl.errors import OutputTrouble
from fwl.randomness import Chance
from fwl.students.inference import predict
from fwl.students.linear import LinearStudent
from fwl.students.perceptron import Perceptron
from fwl.students.saving import revive_student, student_state
from fwl.students.text_cnn import TextCNN
from tests.examples import same_bits, text_cnn, text_lesson, wrapped


def relu():
    student = Perceptron(3, 2, (5, 4), activation="relu", chance=Chance(1))
    student.reads = "vector"
    return student


STUDENTS = {
    "perceptron": lambda: Perceptron(3, 2, (5,), chance=Chance(1)),
    "relu": relu,
    "double": lambda: relu().double(),
    "linear": lambda: LinearStudent(3, 2, chance=Chance(1)),
    "text": lambda: text_cnn(layers=2, dropout=0.3, classes=2),
    "beside": lambda: TextCNN(11, 2, filters=6, hidden=(5, 4), columns=4, beside=4, word_dropout=0.1, chance=Chance(2)),
}


@pytest.mark.parametrize("make", STUDENTS.values(), ids=STUDENTS.keys())
def test_a_student_comes_back_to_the_bit(make):
    student = make()
    again = revive_student(*student_state(student))
    assert type(again) is type(student)
    assert same_bits(student, again)
    assert again.reads == student.reads
    assert next(again.parameters()).dtype == next(student.parameters()).dtype
    if isinstance(student, TextCNN):
        assert (again.width, again.beside, again.word_dropout) == (student.width, student.beside, student.word_dropout)
        X = text_lesson().X
        assert np.array_equal(predict(student, X), predict(again, X))
    elif student.reads is None:
        X = np.random.default_rng(0).normal(size=(4, 3))
        assert np.array_equal(predict(student, X), predict(again, X))


def test_a_wrapped_student_needs_its_maker():
    student = wrapped()
    again = revive_student(*student_state(student), own=lambda _: wrapped())
    assert same_bits(student, again)


def test_weights_of_another_student_are_refused():
    spec, arrays = student_state(Perceptron(3, 2, (5,), chance=Chance(1)))
    arrays["output.bias"] = np.zeros(9, dtype=np.float32)
    with pytest.raises(OutputTrouble, match="the weights do not fit the student they belong to"):
        revive_student(spec, arrays)


def test_saving_takes_a_picture_and_no_reference():
    student = Perceptron(3, 2, (5,), chance=Chance(1))
    again = revive_student(*student_state(student))
    with torch.no_grad():
        again.output.bias += 1.0
    assert not same_bits(student, again)
