"""README and docs say what the stored runs say. That their code runs: test_code_blocks.py."""

import re
from pathlib import Path

import pytest
from benchmarks.render_docs import PAGES, ROOT, TABLE, rendered
from tests.pages import DOCS, name_of, prose_of
from tests.pages import PAGES as ALL_PAGES

from fwl.experiments.catalogue import CATALOGUE
from fwl.experiments.declare import Study
from fwl.report.store import read_result

DECISIONS = set(re.findall(r"^## (D\d+)", (ROOT / "DECISIONS.md").read_text(encoding="utf-8"), re.MULTILINE))
MARKED = re.compile(r"<!-- (?:wide )?(?:table|rows|page): .*?<!-- end of (?:table|rows|page) -->", re.DOTALL)
MEASURED = re.compile(r"(?<![\w.=])0\.\d+|\d+ (?:of|in) 100\b|\d+(?:\.\d+)? %")
# The figures that sentences give, outside the rendered tables: of which stored run, row and metric each is the mean.
# A level of significance is not measured.
STATED = {
    "docs/reproducing.md": {
        "0.05": None,
        "0.03": ("toy-teachers", "FWL_GP", "classes, calibrated", "ECE of the teacher"),
        "73 of 100": ("ranking-cranfield", "NN_W", "cranfield", "accuracy on pairs"),
    },
    "docs/rooms/report.md": {"0.05": None},
}
SEEDS = {"sentiment-fresh-seeds": 8}  # of runs that have another number than their size
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
        assert len(provenance["seeds"]) == SEEDS.get(run.name, parts[task].sizes[result.size].seeds)
    assert {f"{result.experiment}.png", f"{result.experiment}.svg", "report.html"} <= {p.name for p in run.iterdir()}


@pytest.mark.parametrize("page", [p for p in ALL_PAGES if DOCS in p.parents], ids=name_of)
def test_every_measured_figure_in_a_sentence_is_a_stored_runs(page):
    prose = re.sub(r"`[^`\n]*`", "", MARKED.sub("", prose_of(page)))
    stated = STATED.get(name_of(page), {})
    assert set(MEASURED.findall(prose)) == set(stated)
    for figure, source in stated.items():
        assert source is None or figure == as_stated(figure, *source)


def as_stated(figure, run, method, dataset, metric):
    """The mean that a run stored, written as a sentence writes it."""
    rows = read_result(DOCS / "results" / run).rows
    (mean,) = (row.mean for row in rows if (row.method, row.dataset, row.metric) == (method, dataset, metric))
    return f"{100 * mean:.0f} of 100" if figure.endswith("100") else f"{mean:.2f}"


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
