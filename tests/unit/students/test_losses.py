import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch.nn import functional

from fwl.errors import WrongShape
from fwl.students.losses import binary_cross_entropy, cross_entropy, squared_error
from tests.properties import PROPERTY
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA

LOSSES = [squared_error, cross_entropy, binary_cross_entropy]
LOGITS = arrays(np.float64, (4, 3), elements=st.floats(-30, 30))
PARTS = arrays(np.float64, (4, 3), elements=st.floats(0.01, 1))


def test_one_loss_per_sample():
    outputs, targets = torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.tensor([[1.0, 4.0], [3.0, 1.0]])
    assert squared_error(outputs, targets).tolist() == [2.0, 5.0]


def test_no_error_is_no_loss():
    outputs = torch.ones(3, 1)
    assert squared_error(outputs, outputs).tolist() == [0.0, 0.0, 0.0]


@PROPERTY
@given(LOGITS, PARTS)
def test_cross_entropy_is_the_sum_over_classes_and_torchs_own(outputs, parts):
    targets = parts / parts.sum(axis=1, keepdims=True)
    expected = []
    for logits, target in zip(outputs, targets, strict=True):
        total = sum(math.exp(logit) for logit in logits)
        expected.append(-sum(p * math.log(math.exp(z) / total) for z, p in zip(logits, target, strict=True)))
    got = cross_entropy(torch.from_numpy(outputs), torch.from_numpy(targets))
    theirs = functional.cross_entropy(torch.from_numpy(outputs), torch.from_numpy(targets), reduction="none")
    np.testing.assert_allclose(got, expected, rtol=ALGEBRA, atol=ALGEBRA)
    np.testing.assert_allclose(got, theirs, rtol=ALGEBRA, atol=ALGEBRA)


@PROPERTY
@given(LOGITS, PARTS)
def test_binary_cross_entropy_is_the_mean_over_columns_and_torchs_own(outputs, targets):
    expected = []
    for logits, target in zip(outputs, targets, strict=True):
        each = [
            -p * math.log(1 / (1 + math.exp(-z))) - (1 - p) * math.log(1 / (1 + math.exp(z)))
            for z, p in zip(logits, target, strict=True)
        ]
        expected.append(sum(each) / len(each))
    given_, wanted = torch.from_numpy(outputs), torch.from_numpy(targets)
    theirs = functional.binary_cross_entropy_with_logits(given_, wanted, reduction="none").mean(dim=1)
    np.testing.assert_allclose(binary_cross_entropy(given_, wanted), expected, rtol=ALGEBRA, atol=ALGEBRA)
    np.testing.assert_allclose(binary_cross_entropy(given_, wanted), theirs, rtol=ALGEBRA, atol=ALGEBRA)


def test_the_cross_entropy_of_one_class_is_its_log_probability():
    got = cross_entropy(torch.tensor([[0.0, math.log(3.0)]]), torch.tensor([[0.0, 1.0]]))
    assert got.tolist() == pytest.approx([-math.log(0.75)])


@pytest.mark.parametrize("loss", [cross_entropy, binary_cross_entropy])
def test_logits_beyond_the_reach_of_exp_have_a_finite_loss(loss):
    outputs, targets = torch.tensor([[1e4, -1e4], [-1e4, 1e4]]), torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    sure, mistaken = loss(outputs, targets).tolist()
    assert sure == 0.0
    assert 1e4 <= mistaken < math.inf


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", [(3,), (3, 1), (1, 2)])
def test_shapes_that_torch_would_stretch_are_refused(loss, shape):
    message = f"the student's outputs have shape {shape} and the labels (3, 2); expected the same"
    with expect_refusal(WrongShape, message):
        loss(torch.zeros(shape), torch.zeros(3, 2))
