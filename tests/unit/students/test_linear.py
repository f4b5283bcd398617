import numpy as np
import torch

from fwl.errors import InvalidInput, WrongShape
from fwl.randomness import Chance
from fwl.students.linear import LinearStudent
from tests.refusals import expect_refusal


def test_its_representation_is_the_sample():
    student, x = LinearStudent(6, 2, chance=Chance(0)), torch.arange(12.0).reshape(2, 3, 2)
    assert torch.equal(student.represent(x), x.reshape(2, 6))
    assert student(x).shape == (2, 2)


def test_it_takes_weights_over():
    student = LinearStudent(2, 1, chance=Chance(0)).double()
    student.set_weights(np.array([[2.0, -1.0]]), np.array([0.5]))
    assert student(torch.tensor([[3.0, 4.0]], dtype=torch.float64)).item() == 2.5


def test_weights_of_another_shape_are_refused():
    with expect_refusal(WrongShape, "weights of shape (1, 3) and (1,); expected (1, 2) and (1,)"):
        LinearStudent(2, 1, chance=Chance(0)).set_weights(np.zeros((1, 3)), np.zeros(1))


def test_no_columns_are_refused():
    with expect_refusal(InvalidInput, "a linear student needs widths of at least 1, got 0, 1"):
        LinearStudent(0, 1, chance=Chance(0))
