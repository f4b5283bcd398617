import numpy as np
import pytest

from fwl.errors import InvalidInput, NotFinite, WrongShape
from fwl.students import Lesson
from tests.refusals import expect_refusal


def test_weights_are_optional():
    assert Lesson([[1.0], [2.0]], [0, 1]).weight is None


def test_labels_become_a_column():
    assert Lesson([[1.0], [2.0]], [0, 1], [0.5, 1]).y.shape == (2, 1)


def test_labels_of_another_length_are_refused():
    with expect_refusal(
        WrongShape, "lesson samples has 2 rows and lesson labels has 3; they describe the same samples"
    ):
        Lesson(np.zeros((2, 1)), np.zeros(3))


def test_weights_of_another_length_are_refused():
    with expect_refusal(
        WrongShape, "lesson weights has 3 rows and lesson labels has 2; they describe the same samples"
    ):
        Lesson(np.zeros((2, 1)), np.zeros(2), np.ones(3))


def test_weights_in_a_matrix_are_refused():
    with expect_refusal(WrongShape, "lesson weights: expected a vector [N], got shape (2, 1)"):
        Lesson(np.zeros((2, 1)), np.zeros(2), np.ones((2, 1)))


def test_an_empty_lesson_is_refused():
    with expect_refusal(InvalidInput, "lesson samples: the set is empty, expected at least one row"):
        Lesson(np.zeros((0, 1)), [])


@pytest.mark.parametrize("broken", [np.nan, np.inf])
@pytest.mark.parametrize(("place", "name"), [(0, "lesson samples"), (1, "lesson labels"), (2, "lesson weights")])
def test_broken_numbers_are_refused(place, name, broken):
    parts = [np.zeros((2, 1)), np.zeros(2), np.ones(2)]
    parts[place] = parts[place] + broken
    with expect_refusal(NotFinite, f"{name}: NaN or infinity in 2 of 2 rows (rows 0, 1); drop or fill them first"):
        Lesson(*parts)
