"""`fwl reproduce all`: everything at its smallest, and its pages. Killed and gone on with: test_suite_killed.py."""

import json
import re
from pathlib import Path

import pytest
from benchmarks.render_docs import ROOT
from tests.commands import fwl, refused

from fwl.experiments import studies, suite
from fwl.report import results_page
from fwl.report.claims import CLAIMS, FAILS, HOLDS, OPEN

NAMES = (*list(suite.SUITE)[:-1], "ranking-made")


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    out = tmp_path_factory.mktemp("all")
    return fwl("reproduce", "all", "--size", "tiny", "--seeds", 1, "--jobs", 1, "--out", out), out


def test_every_entry_has_its_results_its_figures_and_its_page(everything):
    done, out = everything
    assert done.returncode == 0, done.stderr
    assert {path.name for path in out.iterdir()} == {*NAMES, "journal.jsonl", "results.md", "results.html"}
    for name in NAMES:
        stored = json.loads((out / name / "results.json").read_text())
        assert (stored["size"], bool(stored["rows"])) == ("tiny", True)
        figures = {f"{stored['experiment']}.{kind}" for kind in ("png", "svg")}
        assert {"report.html", *figures} <= {path.name for path in (out / name).iterdir()}


def test_it_says_how_far_it_is_and_what_became_of_every_claim(everything):
    done, out = everything
    lines = done.stderr.splitlines()
    assert len(lines) == len(NAMES)
    for number, (name, line) in enumerate(zip(NAMES, lines, strict=True), start=1):
        assert re.fullmatch(rf"entry {number} of {len(NAMES)}: {name}; about (\d+ h )?\d+ (s|min) left", line)
    assert done.stdout.endswith(f"written: {out / 'results.md'}, {out / 'results.html'}\n")


@pytest.mark.parametrize("file", ["results.md", "results.html"])
def test_the_pages_have_every_table_and_a_verdict_on_every_claim(everything, file):
    page = (everything[1] / file).read_text()
    assert "Not run." not in page
    text = re.sub(r"</?(strong|code)>|[`*]", "", page)
    lines = [line for line in re.split(r"\n|(?=<tr>)", text) if any(word in line for word in (HOLDS, FAILS, OPEN))]
    for claim in CLAIMS:
        told = re.sub(r"[`*]", "", claim.text)
        assert any(told in line for line in lines), told
    for figure in ("SemEval-15", "made-collection", "Robust04", "toy**"):
        assert figure.replace("*", "") in text


def test_a_folder_of_runs_is_reported_again_and_finished_ones_are_not_run_again(everything, monkeypatch):
    _, out = everything
    page = (out / "results.html").read_bytes()
    (out / "results.html").unlink()
    assert fwl("report", out).stdout == f"{out / 'results.md'}\n{out / 'results.html'}\n"
    assert (out / "results.html").read_bytes() == page
    monkeypatch.setattr(studies, "run", None)
    again = fwl("reproduce", "all", "--size", "tiny", "--seeds", 1, "--out", out, "--resume", "--json", "--quiet")
    assert (again.returncode, again.stderr) == (0, "")
    told = json.loads(again.stdout)
    assert tuple(told["runs"]) == NAMES
    assert {claim["verdict"] for claim in told["claims"]} <= {HOLDS, FAILS, OPEN}


def test_an_entry_that_fails_is_told_and_the_others_are_kept(tmp_path, monkeypatch):
    plan = [suite.Entry("ranking-no", "ranking", 1.0, Path("nowhere")), suite.Entry("toy", "toy", 1.0)]
    monkeypatch.setattr(suite, "entries", lambda size, data: plan)
    done = fwl("reproduce", "all", "--size", "tiny", "--seeds", 1, "--jobs", 1, "--out", tmp_path, "--quiet")
    assert done.returncode == 2
    assert done.stderr == (
        "error: ranking-no: --data nowhere: there is no such folder\n"
        "the same command with --resume runs what is missing\n"
    )
    assert "| `1 WA` |" in (tmp_path / "results.md").read_text()
    assert (tmp_path / "journal.jsonl").read_text().count("\n") == 2


def test_a_fault_of_ours_is_shown_whole_and_has_its_own_exit_code(tmp_path, monkeypatch):
    monkeypatch.setattr(studies, "run", lambda *_, **__: 1 / 0)
    done = fwl("reproduce", "all", "--size", "tiny", "--out", tmp_path, "--quiet")
    assert done.returncode == 1
    assert "ZeroDivisionError: division by zero\nerror: toy: division by zero" in done.stderr
    assert not (tmp_path / "results.md").exists()


def test_what_cannot_be_run_is_refused_before_anything_is(tmp_path):
    out = tmp_path / "out"
    real = (
        "all reads real data; name the folder above sentiment and ranking by --data DIR, or give --size tiny for "
        "made-up data"
    )
    assert refused(fwl("reproduce", "all", "--size", "reduced", "--out", out), real)
    assert refused(fwl("reproduce", "all", "--out", out), real)
    empty = tmp_path / "empty"
    empty.mkdir()
    missing = (
        f"--data {empty}: there is no sentiment in it; expected a folder that has sentiment and ranking/COLLECTION "
        "below it"
    )
    assert refused(fwl("reproduce", "all", "--size", "reduced", "--data", empty, "--out", out), missing)
    own = "all runs every experiment as it is declared; --set and --methods are for one: `fwl reproduce EXPERIMENT`"
    for option in (("--set", "beta=2"), ("--methods", "FWL")):
        assert refused(fwl("reproduce", "all", "--size", "tiny", *option, "--out", out), own)
    assert not out.exists()


def test_the_stored_html_page_says_what_the_stored_runs_say(monkeypatch):
    monkeypatch.setattr(results_page, "_drawing", lambda name, run: "")
    fresh = results_page.as_html_page(results_page.read_runs(ROOT / "docs" / "results"))
    written = (ROOT / "docs" / "results.html").read_text(encoding="utf-8")
    assert re.sub(r"<svg.*?</svg>\n?", "", written, flags=re.DOTALL) == fresh
