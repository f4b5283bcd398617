"""Every block of code in README, docs and the other pages does what it says.

Python runs as it stands, one page after another, each in one namespace. So do commands, in a folder that holds what a
reader would bring, with a small budget added. A block of `text` is what the block above it prints.
"""

import contextlib
import importlib.util
import io
import json
import os
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import typer
from tests.commands import fwl
from tests.own_files import TINY
from tests.pages import PAGES, ROOT, blocks_of, name_of, pages_with, with_outputs
from tests.searches import made_search

from fwl.cli.main import app
from fwl.cli.reproduce import EXPERIMENTS
from fwl.experiments.made_tweets import MadeTweets
from fwl.learn import compare_methods
from fwl.randomness import Chance
from fwl.tables import read_table, write_table

LANGUAGES = {"python", "sh", "text"}
DIRECTIVES = {"{toctree}", "{eval-rst}", "{commands}"}  # these are run when the site is built: test_site.py
SMALL_RUN = ["--size", "tiny", "--seeds", "1", "--jobs", "1", "--quiet"]
BUDGETS = {"fit": TINY, "reproduce": SMALL_RUN, "fit-ranker": ["--encoder", "none", "--quiet"]}
# The only commands that are read by the real parser and not run, and why.
ONLY_READ = {
    "tune": "every trial trains a network in a process of its own; test_tune_command.py runs it",
    "reproduce": "but for two, experiments take seconds even when tiny; test_experiments.py runs all of them so",
}
# The one option that is left away: comparing methods on rents takes a minute. On messages (support) it is run.
LEFT_AWAY = {"flats": "--compare"}
RUN_ALL_THE_SAME = {("reproduce", "toy"), ("reproduce", "sentiment")}
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_of_a_kind_that_is_checked(page):
    above = None
    for block in blocks_of(page):
        assert block.language in LANGUAGES | DIRECTIVES, f"{block}: {block.language or 'no language'}"
        if block.language == "text":
            assert above in {"python", "sh"}, f"{block}: shows what no block above it prints"
        above = block.language


@pytest.mark.parametrize("page", pages_with("python"), ids=name_of)
def test_every_python_block_runs_and_prints_what_is_shown(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {"__name__": "page"}
    for block, shown in with_outputs(blocks_of(page), "python"):
        code = compile("\n" * block.line + block.text, str(block), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, names)
        if shown is not None:
            assert printed.getvalue() == shown, block
        elif name_of(page) == "README.md":
            assert float(printed.getvalue()) < 0.1  # the annotator is wrong by 0.5


@pytest.mark.parametrize("page", pages_with("sh"), ids=name_of)
def test_every_command_runs_and_prints_what_is_shown(page, tmp_path, monkeypatch):
    """One after another, each where the one before it ended."""
    use_small_comparisons(monkeypatch)
    monkeypatch.setenv("COLUMNS", "120")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    go_to(tmp_path)
    for block, shown in with_outputs(blocks_of(page), "sh"):
        printed = "".join(run(shlex.split(line, comments=True)) for line in block.text.splitlines())
        assert shown is None or printed == shown, block


def use_small_comparisons(monkeypatch):
    monkeypatch.setattr(compare_methods, "COMPARED", ("LR_S", "NN_W->S", "FWL_auto"))
    monkeypatch.setattr(compare_methods, "ON_THE_CURVE", ("NN_W->S", "FWL_auto"))
    monkeypatch.setattr(compare_methods, "WANTED", 1)


def go_to(folder):
    """Where there are made-up data under the names that the pages give to a reader's own."""
    os.chdir(folder)
    folder = Path.cwd()
    MadeTweets(pool=40, strong=40, others=20).write(folder / "TWEETS", Chance(0))
    search = made_search()
    corpus = search.write(folder / "COLLECTION") / "corpus.jsonl"
    with corpus.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"_id": "wings", "text": "wings in a slipstream"}) + "\n")
    queries = [f"{name}\t{text}\n" for name, text in search.queries.items()]
    (folder / "queries.tsv").write_text("".join(queries), encoding="utf-8")


def run(words):
    """What a line prints; a line that is a comment prints nothing."""
    if not words:
        return ""
    program, *rest = words
    return PROGRAMS[program](*rest) or ""


def run_fwl(command, *options):
    if command in ONLY_READ and (command, options[0]) not in RUN_ALL_THE_SAME:
        return read_by_the_parser(command, *options)
    if command == "fit" and "next.csv" in options:
        fill_in("next.csv", "intent", "llm")
    options = [option for option in options if option != LEFT_AWAY.get(Path.cwd().name)]
    done = fwl(command, *options, *BUDGETS.get(command, ()))
    assert done.returncode == 0, done.stderr
    return done.stdout


def read_by_the_parser(command, *options):
    """Unknown commands, options and values are refused here as they are when the command is run."""
    vars(typer.main.get_command(app))["commands"][command].make_context(f"fwl {command}", list(options))
    assert options[0] in {*EXPERIMENTS, "all"}


def fill_in(path, column, by):
    """What a user does with a suggestion, though not as well."""
    table = read_table(path)
    assert table[column].null_count == table.num_rows
    write_table(table.set_column(table.column_names.index(column), column, table[by]), path)


def run_make(*arguments):
    subprocess.run(["make", "-n", "-C", ROOT, *arguments], check=True, capture_output=True)


def run_pip(command, *packages):
    assert command == "install"
    for package in packages:
        extra = package.removeprefix("fwl[").removesuffix("]")
        assert package == f"fwl[{extra}]"
        assert extra in EXTRAS


def run_python(flag, module, *_):
    """Modules of ours that take minutes: the tests of each run them with less to do."""
    assert flag == "-m"
    assert importlib.util.find_spec(module) is not None


PROGRAMS = {"cd": go_to, "fwl": run_fwl, "make": run_make, "pip": run_pip, "python": run_python}


def test_commands_that_are_only_read_are_still_refused_where_they_are_wrong():
    with pytest.raises(Exception, match="No such option"):
        read_by_the_parser("tune", "sentiment", "--trails", "3")
    with pytest.raises(Exception, match="valid int"):
        read_by_the_parser("tune", "sentiment", "--trials", "many")
