import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fwl.errors import InvalidInput, NotFinite, WrongShape
from fwl.evaluate import rmse
from tests.properties import PROPERTY
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA

NUMBERS = st.floats(-1e3, 1e3)


def test_by_hand():
    assert rmse([0.0, 0.0], [3.0, 4.0]) == pytest.approx(np.sqrt(12.5), abs=ALGEBRA)
    assert rmse([[0.0, 1.0], [2.0, 3.0]], [[0.0, 1.0], [2.0, 7.0]]) == pytest.approx(2.0, abs=ALGEBRA)


@PROPERTY
@given(truth=arrays(np.float64, 5, elements=NUMBERS), shift=NUMBERS)
def test_a_constant_error_is_its_own_size(truth, shift):
    assert rmse(truth, truth) == 0.0
    assert rmse(truth, truth + shift) == pytest.approx(abs(shift), abs=ALGEBRA)


def test_a_vector_is_one_column():
    assert rmse([1.0, 2.0], [[2.0], [3.0]]) == 1.0


@pytest.mark.parametrize("shape", [(2, 1), (3, 2)])
def test_predictions_of_another_shape_are_refused(shape):
    with expect_refusal(WrongShape, f"truth has shape (3, 1) and prediction has shape {shape}; expected the same"):
        rmse(np.zeros(3), np.zeros(shape))


def test_broken_predictions_are_refused():
    with expect_refusal(NotFinite, "prediction: NaN or infinity in 1 of 2 rows (rows 0); drop or fill them first"):
        rmse([0.0, 1.0], [np.nan, 1.0])


def test_nothing_has_no_error():
    with expect_refusal(InvalidInput, "truth: the set is empty, expected at least one row"):
        rmse([], [])
