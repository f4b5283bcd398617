import sys

import numpy as np
import pytest
import torch
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput
from fwl.experiments.bandit import FIRST, SEARCHES, check_botorch, suggest_any, suggest_by_bandit
from fwl.experiments.grid import Grid
from fwl.randomness import Chance

GRID = Grid({"rate": tuple(10.0**i for i in range(-6, 6)), "share": tuple(i / 11 for i in range(12))})
HUGE = Grid({f"knob {i}": tuple(range(8)) for i in range(8)})


def height(grid, point):
    """One hill: its top at three quarters of the first way and a third of the second."""
    x, y = grid.encoded([point])[0, :2]
    return float(-((x - 0.75) ** 2) - (y - 0.33) ** 2)


def tried(search, grid, trials, q, seed):
    known = {}
    while len(known) < trials:
        known |= {point: height(grid, point) for point in search(grid, known, q, Chance(seed))}
    return known


def rank_of_best(search, trials, seed):
    best = max(tried(search, GRID, trials, 4, seed).values())
    return sum(height(GRID, point) > best for point in range(len(GRID)))


def test_the_bandit_climbs_faster_than_chance():
    ranks = {name: [rank_of_best(search, 12, seed) for seed in range(20)] for name, search in SEARCHES.items()}
    assert np.mean(ranks["bandit"]) < 1.0
    assert np.mean(ranks["random"]) > 5.0


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_suggestions_are_new_different_and_the_same_again(search):
    known = tried(search, GRID, 8, 2, 3)
    again = [search(GRID, known, 3, Chance(3)) for _ in range(2)]
    assert again[0] == again[1]
    assert len(set(again[0])) == 3
    assert not known.keys() & set(again[0])
    assert search(GRID, {}, 3, Chance(3)) != search(GRID, {}, 3, Chance(4))


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_a_grid_is_tried_to_its_end(search):
    grid = Grid({"a": (1, 2, 3), "b": (1, 2)})
    known = {}
    for _ in range(2):
        known |= {point: height(grid, point) for point in search(grid, known, 4, Chance(0))}
    assert sorted(known) == list(range(6))
    assert search(grid, known, 4, Chance(0)) == []


def test_first_suggestions_are_spread_out():
    first = suggest_by_bandit(GRID, {}, FIRST, Chance(0))
    places = GRID.encoded(first)
    assert len(first) == 4
    assert (np.ptp(places, axis=0) > 0.5).all()


def test_first_suggestions_follow_each_other_however_many_are_asked_for():
    together = suggest_by_bandit(GRID, {}, 4, Chance(1))
    one_by_one = []
    for _ in range(4):
        one_by_one += suggest_by_bandit(GRID, dict.fromkeys(one_by_one, 0.0), 1, Chance(1))
    assert one_by_one == together


def test_failed_trials_count_as_the_worst_and_are_left_alone():
    known = tried(suggest_by_bandit, GRID, 8, 2, 0)
    (other,) = suggest_any(GRID, known, 1, Chance(0))
    failed, bad = ({**known, other: value} for value in (None, min(known.values())))
    assert suggest_by_bandit(GRID, failed, 2, Chance(0)) == suggest_by_bandit(GRID, bad, 2, Chance(0))


def test_where_all_failed_the_search_goes_on_spreading_out():
    known = dict.fromkeys(suggest_by_bandit(GRID, {}, 6, Chance(0)))
    assert not known.keys() & set(suggest_by_bandit(GRID, known, 2, Chance(0)))


def test_equal_values_are_no_trouble():
    known = dict.fromkeys(suggest_by_bandit(GRID, {}, 5, Chance(0)), 0.5)
    assert len(suggest_by_bandit(GRID, known, 2, Chance(0))) == 2


def test_a_model_that_cannot_be_fitted_is_no_trouble(monkeypatch):
    check_botorch()  # to import it says something of torch

    def fails(_):
        from botorch.exceptions import ModelFittingError

        raise ModelFittingError

    monkeypatch.setattr("botorch.fit.fit_gpytorch_mll", fails)
    known = tried(suggest_any, GRID, 6, 2, 0)
    assert len(set(suggest_by_bandit(GRID, known, 2, Chance(0))) - known.keys()) == 2


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_of_a_huge_grid_only_some_points_are_looked_at(search):
    known = {point: float(point % 7) for point in suggest_any(HUGE, {}, 10, Chance(0))}
    assert len(set(search(HUGE, known, 2, Chance(0))) - known.keys()) == 2


def test_torchs_own_generator_is_left_as_it_was():
    known = tried(suggest_any, GRID, 6, 2, 0)
    before = torch.get_rng_state()
    suggest_by_bandit(GRID, known, 1, Chance(0))
    assert torch.equal(before, torch.get_rng_state())


def test_without_botorch_the_way_to_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "botorch", None)
    message = "the bandit needs botorch; install it with: pip install 'fwl[tune]', or give --search random"
    with expect_refusal(InvalidInput, message):
        suggest_by_bandit(GRID, tried(suggest_any, GRID, 6, 2, 0), 1, Chance(0))
