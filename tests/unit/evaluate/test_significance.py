"""Student's t has closed forms for one and two degrees of freedom: p-values by hand."""

import math

import numpy as np
import pytest

from fwl.evaluate import compare
from fwl.evaluate.significance import LEVEL, beaten, paired_p
from tests.tolerances import ALGEBRA

ZERO = [0.0, 0.0, 0.0]


def with_two_degrees_of_freedom(t: float) -> float:
    return 1 - abs(t) / math.sqrt(t**2 + 2)


def test_three_pairs_by_hand():
    """Differences 1, 2, 3: mean 2, deviation 1, t = 2 sqrt(3)."""
    expected = with_two_degrees_of_freedom(2 * math.sqrt(3))
    assert expected == pytest.approx(0.0742, abs=5e-5)
    assert paired_p([1.0, 2.0, 3.0], ZERO) == pytest.approx(expected, abs=ALGEBRA)


def test_two_pairs_by_hand():
    """Differences 1, 3: mean 2, deviation sqrt(2), t = 2; one degree of freedom is a Cauchy."""
    assert paired_p([1.0, 3.0], [0.0, 0.0]) == pytest.approx(1 - 2 / math.pi * math.atan(2), abs=ALGEBRA)


def test_two_tails_make_the_order_irrelevant():
    a, b = [0.5, 0.7, 0.4, 0.9], [0.6, 0.9, 0.3, 1.4]
    assert paired_p(a, b) == pytest.approx(paired_p(b, a), abs=ALGEBRA)


def test_pairs_matter():
    a = [1.0, 2.0, 3.0, 4.0]
    assert paired_p(a, [1.1, 2.2, 3.1, 4.2]) < paired_p(a, [4.2, 3.1, 2.2, 1.1])


@pytest.mark.parametrize("a", [[], [1.0]])
def test_fewer_than_two_pairs_tell_nothing(a):
    assert paired_p(a, [2.0] * len(a)) == 1.0


def test_equal_values_tell_nothing():
    assert paired_p([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]) == 1.0
    assert paired_p(ZERO, ZERO) == 1.0


def test_a_difference_of_rounding_tells_nothing():
    assert paired_p([0.1 + 0.2] * 3, [0.3, 0.3, 0.1 + 0.2]) == 1.0


def test_the_same_difference_every_time_is_certain():
    assert paired_p([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]) == 0.0


def test_the_same_difference_but_for_rounding_is_certain_too():
    assert paired_p([0.1, 0.2, 0.3], [0.2, 0.3, 0.4]) == 0.0


METHODS = {"good": [1.0, 2.0, 3.0], "middle": [2.0, 4.0, 6.0], "bad": [11.0, 12.5, 12.0]}


def test_each_method_is_compared_with_those_it_beats():
    beats = {name: set(against) for name, against in compare(METHODS, lower_is_better=True).items()}
    assert beats == {"good": {"middle", "bad"}, "middle": {"bad"}, "bad": set()}
    beats = {name: set(against) for name, against in compare(METHODS, lower_is_better=False).items()}
    assert beats == {"good": set(), "middle": {"good"}, "bad": {"middle", "good"}}


def test_p_values_are_multiplied_by_the_number_of_comparisons():
    """Against "middle" the differences are 1, 2, 3 again; three methods make two comparisons each."""
    p = compare(METHODS, lower_is_better=True)["good"]["middle"]
    assert p == pytest.approx(2 * with_two_degrees_of_freedom(2 * math.sqrt(3)), abs=ALGEBRA)


def test_corrected_p_values_stop_at_one():
    rng = np.random.default_rng(0)
    noise = {str(i): rng.normal(size=4).tolist() for i in range(12)}
    p_values = [p for against in compare(noise, lower_is_better=True).values() for p in against.values()]
    assert max(p_values) == 1.0
    assert min(p_values) >= 0.0


def test_equal_means_beat_nobody():
    assert compare({"a": [1.0, 2.0], "b": [2.0, 1.0]}, lower_is_better=True) == {"a": {}, "b": {}}


def test_one_method_has_nobody_to_beat():
    assert compare({"a": [1.0, 2.0]}, lower_is_better=True) == {"a": {}}
    assert compare({}, lower_is_better=True) == {}


def test_beaten_are_those_below_the_level():
    assert beaten({"a": 0.049, "b": LEVEL, "c": 0.2, "d": 0.0}) == ("a", "d")
    assert beaten({}) == ()
