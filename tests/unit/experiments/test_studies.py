import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.refusals import expect_refusal

from fwl.errors import FWLError, InvalidInput, UnknownName
from fwl.experiments import studies
from fwl.experiments.declare import Experiment, Outcome, Score, Size, Study, Variation
from fwl.experiments.declared_sentiment import SENTIMENT
from fwl.experiments.studies import run
from fwl.experiments.trials import Trial
from fwl.experiments.tuned import Tuned


@dataclass(frozen=True)
class Settings:
    seed: int = 0
    shift: float = 0.0


@dataclass(frozen=True)
class TweetSettings(Settings):
    data: str = ""
    n_pool: int = 5


RUN = []  # (dataset, seed) of every unit


def measure(settings, dataset, methods, seed, with_curves):
    RUN.append((dataset, seed))
    scores = tuple(Score(dataset, m, "loss", True, seed + settings.shift) for m in methods)
    return Outcome(scores, f"{dataset} {seed}")


TOY = Experiment(
    name="both/toy",
    title="A toy",
    settings=Settings(),
    methods=("FWL", "NN_W"),
    variations=(Variation("toy"), Variation("far toy", {"shift": 10.0}, {"shift": 10.0})),
    sizes={"tiny": Size(1, most={"shift": 5.0}), "reduced": Size(3), "paper": Size(4)},
    measure=measure,
)
TWEETS = replace(
    TOY,
    name="both/sentiment",
    settings=TweetSettings(),
    methods=("FWL", "WA"),
    variations=(Variation("tweets"),),
    sizes={"tiny": Size(1), "reduced": Size(2), "paper": Size(2)},
    needs_data=True,
)
STUDY = Study("both", "On both", {"toy": TOY, "sentiment": TWEETS})


@pytest.fixture(autouse=True)
def known(monkeypatch):
    RUN.clear()
    monkeypatch.setattr(studies, "find_experiment", {"both": STUDY, "alone": TWEETS, "plain": TOY}.__getitem__)


@pytest.fixture
def root(tmp_path):
    (tmp_path / "data" / "sentiment").mkdir(parents=True)
    return tmp_path / "data"


def both(tmp_path, **options):
    return run("both", tmp_path / "out", **{"size": "reduced", "jobs": 1, **options})


def test_the_rows_of_all_parts_come_into_one_result(tmp_path, root):
    result = both(tmp_path, data=root)
    assert [(r.dataset, r.method, r.values) for r in result.rows] == [
        ("toy", "FWL", (0.0, 1.0, 2.0)),
        ("toy", "NN_W", (0.0, 1.0, 2.0)),
        ("far toy", "FWL", (10.0, 11.0, 12.0)),
        ("far toy", "NN_W", (10.0, 11.0, 12.0)),
        ("tweets", "FWL", (0.0, 1.0)),
        ("tweets", "WA", (0.0, 1.0)),
    ]
    assert (result.experiment, result.title, result.size) == ("both", "On both", "reduced")
    assert result.settings["toy"] == {"seed": 0, "shift": 0.0}
    assert result.settings["sentiment"]["data"] == "sentiment"


def test_the_provenance_tells_seeds_and_data_part_by_part(tmp_path, root):
    provenance = both(tmp_path, data=root).provenance
    assert {"version", "commit", "packages", "machine", "data_sha256", "seconds"} < set(provenance)
    assert provenance["seeds"] == [0, 1, 2]
    assert {task: part["seeds"] for task, part in provenance["parts"].items()} == {
        "toy": [0, 1, 2],
        "sentiment": [0, 1],
    }
    assert len({provenance["data_sha256"], *(part["data_sha256"] for part in provenance["parts"].values())}) == 3


def test_cells_beyond_a_size_are_left_out(tmp_path):
    assert {row.dataset for row in both(tmp_path, size="tiny").rows} == {"toy", "tweets"}


def test_without_data_the_parts_that_make_their_own_are_run_and_the_others_named(tmp_path):
    notes = []
    result = both(tmp_path, note=notes.append)
    assert {row.dataset for row in result.rows} == {"toy", "far toy"}
    assert notes == ["both runs on toy only: sentiment needs --data DIR, the folder that has one for each task"]


def test_a_part_may_be_given_its_own_folder(tmp_path, root):
    notes = []
    result = both(tmp_path, assignments=[f"sentiment.data={root / 'sentiment'}"], note=notes.append)
    assert "tweets" in {row.dataset for row in result.rows}
    assert notes == []


def test_settings_are_for_one_part_or_for_all_that_have_them(tmp_path, root):
    texts = ["shift=1", "sentiment.shift=2", "n_pool=7", "seed=5"]
    settings = both(tmp_path, data=root, assignments=texts).settings
    assert settings["toy"] == {"seed": 5, "shift": 1.0}
    assert (settings["sentiment"]["shift"], settings["sentiment"]["n_pool"]) == (2.0, 7)


def test_what_was_tuned_goes_to_the_part_whose_student_it_was(tmp_path, root, monkeypatch):
    tunable = replace(STUDY, parts={"toy": TOY, "sentiment": replace(TWEETS, tuning=SENTIMENT.tuning)})
    monkeypatch.setattr(studies, "find_experiment", lambda _: tunable)
    path = tuned(tmp_path, "sentiment")
    settings = both(tmp_path, data=root, assignments=[f"@{path}"]).settings
    assert settings["sentiment"]["n_pool"] == 9
    assert settings["toy"] == {"seed": 0, "shift": 0.0}


def tuned(tmp_path, task):
    path = tmp_path / "tuned.json"
    found = Tuned(task, "F1", "tiny", "bandit", 2, 0, {"n_pool": 9}, 0.7, (Trial(0, {"n_pool": 9}, 0.7),), {})
    path.write_text(json.dumps(found.as_json()))
    return path


def test_methods_are_chosen_in_the_parts_that_have_them(tmp_path, root):
    assert {r.method for r in both(tmp_path, data=root, methods=["FWL"]).rows} == {"FWL"}
    only = both(tmp_path, data=root, methods=["WA"])
    assert {(r.dataset, r.method) for r in only.rows} == {("tweets", "WA")}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"assignments": ["shfit=1"]}, UnknownName, "unknown setting 'shfit'; did you mean 'shift'? known: {settings}"),
        ({"assignments": ["toys.shift=1"]}, UnknownName, "unknown part 'toys'; did you mean 'toy'? known: {parts}"),
        ({"assignments": ["toy.n_pool=1"]}, UnknownName, "unknown setting 'n_pool'; known: seed, shift"),
        ({"methods": ["FLW"]}, UnknownName, "unknown method 'FLW'; did you mean 'FWL'? known: FWL, NN_W, WA"),
        ({"methods": []}, InvalidInput, "no method was named; known: FWL, NN_W, WA"),
        ({"size": "huge"}, UnknownName, "unknown size 'huge'; known: tiny, reduced, paper"),
        ({"seeds": 0}, InvalidInput, "seeds=0: expected at least 1"),
        ({"data": Path("nowhere")}, InvalidInput, "--data nowhere: there is no such folder"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is(tmp_path, options, error, message):
    told = message.format(settings="seed, shift, data, n_pool", parts="toy, sentiment")
    with expect_refusal(error, told):
        both(tmp_path, **options)
    assert RUN == []
    assert list(tmp_path.iterdir()) == [], "nothing may be left behind"


def test_a_folder_without_a_tasks_data_is_refused(tmp_path):
    message = (
        f"--data {tmp_path}: there is no sentiment in it; a study of all tasks expects a folder that has sentiment and "
        "ranking/COLLECTION below it"
    )
    with expect_refusal(InvalidInput, message):
        both(tmp_path, data=tmp_path)
    assert RUN == []


def test_a_study_of_real_data_alone_is_refused_without_it(tmp_path, monkeypatch):
    monkeypatch.setattr(studies, "find_experiment", lambda _: Study("one", "On one", {"sentiment": TWEETS}))
    message = (
        "one reads real data for sentiment; name the folder that has one for each task by --data DIR, or give --size "
        "tiny for made-up data"
    )
    with expect_refusal(InvalidInput, message):
        both(tmp_path)


def test_a_file_tuned_for_another_task_is_refused(tmp_path, root):
    path = tuned(tmp_path, "ranking")
    message = f"--set @{path}: it was tuned for ranking, and no part of both is; its parts are: toy, sentiment"
    with expect_refusal(InvalidInput, message):
        both(tmp_path, data=root, assignments=[f"@{path}"])


def test_a_study_killed_between_its_parts_keeps_the_first(tmp_path, root, monkeypatch):
    class Killed(FWLError):
        pass

    def dies(settings, dataset, methods, seed, with_curves):
        raise Killed(dataset)

    mortal = replace(STUDY, parts={"toy": TOY, "sentiment": replace(TWEETS, measure=dies)})
    with monkeypatch.context() as patch:
        patch.setattr(studies, "find_experiment", lambda _: mortal)
        with pytest.raises(Killed):
            both(tmp_path, data=root)
    kept = (tmp_path / "out" / "toy" / "journal.jsonl").read_text()
    RUN.clear()
    resumed = both(tmp_path, data=root, resume=True)
    assert RUN == [("tweets", 0), ("tweets", 1)]
    assert (tmp_path / "out" / "toy" / "journal.jsonl").read_text() == kept
    assert resumed.rows == run("both", tmp_path / "whole", size="reduced", jobs=1, data=root).rows


def test_an_experiment_is_run_by_the_same_door(tmp_path):
    notes = []
    options = {"size": "tiny", "jobs": 1, "note": notes.append}
    assert run("plain", tmp_path / "a", data=tmp_path, **options).experiment == "both/toy"
    assert notes == [f"both/toy makes its own data; --data {tmp_path} is not read"]
    assert run("alone", tmp_path / "b", data=tmp_path, **options).settings["data"] == tmp_path.name
    message = "both/sentiment reads real data; name its folder by --data DIR, or give --size tiny for made-up data"
    with expect_refusal(InvalidInput, message):
        run("alone", tmp_path / "c", size="reduced")
