import dataclasses
import json
import re
from dataclasses import dataclass

import pytest

from fwl.errors import FWLError
from fwl.evaluate.significance import paired_p
from fwl.experiments.declare import Experiment, Outcome, Score, Size, Variation
from fwl.experiments.runner import run_experiment


@dataclass(frozen=True)
class Settings:
    seed: int = 0
    shift: float = 0.0


def measure(settings, dataset, methods, seed, with_curves):
    values = {"good": 0.0 + seed + settings.shift, "bad": 1.0 + 1.1 * seed + settings.shift}
    scores = tuple(Score(dataset, m, "loss", True, values[m]) for m in methods)
    return Outcome(scores, f"data {seed}", {"x": [seed]} if with_curves else {})


EXPERIMENT = Experiment(
    name="example",
    title="An example",
    settings=Settings(),
    methods=("good", "bad"),
    variations=(
        Variation("plain", paper={"good": 0.5}),
        Variation("shifted", {"shift": 10.0}, at={"shift": 10.0}),
    ),
    sizes={"tiny": Size(3), "reduced": Size(4), "paper": Size(5)},
    measure=measure,
    pictured=True,
)


def run(tmp_path, **options):
    return run_experiment(EXPERIMENT, tmp_path / "out", jobs=1, **options)


def test_rows_come_variation_by_variation_in_the_methods_order(tmp_path):
    result = run(tmp_path)
    assert [(r.dataset, r.method) for r in result.rows] == [
        ("plain", "good"),
        ("plain", "bad"),
        ("shifted", "good"),
        ("shifted", "bad"),
    ]
    first = result.rows[0]
    assert first.values == (0.0, 1.0, 2.0, 3.0, 4.0)
    assert (first.mean, first.paper, first.at) == (2.0, 0.5, {})
    assert first.std == pytest.approx(2.5**0.5)
    assert first.better_than == ("bad",)
    assert result.rows[2].at == {"shift": 10.0}
    assert result.curves == {"x": [0]}
    assert result.provenance["seeds"] == [0, 1, 2, 3, 4]


def test_methods_are_compared_over_what_a_score_is_the_mean_of_where_it_is_told(tmp_path):
    each = {"good": (0.1, 0.2, 0.31, 0.4), "bad": (0.2, 0.3, 0.4, 0.5)}

    def per_query(settings, dataset, methods, seed, with_curves):
        wobble = 0.05 if seed % 2 else -0.05  # alike for all queries of a seed: gone when seeds are averaged
        scores = [Score(dataset, m, "loss", True, 0.25, tuple(v + wobble for v in each[m])) for m in methods]
        return Outcome(tuple(scores), "data")

    experiment = dataclasses.replace(EXPERIMENT, measure=per_query, pictured=False)
    result = run_experiment(experiment, tmp_path / "out", jobs=1, size="reduced")
    again = run_experiment(experiment, tmp_path / "out", jobs=1, size="reduced", resume=True)
    good, bad = result.rows[:2]
    assert good.p_values == {"bad": pytest.approx(paired_p(each["good"], each["bad"]))}
    assert bad.p_values == {}
    assert again.rows == result.rows


def test_size_seeds_methods_and_settings_are_obeyed(tmp_path):
    result = run(tmp_path, size="tiny", seeds=2, methods=["bad"], assignments=["seed=100", "shift=1"])
    assert [r.method for r in result.rows] == ["bad", "bad"]
    assert result.rows[0].values == pytest.approx((112.0, 113.1))
    assert result.settings == {"seed": 100, "shift": 1.0}


def test_the_papers_figures_stand_beside_the_papers_settings_only(tmp_path):
    assert run(tmp_path, assignments=["seed=9"]).rows[0].paper == 0.5
    assert run(tmp_path, assignments=["shift=1"]).rows[0].paper is None


def test_a_run_with_one_seed_has_no_spread_and_no_claims(tmp_path):
    row = run(tmp_path, seeds=1).rows[0]
    assert (row.std, row.better_than) == (0.0, ())


def test_resuming_computes_only_what_is_missing(tmp_path, monkeypatch):
    run(tmp_path, seeds=2, methods=["good"])
    calls = []

    def counted(settings, dataset, methods, seed, with_curves):
        calls.append((dataset, methods, seed))
        return measure(settings, dataset, methods, seed, with_curves)

    counting = dataclasses.replace(EXPERIMENT, measure=counted)
    resumed = run_experiment(counting, tmp_path / "out", jobs=1, seeds=3, resume=True)
    assert len(calls) == 6
    assert ("plain", ("bad",), 0) in calls
    assert ("plain", ("good", "bad"), 2) in calls
    assert resumed.rows == run_experiment(EXPERIMENT, tmp_path / "whole", jobs=1, seeds=3).rows


def test_seconds_count_what_was_done_before_an_interruption(tmp_path, monkeypatch):
    passed = iter(range(0, 1000, 2))  # the clock is looked at when a run begins, after every unit and at the end
    monkeypatch.setattr("fwl.experiments.runner.time.monotonic", lambda: next(passed))
    first = run(tmp_path, size="tiny", seeds=1)
    again = run(tmp_path, size="tiny", resume=True)
    assert first.provenance["seconds"] == 2 * (2 + 1)
    assert again.provenance["seconds"] == 2 * (6 + 1)


def test_processes_change_nothing(tmp_path):
    alone = run_experiment(EXPERIMENT, tmp_path / "a", jobs=1)
    both = run_experiment(EXPERIMENT, tmp_path / "b", jobs=2)
    assert alone.rows == both.rows


def test_the_last_units_are_cut_where_a_process_would_be_idle_and_that_changes_nothing(tmp_path):
    cut = dataclasses.replace(EXPERIMENT, apart=(("good",),), variations=EXPERIMENT.variations[:1])
    result = run_experiment(cut, tmp_path / "cut", jobs=2, seeds=3)
    lines = [json.loads(line) for line in (tmp_path / "cut" / "journal.jsonl").read_text().splitlines()[1:]]
    units = sorted((line["seed"], [score["method"] for score in line["scores"]]) for line in lines)
    assert units == [(0, ["good", "bad"]), (1, ["good", "bad"]), (2, ["bad"]), (2, ["good"])]
    assert result.rows == run_experiment(cut, tmp_path / "whole", jobs=1, seeds=3).rows


def test_groups_are_of_the_methods_asked_for():
    cut = dataclasses.replace(EXPERIMENT, methods=("a", "b", "c", "d"), apart=(("d", "b"), ("c",)))
    assert cut.groups(("a", "b", "c", "d")) == [("a",), ("b", "d"), ("c",)]
    assert cut.groups(("b", "c")) == [("b",), ("c",)]
    assert EXPERIMENT.groups(("bad", "good")) == [("bad", "good")]


def test_progress_hears_of_every_unit(tmp_path):
    class Counter:
        total = done = finished = 0

        def start(self, total, what):
            self.total = total

        def advance(self, amount=1):
            self.done += amount

        def finish(self):
            self.finished += 1

    run(tmp_path, seeds=2, progress=(first := Counter()))
    run(tmp_path, seeds=3, resume=True, progress=(second := Counter()))
    assert (first.total, first.done, first.finished) == (4, 4, 1)
    assert (second.total, second.done, second.finished) == (6, 6, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": "papre"}, "unknown size 'papre'; did you mean 'paper'? known: tiny, reduced, paper"),
        ({"methods": ["goud"]}, "unknown method 'goud'; did you mean 'good'? known: good, bad"),
        ({"methods": []}, "no method was named; known: good, bad"),
        ({"seeds": 0}, "seeds=0: expected at least 1"),
        ({"assignments": ["shfit=1"]}, "unknown setting 'shfit'; did you mean 'shift'? known: seed, shift"),
    ],
)
def test_bad_options_are_refused_before_anything_is_written(tmp_path, options, message):
    with pytest.raises(FWLError, match=f"^{re.escape(message)}$"):
        run(tmp_path, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(
        FWLError, match=r"cannot write to folder .*file/out \(Not a directory\); name another with --out"
    ):
        run_experiment(EXPERIMENT, tmp_path / "file" / "out")
