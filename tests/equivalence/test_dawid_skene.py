"""Dawid and Skene's model is the one that crowd-kit fits."""

import numpy as np
import pytest
from benchmarks import votes

from fwl.annotate.votes import ballots_from_matrix, fit_dawid_skene
from tests.tolerances import OPTIMISED

TINY = 1e-10  # crowd-kit adds no votes; with so many samples no cell is without one


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.filterwarnings("ignore:::crowdkit")
def test_it_believes_what_crowd_kit_believes(classes, monkeypatch):
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    monkeypatch.setattr("fwl.annotate.votes.NEAR_ENOUGH", 1e-12)  # both run to the end
    matrix, _ = votes.crowd(2000, 6, classes, seed=1)
    ballots = ballots_from_matrix(matrix[(matrix >= 0).any(axis=1)], classes)
    frame = pd.DataFrame({"task": ballots.row, "worker": ballots.who, "label": ballots.choice})
    theirs = DawidSkene(n_iter=1000, tol=1e-13).fit(frame).probas_.sort_index()[list(range(classes))]
    ours = fit_dawid_skene(ballots, pseudo=TINY, rounds=1000).combine(ballots)
    np.testing.assert_allclose(ours, theirs.to_numpy(), atol=OPTIMISED)
    assert np.mean(ours.max(axis=1) < 0.99) > 0.05  # not all of them are sure


def test_the_benchmark_measures_both_on_the_same_votes(monkeypatch, capsys):
    monkeypatch.setattr(votes, "CROWDS", ((60, 4, 2),))
    monkeypatch.setattr(votes, "REPEATS", 1)
    votes.main([])
    told = capsys.readouterr().out
    assert "'samples': 60" in told
    assert "'ratio'" in told
