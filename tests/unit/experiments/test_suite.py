import json
from dataclasses import dataclass

import pytest
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput, OutputTrouble, UnknownName
from fwl.experiments import studies
from fwl.experiments.catalogue import CATALOGUE
from fwl.experiments.declare import SIZES
from fwl.experiments.suite import SUITE, Clock, Entry, Standing, entries, run_suite
from fwl.records import Result

PLAN = (Entry("toy", "toy", 10.0), Entry("beta", "beta", 30.0), Entry("sampling", "sampling", 60.0))


@dataclass
class Runs:
    """Stands in for what runs an experiment: remembers what it was asked for, and fails where told."""

    failing: tuple[str, ...] = ()
    error: type[BaseException] = InvalidInput

    def __post_init__(self):
        self.asked = []

    def __call__(self, name, out, **options):
        self.asked.append((name, options))
        options["progress"].start(2, "units")
        options["progress"].advance()
        if name in self.failing:
            raise self.error(f"{name} went wrong")
        options["progress"].finish()
        return Result(name, name, options["size"], {}, {"seeds": [0], "seconds": 7.0}, ())

    @property
    def names(self):
        return [name for name, _ in self.asked]


@pytest.fixture
def runs(monkeypatch):
    def install(*failing, error=InvalidInput):
        stand_in = Runs(failing, error)
        monkeypatch.setattr(studies, "run", stand_in)
        return stand_in

    return install


def keep(result, folder):
    folder.mkdir(exist_ok=True)
    (folder / "results.json").write_text(result.experiment)


def go(tmp_path, **options):
    return run_suite(PLAN, tmp_path, **{"size": "tiny", "keep": keep, **options})


@pytest.fixture
def data(tmp_path):
    root = tmp_path / "data"
    (root / "sentiment").mkdir(parents=True)
    for name in ("b", "a"):
        (root / "ranking" / name).mkdir(parents=True)
        (root / "ranking" / name / "corpus.jsonl").touch()
    return root


def test_every_analysis_and_table_is_in_the_suite_at_every_size():
    assert set(CATALOGUE) - set(SUITE) == {"gaps", "sentiment-curve"}
    assert all(tuple(costs) == SIZES and all(cost > 0 for cost in costs.values()) for costs in SUITE.values())


def test_without_data_the_suite_runs_on_made_up_data():
    suite = entries("tiny", None)
    assert [entry.name for entry in suite] == [*list(SUITE)[:-1], "ranking-made"]
    assert all(entry.data is None for entry in suite)


def test_every_collection_has_a_run_and_every_entry_its_own_folder(data):
    where = {entry.name: entry.data for entry in entries("reduced", data)}
    assert list(where)[-2:] == ["ranking-a", "ranking-b"]
    assert (where["toy"], where["beta"], where["sentiment"]) == (None, data, data / "sentiment")
    assert where["ranking-b"] == data / "ranking" / "b"


def test_data_that_is_missing_is_refused(data):
    real = (
        "all reads real data; name the folder above sentiment and ranking by --data DIR, or give --size tiny for "
        "made-up data"
    )
    with expect_refusal(InvalidInput, real):
        entries("reduced", None)
    with expect_refusal(InvalidInput, f"--data {data / 'no'}: there is no such folder"):
        entries("tiny", data / "no")
    without = "expected a folder that has sentiment and ranking/COLLECTION below it"
    (data / "sentiment").rmdir()
    with expect_refusal(InvalidInput, f"--data {data}: there is no sentiment in it; {without}"):
        entries("tiny", data)
    (data / "sentiment").mkdir()
    for name in "ab":
        (data / "ranking" / name / "corpus.jsonl").unlink()
    with expect_refusal(InvalidInput, f"--data {data}: there is no ranking/COLLECTION in it; {without}"):
        entries("tiny", data)
    with expect_refusal(UnknownName, "unknown size 'huge'; known: tiny, reduced, paper"):
        entries("huge", data)


def test_entries_run_in_order_each_into_its_folder(tmp_path, runs):
    asked = runs()
    ended = go(tmp_path, seeds=2)
    assert ended.finished == ("toy", "beta", "sampling")
    assert asked.names == ["toy", "beta", "sampling"]
    assert all((options["seeds"], options["resume"]) == (2, False) for _, options in asked.asked)
    assert (tmp_path / "beta" / "results.json").read_text() == "beta"


def test_what_is_finished_is_not_run_again_if_asked_to_resume(tmp_path, runs):
    runs("beta", error=KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        go(tmp_path)
    asked = runs()
    assert go(tmp_path, resume=True).finished == ("toy", "beta", "sampling")
    assert asked.names == ["beta", "sampling"]
    assert all(options["resume"] for _, options in asked.asked)
    again = runs()
    (tmp_path / "toy" / "results.json").unlink()
    go(tmp_path, resume=True)
    assert again.names == ["toy"]
    afresh = runs()
    go(tmp_path)
    assert afresh.names == ["toy", "beta", "sampling"]


def test_an_entry_is_told_to_have_taken_what_its_run_says_it_took_before_too(tmp_path, runs):
    runs()
    go(tmp_path)
    lines = (tmp_path / "journal.jsonl").read_text().splitlines()[1:]
    assert [json.loads(line) for line in lines] == [{"entry": entry.name, "seconds": 7.0} for entry in PLAN]


def test_an_entry_that_fails_keeps_no_other_from_running(tmp_path, runs):
    runs("beta")
    ended = go(tmp_path)
    assert ended.finished == ("toy", "sampling")
    assert {name: str(error) for name, error in ended.failed.items()} == {"beta": "beta went wrong"}
    asked = runs()
    assert go(tmp_path, resume=True).failed == {}
    assert asked.names == ["beta"]


@pytest.mark.parametrize("other", [{"size": "reduced"}, {"seeds": 3}])
def test_a_run_with_other_settings_is_not_gone_on_with(tmp_path, runs, other):
    runs()
    go(tmp_path)
    message = (
        f"{tmp_path / 'journal.jsonl'} is the journal of a run with other settings; give the same settings, another "
        "--out, or start afresh without --resume"
    )
    with expect_refusal(OutputTrouble, message):
        go(tmp_path, resume=True, **other)


def test_no_seeds_are_refused_before_anything_runs(tmp_path, runs):
    asked = runs()
    with expect_refusal(InvalidInput, "seeds=0: expected at least 1"):
        go(tmp_path, seeds=0)
    assert asked.names == []


def test_how_far_it_is_is_told_from_the_start(tmp_path, runs):
    runs()
    told = []
    go(tmp_path, stand=told.append)
    assert told[0].seconds_left == pytest.approx(100, abs=1)  # what is declared, before anything was measured
    assert [standing.number for standing in told if standing.name == "beta"] == [2, 2, 2]
    assert told[-1].seconds_left < told[0].seconds_left
    assert str(Standing(3, 10, "beta", 2400.0)) == "entry 3 of 10: beta; about 40 min left"


def test_the_time_left_follows_what_was_measured():
    now = [0.0]
    clock = Clock({"a": 10.0, "b": 30.0, "c": 60.0}, lambda: now[0])
    clock.begin()
    assert clock.left("a") == 100.0
    now[0] = 5.0
    assert clock.left("a") == 95.0
    now[0] = 20.0
    assert clock.left("a") == 90.0  # it takes longer than declared; the others still have theirs
    assert clock.done("a") == 20.0
    clock.begin()
    assert clock.pace == pytest.approx(30 / 20)  # a tenth of the whole as declared, and what was measured
    assert clock.left("b") == pytest.approx(90 * 1.5)
    clock.done("b", 30 * 2.0)
    assert clock.pace == pytest.approx((10 + 20 + 60) / (10 + 10 + 30))
