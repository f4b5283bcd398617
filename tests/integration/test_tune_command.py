"""`fwl tune`: what it writes and prints, what it refuses, and that a kill loses only the trials under way."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.integration.test_command_line import fwl

# Four settings are left to tune: five trials before the first model.
FIXED = ("word2vec=8", "hidden=8", "convolutions=1", "width=2", "pretrain_steps=20", "finetune_steps=20")
COMMAND = ("tune", "sentiment", "--size", "tiny", "--quiet", *(part for text in FIXED for part in ("--set", text)))
TRIALS = ("--trials", "8", "-q", "2")


def started(out, *more):
    command = [sys.executable, "-c", "from fwl.cli.main import run; run()", *COMMAND, *TRIALS, "--out", str(out)]
    return subprocess.Popen([*command, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def trials(out):
    entries = [json.loads(line) for line in (out / "trials.jsonl").read_text().splitlines()[1:]]
    return sorted((entry["number"], str(entry["settings"]), entry["value"]) for entry in entries)


def lines(path):
    return path.read_text().count("\n") if path.exists() else 0


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    out = tmp_path_factory.mktemp("tuning") / "out"
    return fwl(*COMMAND, *TRIALS, "--out", out), out


def test_it_writes_trials_settings_and_a_figure_and_tells_the_best(tuned):
    done, out = tuned
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert {path.name for path in out.iterdir()} == {"trials.jsonl", "tuned.json", "tuning.png", "tuning.svg"}
    stored = json.loads((out / "tuned.json").read_text())
    assert (stored["task"], stored["trials"], stored["failed"], stored["q"]) == ("sentiment", 8, 0, 2)
    assert stored["value"] == max(value for _, _, value in trials(out))
    assert f"{stored['value']:.4f}" in done.stdout
    assert f"next: fwl reproduce sentiment --size tiny --set @{out / 'tuned.json'}" in done.stdout


def test_reproduce_takes_what_was_found(tuned, tmp_path):
    command = ("reproduce", "sentiment", "--size", "tiny", "--seeds", "1", "--methods", "WA", "--jobs", "1")
    done = fwl(*command, "--set", f"@{tuned[1] / 'tuned.json'}", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    settings = json.loads((tmp_path / "results.json").read_text())["settings"]
    found = json.loads((tuned[1] / "tuned.json").read_text())["settings"]
    assert {name: settings[name] for name in found} == found


def test_killed_and_resumed_equals_left_alone(tuned, tmp_path):
    process = started(tmp_path)
    while lines(tmp_path / "trials.jsonl") < 4:  # what it is, a batch, and one trial of the next
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "tuned.json").exists()
    again = started(tmp_path, "--resume", "--json")
    printed, errors = again.communicate(timeout=300)
    assert again.returncode == 0, errors.decode()
    assert trials(tmp_path) == trials(tuned[1])
    assert json.loads(printed) == json.loads((tmp_path / "tuned.json").read_text())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sentimet"], "unknown experiment 'sentimet'; did you mean 'sentiment'? "),
        (["toy"], "toy declares nothing to tune; these do: sentiment, ranking, sentiment-curve"),
        (["sentiment", "--trials", "0"], "trials=0: expected at least 1"),
        (["sentiment", "-q", "0"], "q=0: expected at least 1"),
        (["sentiment", "--set", "widht=3"], "unknown setting 'widht'; did you mean 'width'? "),
        (["sentiment", "--size", "reduced"], "sentiment reads real data; name its folder by --data DIR"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(arguments, message, tmp_path):
    size = [] if "--size" in arguments else ["--size", "tiny"]
    done = fwl("tune", *arguments, *size, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {message}")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_trials_that_are_there_are_not_overwritten(tuned):
    done = fwl(*COMMAND, *TRIALS, "--out", tuned[1])
    assert done.returncode == 2
    assert "holds the trials of an earlier tuning; give --resume" in done.stderr
