"""README and docs say what the stored runs say, and their code runs."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from benchmarks.render_docs import PAGES, ROOT, TABLE, rendered

from fwl.experiments.catalogue import CATALOGUE
from fwl.report.store import read_result

CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)
RUNS = sorted(path.parent for path in (ROOT / "docs" / "results").glob("*/results.json"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_table_is_the_stored_runs(page):
    text = page.read_text(encoding="utf-8")
    assert rendered(text) == text


def test_the_readme_and_the_decisions_have_their_tables():
    assert [mark[2] for mark in TABLE.finditer((ROOT / "README.md").read_text())] == ["docs/results/toy"]
    assert [mark[2] for mark in TABLE.finditer((ROOT / "DECISIONS.md").read_text())] == ["docs/results/gaps"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_python_block_runs(page):
    blocks = CODE.findall(page.read_text(encoding="utf-8"))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec("\n".join(blocks), {})
    if page.name == "README.md":
        assert float(printed.getvalue()) < 0.1


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_every_stored_run_is_whole_and_ran_at_full_size(run):
    result = read_result(run)
    declared = CATALOGUE[result.experiment]
    size = "reduced" if declared.needs_data else "paper"
    assert (result.size, len(result.provenance["seeds"])) == (size, declared.sizes[size].seeds)
    assert {f"{result.experiment}.png", f"{result.experiment}.svg", "report.html"} <= {p.name for p in run.iterdir()}


def test_every_linked_file_exists():
    for page in PAGES:
        prose = CODE.sub("", page.read_text(encoding="utf-8"))
        for target in re.findall(r"\]\(([^)#:]+)\)", prose):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_decision_named_in_the_code_exists():
    decisions = set(re.findall(r"^## (D\d+)", (ROOT / "DECISIONS.md").read_text(), re.MULTILINE))
    named = {
        n for path in Path(ROOT / "src").rglob("*.py") for n in re.findall(r"DECISIONS\.md, (D\d+)", path.read_text())
    }
    assert named <= decisions
    assert named
