"""Every declared experiment, at its smallest, from declaration to page."""

from collections import Counter

import pytest

from fwl.experiments.catalogue import CATALOGUE
from fwl.experiments.runner import run_experiment
from fwl.experiments.tweets import TESTS
from fwl.report.page import write_report
from fwl.report.store import read_result, write_result


@pytest.mark.parametrize("name", CATALOGUE)
def test_it_runs_and_renders(name, tmp_path):
    result = run_experiment(CATALOGUE[name], tmp_path, size="tiny", seeds=2, jobs=1)
    write_result(result, tmp_path)
    written = write_report(read_result(tmp_path), tmp_path)
    assert [path.name for path in written] == [f"{name}.png", f"{name}.svg", "report.html"]
    declared = CATALOGUE[name]
    of_metric = Counter((row.dataset, row.metric, str(row.at)) for row in result.rows)
    possible = [method for method in declared.methods if method != "WA_dense"]  # that one needs an encoder
    assert max(of_metric.values()) == len(possible)  # some metrics are of some methods only
    places = {(dataset, at) for dataset, _, at in of_metric}
    assert len(places) == len(declared.variations) * (len(TESTS) if name.startswith("sentiment") else 1)
    assert all(0.0 <= row.mean < 20.0 and len(row.values) == 2 for row in result.rows)
