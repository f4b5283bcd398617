import numpy as np
import pytest

from fwl.learn.beliefs import ACCURACY, EXPECTED, cautious_covariance, cautious_error, shrunk
from fwl.learn.compare_methods import COMPARED, standard_error


def test_every_method_is_expected_to_do_something():
    assert set(EXPECTED) == set(COMPARED)


def test_more_rows_are_believed_more():
    difference = np.array([0.0, 1.0] * 10)
    few, many = (shrunk(np.tile(difference, times), 0.0, ACCURACY)[0] for times in (1, 50))
    assert 0 < few < many < 0.5


def test_rows_that_all_agree_leave_some_doubt():
    believed, deviation = shrunk(np.zeros(10), -0.01, ACCURACY)
    assert deviation > 0
    assert -0.01 < believed < 0


def test_one_row_that_differs_is_luck():
    difference = np.zeros(50)
    difference[7] = 1.0
    assert cautious_error(difference, 1.0) == pytest.approx(np.sqrt(3 - 0.02) / 50)
    assert cautious_error(difference, 1.0) > 1.5 * standard_error(difference)


def test_many_rows_that_differ_have_the_usual_error():
    difference = np.random.default_rng(0).normal(size=5000)
    assert cautious_error(difference, 1.0) == pytest.approx(standard_error(difference), rel=0.01)


def test_errors_of_several_means_over_the_same_rows_go_together_as_the_rows_do():
    one = np.random.default_rng(0).normal(size=5000)
    both = cautious_covariance(np.stack([one, one + 1e-3, -one]), 1.0)
    assert both[0, 0] == pytest.approx(cautious_error(one, 1.0) ** 2)
    assert both[0, 1] == pytest.approx(both[0, 0], rel=1e-3)
    assert both[0, 2] == pytest.approx(-both[0, 0], rel=2e-3)  # but for the two rows that were added
