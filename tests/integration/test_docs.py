"""README and docs say what the stored runs say. That their code runs: test_code_blocks.py."""

import re
from pathlib import Path

import pytest
from benchmarks.render_docs import PAGES, ROOT, TABLE, rendered
from tests.pages import PAGES as ALL_PAGES
from tests.pages import name_of, prose_of

from fwl.experiments.catalogue import CATALOGUE
from fwl.experiments.declare import Study
from fwl.report.store import read_result

DECISIONS = set(re.findall(r"^## (D\d+)", (ROOT / "DECISIONS.md").read_text(encoding="utf-8"), re.MULTILINE))
RUNS = sorted(path.parent for path in (ROOT / "docs" / "results").glob("*/results.json"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_table_is_the_stored_runs(page):
    text = page.read_text(encoding="utf-8")
    assert rendered(text) == text


def test_the_readme_and_the_decisions_have_their_tables():
    assert [mark[2] for mark in TABLE.finditer((ROOT / "README.md").read_text())] == ["docs/results/toy"]
    assert [mark[2] for mark in TABLE.finditer((ROOT / "DECISIONS.md").read_text())] == ["docs/results/gaps"]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_every_stored_run_is_whole_and_ran_at_full_size(run):
    result = read_result(run)
    declared = CATALOGUE[result.experiment]
    parts = declared.parts if isinstance(declared, Study) else {declared.name: declared}
    for task, provenance in result.provenance.get("parts", {next(iter(parts)): result.provenance}).items():
        assert result.size == "reduced" or not parts[task].needs_data
        assert len(provenance["seeds"]) == parts[task].sizes[result.size].seeds
    assert {f"{result.experiment}.png", f"{result.experiment}.svg", "report.html"} <= {p.name for p in run.iterdir()}


def test_every_linked_file_exists():
    """On the site as well, and with its anchors: test_site.py."""
    for page in ALL_PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", prose_of(page)):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", ALL_PAGES, ids=name_of)
def test_every_decision_named_on_a_page_exists(page):
    assert set(re.findall(r"\bD\d+\b", prose_of(page))) <= DECISIONS


def test_every_decision_named_in_the_code_exists():
    named = {
        n for path in Path(ROOT / "src").rglob("*.py") for n in re.findall(r"DECISIONS\.md, (D\d+)", path.read_text())
    }
    assert named <= DECISIONS
    assert named
