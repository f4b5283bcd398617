import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import f1_score

from fwl.errors import InvalidInput, NotFinite, WrongShape
from fwl.evaluate import rmse
from fwl.evaluate.measures import positive_negative_f1
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


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40))
def test_the_official_f1_is_scikit_learns(pairs):
    truth, said = (np.array(side) for side in zip(*pairs, strict=True))
    expected = f1_score(truth, said, labels=[0, 2], average="macro", zero_division=0)
    assert positive_negative_f1(np.eye(3)[truth], np.eye(3)[said]) == pytest.approx(expected)


def test_the_official_f1_wants_three_columns():
    with pytest.raises(WrongShape, match=r"expected \[N, 3\]"):
        positive_negative_f1(np.eye(2), np.eye(2))
