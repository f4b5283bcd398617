import numpy as np
import pytest
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput
from fwl.experiments.grid import Grid

GRID = Grid(
    {
        "hidden": ((32,), (128,), (32, 128), (128, 32)),
        "rate": (1e-5, 1e-3),
        "dropout": (0.0, 0.2, 0.5),
        "kind": ("a", "b", "c"),
    }
)


def test_points_and_settings_are_two_names_of_the_same():
    found = [GRID.settings(point) for point in range(len(GRID))]
    assert len(GRID) == 4 * 2 * 3 * 3
    assert [GRID.point(settings) for settings in found] == list(range(len(GRID)))


def test_lists_are_read_as_tuples():
    settings = GRID.settings(40)
    assert GRID.point({**settings, "hidden": list(settings["hidden"])}) == 40


def test_every_point_has_a_row_of_its_own_between_0_and_1():
    rows = GRID.encoded(range(len(GRID)))
    assert rows.min() == 0.0
    assert rows.max() == 1.0
    assert len(np.unique(rows, axis=0)) == len(GRID)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((0.0, 0.2, 0.5), [[0.0], [0.4], [1.0]]),
        ((1e-5, 1e-4, 1e-3), [[0.0], [0.5], [1.0]]),  # decades lie equally far apart
        ((32, 64, 128), [[0.0], [0.5], [1.0]]),
        ((200, 300), [[0.0], [1.0]]),
        ((False, True), [[0.0], [1.0]]),
        (("x", "y"), [[1.0, 0.0], [0.0, 1.0]]),
        ((7,), [[0.0]]),
        (((64,), (64, 64)), [[0.0, 0.0], [0.0, 1.0]]),
        (((32,), (64,)), [[0.0, 0.0], [0.0, 1.0]]),
    ],
)
def test_values_become_numbers_by_their_kind(values, expected):
    grid = Grid({"one": values})
    assert grid.encoded(range(len(grid))) == pytest.approx(np.array(expected))


def test_no_layer_at_all_can_be_told_from_one():
    grid = Grid({"hidden": ((), (16,), (16, 16))})
    assert len(np.unique(grid.encoded(range(3)), axis=0)) == 3


def test_neighbours_differ_in_one_setting():
    here = GRID.settings(11)
    found = [GRID.settings(point) for point in GRID.neighbours(11)]
    assert len(found) == 3 + 1 + 2 + 2
    assert {sum(here[name] != other[name] for name in here) for other in found} == {1}


def test_shares_of_the_way_reach_every_point():
    grid = Grid({"a": (1, 2), "b": (1, 2, 3)})
    found = {grid.nearest((a, b)) for a in (0.0, 0.5, 1.0) for b in (0.0, 0.34, 0.67, 1.0)}
    assert found == set(range(6))


def test_values_given_twice_or_not_at_all_are_refused():
    expected = "expected at least one, and none twice"
    with expect_refusal(InvalidInput, f"the grid's values of rate are (): {expected}"):
        Grid({"rate": ()})
    with expect_refusal(InvalidInput, f"the grid's values of rate are (1, 1): {expected}"):
        Grid({"rate": (1, 1)})


def test_settings_that_are_not_on_the_grid_are_refused():
    grid = Grid({"rate": (1, 2)})
    with expect_refusal(InvalidInput, "rate=3 is not on the grid; expected one of (1, 2)"):
        grid.point({"rate": 3})
    with expect_refusal(InvalidInput, "a point of the grid has settings rate; got rat"):
        grid.point({"rat": 1})
