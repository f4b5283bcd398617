"""Everything that can be reproduced, at its smallest, from declaration to page."""

from collections import Counter

import pytest

from fwl.experiments.catalogue import CATALOGUE
from fwl.experiments.declare import Study
from fwl.experiments.studies import run
from fwl.experiments.tweets import TESTS
from fwl.report.page import write_report
from fwl.report.store import read_result, write_result

SEEDS = {name: 1 if isinstance(declared, Study) else 2 for name, declared in CATALOGUE.items()}


@pytest.mark.parametrize("name", CATALOGUE)
def test_it_runs_and_renders(name, tmp_path):
    result = run(name, tmp_path, size="tiny", seeds=SEEDS[name], jobs=1)
    write_result(result, tmp_path)
    written = write_report(read_result(tmp_path), tmp_path)
    assert [path.name for path in written] == [f"{name}.png", f"{name}.svg", "report.html"]
    declared = CATALOGUE[name]
    parts = declared.parts if isinstance(declared, Study) else {name: declared}
    of_metric = Counter((row.dataset, row.metric, str(row.at)) for row in result.rows)
    possible = max(len([method for method in part.methods if method != "WA_dense"]) for part in parts.values())
    assert max(of_metric.values()) == possible  # some metrics are of some methods only; WA_dense needs an encoder
    places = {(dataset, at) for dataset, _, at in of_metric}
    tests = {task: len(TESTS) if task.startswith("sentiment") else 1 for task in parts}
    assert len(places) == sum(len(part.variations_at("tiny")) * tests[task] for task, part in parts.items())
    assert all(0.0 <= row.mean < 20.0 and len(row.values) == SEEDS[name] for row in result.rows)
