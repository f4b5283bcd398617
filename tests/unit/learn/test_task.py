import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.properties import PROPERTY
from tests.tolerances import ALGEBRA

from fwl.learn.task import (
    BINARY,
    MULTICLASS,
    PREFERENCE,
    REGRESSION,
    TASKS,
    identity,
    mean_over_outputs,
    sigmoid,
    softmax,
)
from fwl.students.losses import binary_cross_entropy, cross_entropy, squared_error

OUTPUTS = arrays(np.float64, (5, 3), elements=st.floats(-1e3, 1e3))


@pytest.mark.parametrize(
    ("task", "link", "loss", "has_classes"),
    [
        (REGRESSION, identity, squared_error, False),
        (BINARY, sigmoid, binary_cross_entropy, True),
        (PREFERENCE, sigmoid, binary_cross_entropy, True),
        (MULTICLASS, softmax, cross_entropy, True),
    ],
    ids=["regression", "binary", "preference", "multiclass"],
)
def test_a_task_is_its_link_aggregate_and_loss(task, link, loss, has_classes):
    assert (task.link, task.aggregate, task.loss) == (link, mean_over_outputs, loss)
    assert task.has_classes is has_classes


def test_tasks_are_known_by_their_names():
    assert list(TASKS) == ["regression", "binary", "preference", "multiclass"]
    assert all(task.name == name for name, task in TASKS.items())


@PROPERTY
@given(OUTPUTS)
def test_a_number_is_its_own_label(outputs):
    assert np.array_equal(identity(outputs), outputs)


@PROPERTY
@given(OUTPUTS)
def test_sigmoid_gives_a_probability_to_each_column_by_itself(outputs):
    p = sigmoid(outputs)
    assert ((p >= 0) & (p <= 1)).all()
    np.testing.assert_allclose(p + sigmoid(-outputs), 1.0, atol=ALGEBRA)
    assert np.array_equal(p[:, :1], sigmoid(outputs[:, :1]))


@PROPERTY
@given(OUTPUTS, st.floats(-100, 100))
def test_softmax_gives_a_distribution_and_sees_differences_only(outputs, more):
    p = softmax(outputs)
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=ALGEBRA)
    np.testing.assert_allclose(softmax(outputs + more), p, atol=ALGEBRA)


@PROPERTY
@given(arrays(np.float64, (5, 1), elements=st.floats(-50, 50)))
def test_sigmoid_is_the_softmax_of_two_of_which_one_is_zero(output):
    two = softmax(np.hstack([np.zeros_like(output), output]))
    np.testing.assert_allclose(sigmoid(output), two[:, 1:], atol=ALGEBRA)


def test_links_by_hand():
    assert sigmoid(np.log([[3.0]])) == pytest.approx(np.array([[0.75]]))
    assert softmax(np.log([[1.0, 2.0, 5.0]])) == pytest.approx(np.array([[0.125, 0.25, 0.625]]))


def test_the_aggregate_is_the_mean_over_outputs_and_one_output_itself():
    assert mean_over_outputs(np.array([[1.0, 2.0, 6.0], [0.0, 0.0, 0.0]])).tolist() == [3.0, 0.0]
    assert mean_over_outputs(np.array([[0.1], [0.7]])).tolist() == [0.1, 0.7]


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_the_loss_is_least_where_the_link_of_the_outputs_is_the_label(task):
    """The slope by the outputs is link(outputs) - label, up to a factor: link and loss belong together."""
    columns = 3 if task is MULTICLASS else 1
    rng = np.random.default_rng(0)
    outputs = torch.tensor(rng.normal(size=(6, columns)), requires_grad=True)
    label = MULTICLASS.link(rng.normal(size=(6, columns))) if columns > 1 else rng.uniform(size=(6, 1))
    task.loss(outputs, torch.from_numpy(label)).sum().backward()
    surplus = task.link(outputs.detach().numpy()) - label
    np.testing.assert_allclose(outputs.grad, surplus * (2 if task is REGRESSION else 1), atol=ALGEBRA)
