import json
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, fields, replace

import pytest
from joblib import parallel_config
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput, NumericalTrouble, OutputTrouble, UnknownName
from fwl.experiments import tune as module
from fwl.experiments.catalogue import CATALOGUE, TOY
from fwl.experiments.declare import SIZES, Tuning
from fwl.experiments.grid import Grid
from fwl.experiments.runner import settings_for
from fwl.experiments.tune import plan_tuning, run_tuning

TUNABLE = [experiment for experiment in CATALOGUE.values() if experiment.tuning is not None]
GRID = Grid({"n_weak": (10, 20, 40, 80), "n_strong": (5, 10, 20, 40), "beta": (0.0, 1.0, 2.0)})


class Heard:
    def __init__(self):
        self.total, self.done = 0, 0

    def start(self, total, what):
        self.total, self.done = total, 0

    def advance(self, amount=1):
        self.done += amount

    def finish(self):
        pass


def height(settings, seed):
    """More weak samples are better, and so are more strong ones; beta is best at 1."""
    return settings.n_weak / 80 + settings.n_strong / 40 - (settings.beta - 1.0) ** 2 + seed


def plan_of(validate=height, **options):
    experiment = replace(TOY, tuning=Tuning("toy", "height", dict.fromkeys(SIZES, GRID), validate))
    return plan_tuning(experiment, **{"size": "tiny", "trials": 10, "q": 2, **options})


def run(plan, out, **options):
    with parallel_config(backend="threading"):
        return run_tuning(plan, out, **options)


def told(tuned):
    return [(trial.number, trial.settings, trial.value) for trial in tuned.trials]


@pytest.mark.parametrize("search", ["bandit", "random"])
def test_the_best_trial_is_what_a_tuning_brings_home(tmp_path, search):
    tuned = run(plan_of(search=search), tmp_path)
    assert len(tuned.trials) == 10
    assert tuned.value == max(trial.value for trial in tuned.trials)
    assert height(settings_for(TOY, "tiny", [f"{k}={v}" for k, v in tuned.settings.items()]), 0) == tuned.value


def test_trials_depend_on_the_seed_and_on_nothing_else(tmp_path):
    one, same = (run(plan_of(), tmp_path / name) for name in ("one", "same"))
    other = run(plan_of(assignments=["seed=1"]), tmp_path / "other")
    assert told(one) == told(same)
    assert [trial.settings for trial in one.trials] != [trial.settings for trial in other.trials]


@pytest.mark.parametrize("kept", [1, 2, 5, 7])
def test_cut_off_anywhere_and_resumed_it_ends_with_the_same_trials(tmp_path, kept):
    whole = run(plan_of(), tmp_path / "whole")
    lines = (tmp_path / "whole" / "trials.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "trials.jsonl").write_text("".join(lines[: 1 + kept]) + lines[1 + kept][:7])
    assert told(run(plan_of(), tmp_path / "cut", resume=True)) == told(whole)


def test_more_trials_can_be_asked_for_later(tmp_path):
    run(plan_of(trials=5), tmp_path / "some")
    more = run(plan_of(trials=9), tmp_path / "some", resume=True)
    assert told(more) == told(run(plan_of(trials=9), tmp_path / "whole"))


def test_a_finished_tuning_is_read_and_not_run_again(tmp_path):
    whole = run(plan_of(), tmp_path)

    def nobody(settings, seed):
        raise AssertionError

    assert told(run(plan_of(nobody), tmp_path, resume=True)) == told(whole)


def test_progress_counts_trials_and_those_that_were_there(tmp_path):
    run(plan_of(trials=4), tmp_path)
    heard = Heard()
    run(plan_of(), tmp_path, resume=True, progress=heard)
    assert (heard.total, heard.done) == (10, 10)


def test_failed_trials_are_recorded_and_counted(tmp_path):
    def fragile(settings, seed):
        if settings.n_weak == 10:
            raise NumericalTrouble("it diverged")
        return float("nan") if settings.n_weak == 20 else height(settings, seed)

    tuned = run(plan_of(fragile, trials=20), tmp_path)
    errors = {trial.settings["n_weak"]: trial.error for trial in tuned.trials if trial.value is None}
    assert errors == {10: "NumericalTrouble: it diverged", 20: "height came out as nan"}
    assert tuned.as_json()["failed"] == sum(trial.settings["n_weak"] <= 20 for trial in tuned.trials)
    assert told(run(plan_of(fragile, trials=20), tmp_path, resume=True)) == told(tuned)


def test_a_process_that_was_ended_is_a_failed_trial(tmp_path, monkeypatch):
    class Broken:
        def __init__(self, **_):
            pass

        def __call__(self, work):
            raise BrokenProcessPool

    monkeypatch.setattr(module, "Parallel", Broken)
    message = "all 2 trials failed, the first with: its process was ended, perhaps for want of memory; see "
    with expect_refusal(NumericalTrouble, message + str(tmp_path / "trials.jsonl")):
        run(plan_of(trials=2), tmp_path)


def test_data_is_made_ready_before_each_trial_that_needs_it(tmp_path):
    ready = set()

    def prepare(settings, progress):
        ready.add(settings.n_weak)

    def validate(settings, seed):
        assert settings.n_weak in ready
        return 0.0

    plan = plan_of(validate)
    tuned = run(replace(plan, tuning=replace(plan.tuning, prepare=prepare)), tmp_path)
    assert not [trial for trial in tuned.trials if trial.error]


def test_what_is_set_is_not_tuned_and_comes_back_with_the_rest(tmp_path):
    tuned = run(plan_of(assignments=["beta=0.25", "n_weak=20"], trials=9), tmp_path)
    assert len(tuned.trials) == 4  # that is all there is
    assert tuned.settings == {"n_weak": 20, "beta": 0.25, "n_strong": 40}


def test_trials_of_other_settings_are_refused(tmp_path):
    run(plan_of(trials=2), tmp_path)
    with pytest.raises(OutputTrouble, match="is the journal of a run with other settings"):
        run(plan_of(trials=2, q=1), tmp_path, resume=True)
    with pytest.raises(OutputTrouble, match="holds the trials of an earlier tuning; give --resume"):
        run(plan_of(trials=2), tmp_path)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"trials": 0}, InvalidInput, "trials=0: expected at least 1"),
        ({"q": 0}, InvalidInput, "q=0: expected at least 1"),
        ({"search": "grid"}, UnknownName, "unknown search 'grid'; known: bandit, random"),
        ({"size": "huge"}, UnknownName, "unknown size 'huge'; known: tiny, reduced, paper"),
        (
            {"assignments": ["n_weak=20", "n_strong=5", "beta=1"]},
            InvalidInput,
            "nothing is left to tune: toy tunes n_weak, n_strong, beta, and --set fixes all",
        ),
        (
            {"assignments": ["@tuned.json"]},
            InvalidInput,
            "--set @FILE is for fwl reproduce; a tuning takes key=value only",
        ),
    ],
)
def test_impossible_tunings_are_refused_before_anything_is_done(options, error, message):
    with expect_refusal(error, message):
        plan_of(**options)


def test_an_experiment_without_a_grid_is_refused():
    message = "toy declares nothing to tune; these do: sentiment, ranking, sentiment-curve"
    with expect_refusal(InvalidInput, message):
        plan_tuning(TOY)


@pytest.mark.parametrize("experiment", TUNABLE, ids=lambda experiment: experiment.name)
@pytest.mark.parametrize("size", SIZES)
def test_every_declared_grid_is_one_of_settings_of_the_right_kind(experiment, size):
    grid, settings = experiment.tuning.grids[size], settings_for(experiment, size, [])
    kinds = {field.name: type(getattr(settings, field.name)) for field in fields(settings)}
    for name, values in grid.values.items():
        assert {type(value) for value in values} == {kinds[name]}, name
    assert experiment.tuning.task in CATALOGUE


@dataclass
class Recorded:
    seeds: list

    def __call__(self, settings, seed):
        self.seeds.append((settings.seed, seed))
        return 0.0


def test_all_trials_have_the_seed_of_the_tuning(tmp_path):
    recorded = Recorded([])
    run(plan_of(recorded, assignments=["seed=3"]), tmp_path)
    assert set(recorded.seeds) == {(3, 3)}
    assert json.loads((tmp_path / "trials.jsonl").read_text().splitlines()[0])["run"]["settings"]["seed"] == 3
