"""README and docs say what the stored runs say, and their code runs."""

import contextlib
import io
import re
import shlex
import shutil
from pathlib import Path

import pytest
from benchmarks.render_docs import PAGES, ROOT, TABLE, rendered
from tests.commands import fwl
from tests.own_files import TINY

from fwl.experiments.catalogue import CATALOGUE
from fwl.learn import compare_methods
from fwl.report.store import read_result
from fwl.tables import read_table, write_table

CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)
COMMANDS = re.compile(r"```sh\n(.*?)```", re.DOTALL)
RUNS = sorted(path.parent for path in (ROOT / "docs" / "results").glob("*/results.json"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_table_is_the_stored_runs(page):
    text = page.read_text(encoding="utf-8")
    assert rendered(text) == text


def test_the_readme_and_the_decisions_have_their_tables():
    assert [mark[2] for mark in TABLE.finditer((ROOT / "README.md").read_text())] == ["docs/results/toy"]
    assert [mark[2] for mark in TABLE.finditer((ROOT / "DECISIONS.md").read_text())] == ["docs/results/gaps"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_python_block_runs(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    blocks = CODE.findall(page.read_text(encoding="utf-8"))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec("\n".join(blocks), {})
    if page.name == "README.md":
        assert float(printed.getvalue()) < 0.1


@pytest.mark.parametrize("page", [page for page in PAGES if COMMANDS.search(page.read_text())], ids=lambda p: p.name)
def test_every_command_runs(page, tmp_path, monkeypatch):
    """One after another in a copy of the folder they begin in, with small budgets."""
    monkeypatch.setattr(compare_methods, "COMPARED", ("LR_S", "NN_W->S", "FWL_auto"))
    monkeypatch.setattr(compare_methods, "ON_THE_CURVE", ("NN_W->S", "FWL_auto"))
    monkeypatch.setattr(compare_methods, "WANTED", 1)
    lines = [line for block in COMMANDS.findall(page.read_text(encoding="utf-8")) for line in block.splitlines()]
    place, *commands = (shlex.split(line, comments=True) for line in lines)
    assert place[0] == "cd"
    monkeypatch.chdir(shutil.copytree(ROOT / place[1], tmp_path / "copy"))
    for program, command, *options in commands:
        assert program == "fwl"
        if "next.csv" in options and command == "fit":
            fill_in("next.csv", "intent", "llm")
        done = fwl(command, *options, *(TINY if command == "fit" else ()))
        assert done.returncode == 0, done.stderr


def fill_in(path, column, by):
    """What a user does with a suggestion, though not as well."""
    table = read_table(path)
    assert table[column].null_count == table.num_rows
    write_table(table.set_column(table.column_names.index(column), column, table[by]), path)


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
