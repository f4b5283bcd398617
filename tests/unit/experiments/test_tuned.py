import json
from dataclasses import replace

import pytest
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput
from fwl.experiments.catalogue import RANKING, SENTIMENT, SENTIMENT_CURVE, TOY
from fwl.experiments.runner import settings_for
from fwl.experiments.trials import Trial
from fwl.experiments.tuned import Tuned

TRIALS = (Trial(0, {"width": 3}, 0.5), Trial(1, {"width": 4}, None, "it diverged"), Trial(2, {"width": 5}, 0.7))
SETTINGS = {"hidden": (64, 32), "width": 5, "learning_rate": 1e-5, "read_vector": False, "dropout": 0.1 + 0.2}
TUNED = Tuned("sentiment", "F1", "tiny", "bandit", 2, 0, SETTINGS, 0.7, TRIALS, {})


def stored(tmp_path, tuned=TUNED):
    path = tmp_path / "tuned.json"
    path.write_text(json.dumps(tuned.as_json()))
    return path


@pytest.mark.parametrize("experiment", [SENTIMENT, SENTIMENT_CURVE])
def test_settings_come_back_as_they_were(tmp_path, experiment):
    settings = settings_for(experiment, "tiny", [f"@{stored(tmp_path)}"])
    assert {name: getattr(settings, name) for name in SETTINGS} == SETTINGS
    assert settings == replace(settings_for(experiment, "tiny", []), **SETTINGS)


def test_what_is_set_later_wins(tmp_path):
    path = stored(tmp_path)
    assert settings_for(SENTIMENT, "tiny", [f"@{path}", "width=2"]).width == 2
    assert settings_for(SENTIMENT, "tiny", ["width=2", f"@{path}"]).width == 5


def test_the_best_trials_come_first_and_failed_ones_are_counted():
    assert [trial.number for trial in TUNED.best_first()] == [2, 0]
    assert (TUNED.as_json()["trials"], TUNED.as_json()["failed"]) == (3, 1)


def test_settings_of_another_task_are_refused(tmp_path):
    path = stored(tmp_path)
    message = (
        f"--set @{path}: it was tuned for sentiment, and ranking needs settings for ranking; "
        "make them with: fwl tune ranking"
    )
    with expect_refusal(InvalidInput, message):
        settings_for(RANKING, "tiny", [f"@{path}"])
    with expect_refusal(InvalidInput, f"--set @{path}: toy has nothing that was tuned; leave it out"):
        settings_for(TOY, "tiny", [f"@{path}"])


def test_a_file_that_is_not_there_is_refused(tmp_path):
    message = "the file cannot be read (No such file or directory); `fwl tune` writes such files"
    with expect_refusal(InvalidInput, f"--set @{tmp_path / 'no.json'}: {message}"):
        settings_for(SENTIMENT, "tiny", [f"@{tmp_path / 'no.json'}"])


@pytest.mark.parametrize("text", ['{"task": "sent', "[]", "{}", '{"task": "sentiment", "settings": 3}', "3"])
def test_a_file_of_something_else_is_refused(tmp_path, text):
    path = tmp_path / "tuned.json"
    path.write_text(text)
    message = f"--set @{path}: this is not a file that `fwl tune` wrote, or only a part of one"
    with expect_refusal(InvalidInput, message):
        settings_for(SENTIMENT, "tiny", [f"@{path}"])


def test_a_value_that_somebody_changed_is_refused_by_name(tmp_path):
    path = stored(tmp_path, replace(TUNED, settings={"width": "wide"}))
    with expect_refusal(InvalidInput, "setting width='wide': expected a whole number, such as 3"):
        settings_for(SENTIMENT, "tiny", [f"@{path}"])
