import pytest
from tests.refusals import expect_refusal

from fwl.errors import OutputTrouble
from fwl.experiments.grid import Grid
from fwl.experiments.trials import Trial, TrialJournal

GRID = Grid({"rate": (0.1, 0.01), "hidden": ((8,), (8, 8))})
RUN = {"task": "sentiment", "q": 2}
FIRST = Trial(0, {"rate": 0.1, "hidden": (8, 8)}, 0.1 + 0.2, seconds=1.5)
SECOND = Trial(1, {"rate": 0.01, "hidden": (8,)}, None, "it diverged")


def opened(tmp_path, resume=True, run=RUN):
    return TrialJournal(tmp_path / "trials.jsonl", run, resume, GRID)


def test_trials_come_back_as_they_were_in_the_order_of_their_numbers(tmp_path):
    journal = opened(tmp_path, resume=False)
    journal.add(SECOND)
    journal.add(FIRST)
    assert opened(tmp_path).trials() == [FIRST, SECOND]


def test_a_trial_cut_off_by_a_kill_is_dropped(tmp_path):
    journal = opened(tmp_path, resume=False)
    journal.add(FIRST)
    journal.add(SECOND)
    journal.path.write_text(journal.path.read_text()[:-9])
    assert opened(tmp_path).trials() == [FIRST]


def test_trials_are_not_overwritten(tmp_path):
    journal = opened(tmp_path, resume=False)
    journal.add(FIRST)
    message = (
        f"{journal.path} holds the trials of an earlier tuning; "
        "give --resume to go on with it, another --out, or remove it to start afresh"
    )
    with expect_refusal(OutputTrouble, message):
        opened(tmp_path, resume=False)
    assert opened(tmp_path).trials() == [FIRST]


def test_a_tuning_that_never_got_to_a_trial_is_no_obstacle(tmp_path):
    opened(tmp_path, resume=False)
    assert opened(tmp_path, resume=False, run={"q": 3}).trials() == []


def test_another_tunings_trials_are_not_mixed_in(tmp_path):
    journal = opened(tmp_path, resume=False)
    journal.add(FIRST)
    message = (
        f"{journal.path} is the journal of a run with other settings; "
        "give the same settings, another --out, or remove it to start afresh"
    )
    with expect_refusal(OutputTrouble, message):
        opened(tmp_path, run={"q": 3})


@pytest.mark.parametrize("line", ["no json", "{}", '{"number": 1, "settings": {"rate": 7, "hidden": [8]}, "value": 1}'])
def test_a_line_that_is_no_trial_is_named(tmp_path, line):
    journal = opened(tmp_path, resume=False)
    journal.path.write_text(journal.path.read_text() + line + "\n")
    with expect_refusal(OutputTrouble, f"{journal.path}: line 2 cannot be read; remove it to start afresh"):
        opened(tmp_path)


def test_a_value_is_a_number_or_nothing():
    with expect_refusal(ValueError, "the value of a trial is a number, got nan"):
        Trial(0, {}, float("nan"))
