"""Every example runs as a user would run it and says what it promises; shipped tables are what their script makes."""

import contextlib
import importlib.util
import io
import re
import runpy
from pathlib import Path

import pytest

from fwl.tables import read_table

EXAMPLES = Path(__file__).parents[2] / "examples"
DATA = EXAMPLES / "data"
TABLES = sorted(path.relative_to(DATA) for path in DATA.rglob("*.csv"))


def printed_by(name):
    """What an example prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return printed.getvalue()


def figures(text):
    """The number at the beginning of each line that has one, by what the line says of it."""
    lines = (re.match(r" *([\d.]+)%? +(.*)", line) for line in text.splitlines())
    return {line[2]: float(line[1]) for line in lines if line}


def test_every_example_is_tried_here():
    scripts = {path.name for path in EXAMPLES.glob("*.py")}
    assert scripts == set(re.findall(r'printed_by\("(\w+\.py)"\)', Path(__file__).read_text())) | {"make_data.py"}


def test_own_table():
    errors = figures(printed_by("own_table.py"))
    assert errors["mean error of FWL, from both"] < errors["mean error of the rule of thumb"] / 2


def test_labels_of_a_language_model():
    said = printed_by("llm_labels.py")
    right = {what.split(" right by ")[1]: share for what, share in figures(said).items()}
    assert right["FWL"] > right["the language model"]
    assert len(re.findall("^  (account|delivery|refund|replacement) -> ", said, re.MULTILINE)) == 3


def test_own_annotator():
    said = printed_by("own_annotator.py")
    assert "  llm labels " in said
    assert " rule labels " in said
    assert len(figures(said)) == 3


def test_own_student():
    said = printed_by("own_student.py")
    assert said.endswith("loaded, it predicts the same: True\n")


def test_fidelities_elsewhere():
    errors = figures(printed_by("fidelities_elsewhere.py"))
    learners = ["scikit-learn's trees"] + ["XGBoost"] * (importlib.util.find_spec("xgboost") is not None)
    for learner in learners:
        assert errors[f"{learner}, soft labels, weighted"] < errors[f"{learner}, weak labels alone"] / 2
    assert len(errors) == 4 * len(learners) + 1


def test_the_shipped_tables_are_what_their_script_makes(tmp_path):
    made = runpy.run_path(str(EXAMPLES / "make_data.py"))
    made["make"](tmp_path)
    assert sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.csv")) == TABLES
    for path in TABLES:
        assert (tmp_path / path).read_bytes() == (DATA / path).read_bytes(), path


def test_the_shipped_tables_are_small_and_named():
    assert sum((DATA / path).stat().st_size for path in TABLES) < 400_000
    readme = (DATA / "README.md").read_text()
    assert "examples/make_data.py" in readme
    assert all(f"`{folder}`" in readme for folder in {path.parts[0] for path in TABLES})


@pytest.mark.parametrize("name", ["strong", "test"])
def test_the_made_up_language_model_is_neither_useless_nor_perfect(name):
    table = read_table(DATA / "support" / f"{name}.csv").to_pylist()
    labelled = [row for row in table if row["llm"]]
    assert 0.9 < len(labelled) / len(table) < 1
    assert 0.72 < sum(row["llm"] == row["intent"] for row in labelled) / len(labelled) < 0.82
