import re

import pytest
from tests.refusals import expect_refusal
from tests.unit.report.examples import PROVENANCE, row, sweep_result, table_result
from tests.unit.report.test_page import Outside

from fwl.errors import OutputTrouble
from fwl.report.claims import CLAIMS
from fwl.report.results_page import as_html_page, as_markdown_page, read_runs, write_results_page
from fwl.report.store import write_result


def ranking():
    rows = tuple(
        row(m, v, v + 0.1, dataset="nfcorpus", metric="MAP", lower=False) for m, v in (("WA", 0.3), ("FWL", 0.2))
    )
    return table_result(experiment="ranking", rows=rows, settings={"data": "nfcorpus"})


RUNS = {"toy": table_result(), "ranking-nfcorpus": ranking(), "beta": sweep_result()}


@pytest.fixture
def stored(tmp_path):
    for name, run in {"gaps": table_result(experiment="gaps"), **RUNS}.items():
        (tmp_path / name).mkdir()
        write_result(run, tmp_path / name)
    return tmp_path


def test_the_markdown_page_has_every_section_and_says_what_was_not_run():
    page = as_markdown_page(RUNS, "results/")
    headings = re.findall(r"^#+ .*", page, re.MULTILINE)
    assert headings == [
        "# Results", "## What was run", "## The toy problem", "## Sentiment of tweets", "## Document ranking",
        "### nfcorpus", "### The paper, on its own collections", "## The paper's analyses",
        "### How far to trust the teacher: β", "### More weak data, more strong data",
        "### Better and worse annotators",
        "### Fidelity as a learning rate or as a chance to be drawn", "### Which teacher",
        "## The claims of the paper's analysis",
    ]  # fmt: skip
    assert page.count("\nNot run.\n") == 5
    assert "![The <toy>](results/toy/toy.svg)" in page
    for figure in ("0.4143", "0.3124", "0.1472"):  # the paper's, of the toy and of its two collections
        assert figure in page


def test_every_claim_is_on_the_page_with_its_verdict_and_its_rule():
    page = as_markdown_page(RUNS)
    for claim in CLAIMS:
        assert re.search(
            rf"\| {re.escape(claim.text)} \| .* \| \*\*(holds|does not hold|not decided here)\*\* \|", page
        )
        assert f"| {claim.text} | {claim.rule} |" in page


def test_the_html_page_needs_no_other_file_and_its_ids_are_its_own():
    page = as_html_page(RUNS)
    reader = Outside()
    reader.feed(page)
    assert reader.found == []
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert page.count("<svg") == len(RUNS)
    assert "The &lt;toy&gt;" in page


def test_runs_without_any_are_a_page_too():
    assert as_markdown_page({}).count("\nNot run.\n") == 8


def test_runs_of_several_tasks_are_told_task_by_task():
    parts = {"toy": {"seeds": [0, 1, 2], "data_sha256": "ab" * 32, "seconds": 5.0}, "ranking": {"seeds": [0]}}
    page = as_markdown_page({"beta": table_result(experiment="beta", provenance={**PROVENANCE, "parts": parts})})
    assert "| `beta`, toy | paper | 0 to 2 | 0.1.0 | `abababababab` | 5 |" in page
    assert "| `beta`, ranking | paper | 0 | 0.1.0 |  | 0 |" in page


def test_runs_of_other_names_are_left_out_and_the_page_has_its_own_order(stored):
    runs = read_runs(stored)
    assert set(runs) == {"toy", "ranking-nfcorpus", "beta"}
    assert as_markdown_page(runs) == as_markdown_page(RUNS)
    assert re.findall(r"^\| `([\w-]+)` \| paper", as_markdown_page(runs), re.MULTILINE) == list(RUNS)


def test_both_pages_are_written_or_the_one_asked_for(stored):
    assert [path.name for path in write_results_page(stored)] == ["results.md", "results.html"]
    assert "](toy/toy.svg)" in (stored / "results.md").read_text()
    (stored / "deep").mkdir()
    (page,) = write_results_page(stored, page=stored / "deep" / "page.md")
    assert "](../toy/toy.svg)" in page.read_text()
    (page,) = write_results_page(stored, runs={"toy": RUNS["toy"]}, page=stored / "page.html")
    assert page.read_text().count("<svg") == 1


def test_the_same_runs_give_the_same_pages():
    assert as_html_page(RUNS) == as_html_page(RUNS)


def test_a_folder_without_a_run_of_the_suite_is_refused(tmp_path):
    message = (
        f"no run of the suite below {tmp_path}; expected folders such as toy or sentiment, each with its results.json, "
        f"as `fwl reproduce all --out {tmp_path}` writes them"
    )
    with expect_refusal(OutputTrouble, message):
        read_runs(tmp_path)
