import numpy as np
import pytest
import torch

from fwl.errors import InvalidInput, NotFinite, UnknownName, WrongShape
from fwl.teach.given import (
    HYPERPARAMETERS,
    as_directions,
    as_lesson,
    as_tensor,
    check_columns,
    check_hyperparameters,
    offset_as_taught,
)
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA

ONE, TWO = torch.ones(1, dtype=torch.float64), torch.tensor([0.5, 2.0], dtype=torch.float64)


@pytest.mark.parametrize("given", [[[1], [2]], np.array([1, 2]), np.array([[1.0], [2.0]], dtype=np.float32)])
def test_numbers_become_a_matrix_in_double_precision(given):
    tensor = as_tensor(given, "teacher inputs")
    assert tensor.dtype == torch.float64
    assert tensor.tolist() == [[1.0], [2.0]]


def test_a_lesson_is_a_copy():
    Z, y, m = np.ones((3, 2)), np.ones((3, 1)), np.ones((3, 1))
    lesson = as_lesson(Z, y, m)
    for array in (Z, y, m):
        array[:] = 7.0
    assert all((part == 1.0).all() for part in lesson)


def test_no_prior_mean_has_no_directions():
    assert as_directions(None, (4, 2)).shape == (4, 2, 0)
    assert as_lesson(np.ones((4, 3)), np.ones((4, 2)), None)[2].shape == (4, 2, 0)


@pytest.mark.parametrize("shape", [(4,), (4, 1), (4, 1, 1)])
def test_a_prior_mean_of_one_column_may_come_in_any_shape(shape):
    assert as_directions(np.arange(4.0).reshape(shape), (4, 1)).flatten().tolist() == [0.0, 1.0, 2.0, 3.0]


def test_directions_keep_their_places():
    given = np.arange(24.0).reshape(4, 2, 3)
    assert torch.equal(as_directions(given, (4, 2)), torch.from_numpy(given))
    assert torch.equal(as_directions(np.asfortranarray(given), (4, 2)), torch.from_numpy(given))


WRONG = {
    "rows": (np.zeros((3, 2)), "prior mean: expected shape (4, 2) like the labels, got (3, 2)"),
    "columns": (np.zeros((4, 1)), "prior mean: expected shape (4, 2) like the labels, got (4, 1)"),
    "directions of other rows": (np.zeros((3, 2, 5)), "prior mean: expected shape (4, 2) like the labels, got (3, 2)"),
    "four dimensions": (
        np.zeros((4, 2, 1, 1)),
        "prior mean: expected a vector or a matrix [N, C], got shape (4, 2, 1, 1)",
    ),
}


@pytest.mark.parametrize(("given", "message"), WRONG.values(), ids=WRONG)
def test_a_prior_mean_of_another_shape_is_refused(given, message):
    with expect_refusal(WrongShape, message):
        as_directions(given, (4, 2))


def test_broken_directions_are_refused():
    given = np.zeros((4, 2, 3))
    given[[1, 3], 0, 2] = np.nan, np.inf
    with expect_refusal(NotFinite, "prior mean: NaN or infinity in 2 of 4 rows (rows 1, 3); drop or fill them first"):
        as_directions(given, (4, 2))


def test_an_offset_is_the_directions_by_their_factors():
    given = np.random.default_rng(0).normal(size=(4, 3, 2))
    np.testing.assert_allclose(
        offset_as_taught(given, TWO, (4, 3)), 0.5 * given[..., 0] + 2.0 * given[..., 1], rtol=0, atol=ALGEBRA
    )


def test_without_a_prior_mean_there_is_no_offset():
    assert offset_as_taught(None, torch.zeros(0), (4, 3)) == 0.0


def test_a_prior_mean_is_given_to_both_or_to_neither():
    with expect_refusal(
        InvalidInput, "this teacher was fitted with a prior mean; give the prior mean of these samples too"
    ):
        offset_as_taught(None, ONE, (4, 3))
    with expect_refusal(InvalidInput, "this teacher was fitted without a prior mean; fit it with one or ask without"):
        offset_as_taught(np.zeros((4, 3)), torch.zeros(0), (4, 3))


def test_other_directions_than_in_fit_are_refused():
    with expect_refusal(WrongShape, "prior mean: expected 2 directions as in fit, got 1"):
        offset_as_taught(np.zeros((4, 3)), TWO, (4, 3))


def test_columns_are_those_of_the_fit():
    check_columns(3, np.zeros((5, 3)))
    with expect_refusal(WrongShape, "teacher inputs: expected [M, 3], got shape (5, 4)"):
        check_columns(3, torch.zeros(5, 4))


@pytest.mark.parametrize("name", HYPERPARAMETERS)
def test_known_ways_of_fitting_pass(name):
    check_hyperparameters(name, 1)


def test_unknown_ways_of_fitting_are_refused():
    message = "unknown choice of hyperparameters 'magic'; known: fixed, evidence, evidence_with_prior"
    with expect_refusal(UnknownName, message):
        check_hyperparameters("magic", 1)
    with expect_refusal(InvalidInput, "starts is at least 1, got -2"):
        check_hyperparameters("fixed", -2)
