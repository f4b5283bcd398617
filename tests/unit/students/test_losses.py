import pytest
import torch

from fwl.errors import WrongShape
from fwl.students.losses import squared_error
from tests.refusals import expect_refusal


def test_one_loss_per_sample():
    outputs, targets = torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.tensor([[1.0, 4.0], [3.0, 1.0]])
    assert squared_error(outputs, targets).tolist() == [2.0, 5.0]


def test_no_error_is_no_loss():
    outputs = torch.ones(3, 1)
    assert squared_error(outputs, outputs).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("shape", [(3,), (3, 1), (1, 2)])
def test_shapes_that_torch_would_stretch_are_refused(shape):
    message = f"the student's outputs have shape {shape} and the labels (3, 2); expected the same"
    with expect_refusal(WrongShape, message):
        squared_error(torch.zeros(shape), torch.zeros(3, 2))
