import pytest

from fwl.errors import OutputTrouble
from fwl.experiments.declare import Outcome, Score
from fwl.experiments.journal import Journal

RUN = {"experiment": "toy", "settings": {"beta": 1.0}}
OUTCOME = Outcome((Score("toy", "FWL", "rmse", True, 0.1 + 0.2),), "abc", {"x": [1.0]})


def test_what_was_added_is_there_after_reopening(tmp_path):
    path = tmp_path / "journal.jsonl"
    Journal(path, RUN, resume=False).add(3, 7, OUTCOME)
    assert list(Journal(path, RUN, resume=True).finished()) == [(3, 7, OUTCOME)]


def test_it_knows_how_long_everything_recorded_took(tmp_path):
    path = tmp_path / "journal.jsonl"
    Journal(path, RUN, resume=False).add(0, 1, OUTCOME, 2.5)
    again = Journal(path, RUN, resume=True)
    again.add(0, 2, OUTCOME, 1.25)
    assert again.seconds == 3.75
    assert Journal(path, RUN, resume=True).seconds == 3.75


def test_without_resume_it_starts_afresh(tmp_path):
    path = tmp_path / "journal.jsonl"
    Journal(path, RUN, resume=False).add(3, 7, OUTCOME)
    assert list(Journal(path, RUN, resume=False).finished()) == []


def test_a_line_cut_off_by_a_kill_is_dropped_and_the_rest_kept(tmp_path):
    path = tmp_path / "journal.jsonl"
    journal = Journal(path, RUN, resume=False)
    journal.add(0, 1, OUTCOME)
    journal.add(0, 2, OUTCOME)
    path.write_text(path.read_text()[:-20])
    again = Journal(path, RUN, resume=True)
    assert list(again.finished()) == [(0, 1, OUTCOME)]
    again.add(0, 2, OUTCOME)
    assert len(list(Journal(path, RUN, resume=True).finished())) == 2


def test_a_journal_cut_off_in_its_first_line_starts_afresh(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text('{"run": {"exp')
    assert list(Journal(path, RUN, resume=True).finished()) == []


def test_the_journal_of_other_settings_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "journal.jsonl"
    Journal(path, RUN, resume=False).add(0, 1, OUTCOME)
    before = path.read_text()
    with pytest.raises(OutputTrouble, match="is the journal of a run with other settings; give the same settings"):
        Journal(path, {**RUN, "settings": {"beta": 2.0}}, resume=True)
    assert path.read_text() == before


def test_a_damaged_journal_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "journal.jsonl"
    Journal(path, RUN, resume=False).add(0, 1, OUTCOME)
    damaged = path.read_text() + "not json\n"
    path.write_text(damaged)
    with pytest.raises(OutputTrouble, match="line 3 cannot be read; start afresh without --resume"):
        Journal(path, RUN, resume=True)
    assert path.read_text() == damaged
