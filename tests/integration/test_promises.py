"""The figures promised for the toy problem, over twenty seeds and twenty fresh ones."""

import pytest

from fwl.evaluate.significance import paired_p
from fwl.experiments.catalogue import TOY
from fwl.experiments.runner import run_experiment

pytestmark = pytest.mark.slow
ROWS = ["NN_W", "NN_W->S", "FWL", "FWL_auto"]


def rows(tmp_path, *assignments):
    result = run_experiment(TOY, tmp_path, methods=ROWS, assignments=assignments)
    return {row.method: row for row in result.rows}


@pytest.mark.parametrize("seed", [0, 1000])
def test_the_papers_order_and_figures_hold(tmp_path, seed):
    row = rows(tmp_path, f"seed={seed}")
    assert row["NN_W"].mean > row["NN_W->S"].mean > row["FWL"].mean
    assert row["FWL"].mean <= 0.4143
    assert paired_p(row["FWL"].values, row["NN_W->S"].values) < 0.05
    assert row["FWL_auto"].mean <= 0.33


def test_with_an_informative_weak_function_auto_loses_to_nobody(tmp_path):
    row = rows(tmp_path, "weak=sin(x) + 0.5*cos(x/2)")
    assert row["FWL_auto"].mean <= row["NN_W->S"].mean
    assert row["FWL_auto"].mean <= row["FWL"].mean
