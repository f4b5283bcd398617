import pytest

from fwl.errors import InvalidInput, WrongShape
from fwl.evaluate.label_budget import label_budget
from tests.refusals import expect_refusal

AMOUNTS = (100, 300, 1000)


def test_it_lies_on_the_line_between_the_amounts_tried():
    assert label_budget(AMOUNTS, (0.5, 0.6, 0.7), 0.55) == pytest.approx(200)
    assert label_budget(AMOUNTS, (0.5, 0.6, 0.7), 0.7) == pytest.approx(1000)
    assert label_budget(AMOUNTS, (0.9, 0.5, 0.4), 0.7, lower_is_better=True) == pytest.approx(200)


def test_the_first_crossing_counts_where_a_curve_falls_again():
    assert label_budget(AMOUNTS, (0.5, 0.7, 0.5), 0.6) == pytest.approx(200)


def test_fewest_and_never():
    assert label_budget(AMOUNTS, (0.5, 0.6, 0.7), 0.5) == 100
    assert label_budget(AMOUNTS, (0.5, 0.6, 0.7), 0.71) is None
    assert label_budget((5,), (0.5,), 0.6) is None


def test_curves_that_are_none_are_refused():
    with expect_refusal(WrongShape, "a learning curve of 3 amounts and 1 scores; expected one for each"):
        label_budget(AMOUNTS, (0.5,), 0.5)
    with expect_refusal(InvalidInput, "amounts of labels rise along a learning curve, got [300, 100]"):
        label_budget((300, 100), (0.5, 0.6), 0.5)
