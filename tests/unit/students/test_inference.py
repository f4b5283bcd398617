import numpy as np
import pytest
import torch

from fwl.students import predict
from fwl.students.inference import as_input
from tests import examples

LAYOUTS = {
    "double precision": lambda X: X,
    "single precision": lambda X: X.astype(np.float32),
    "columns first": np.asfortranarray,
    "a view of every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "whole numbers": lambda X: X.astype(np.int64),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_any_layout_becomes_contiguous_single_precision(layout):
    X = layout(np.arange(12.0).reshape(4, 3))
    tensor = as_input(X)
    assert tensor.dtype == torch.float32
    assert tensor.is_contiguous()
    np.testing.assert_array_equal(tensor.numpy(), X)


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_layout_changes_no_prediction(layout):
    X = np.arange(12.0).reshape(4, 3)
    student = examples.perceptron()
    np.testing.assert_array_equal(predict(student, layout(X)), predict(student, X))


def test_read_only_samples_are_read():
    X = np.ones((4, 3), dtype=np.float32)
    X.flags.writeable = False
    assert predict(examples.perceptron(), X).shape == (4, 1)


def test_a_vector_is_one_column():
    np.testing.assert_array_equal(as_input(np.arange(3.0)).numpy(), [[0.0], [1.0], [2.0]])


def test_samples_of_more_dimensions_keep_them():
    assert as_input(np.zeros((2, 3, 4))).shape == (2, 3, 4)


def test_predictions_carry_no_gradient_and_repeat():
    student = examples.with_dropout()
    X = examples.lesson().X
    np.testing.assert_array_equal(predict(student, X), predict(student, X))


def test_the_mode_comes_back_after_an_error():
    student = examples.perceptron().train()
    with pytest.raises(RuntimeError):
        predict(student, np.zeros((2, 5)))
    assert student.training
