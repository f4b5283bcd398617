"""`fwl reproduce all` killed in the middle and gone on with."""

import json
import os
import signal
import subprocess
import sys
import time

SHORT = ("toy", "annotators")  # one run, and one of several tasks
CODE = """
from fwl.experiments import suite
suite.SUITE = {name: suite.SUITE[name] for name in %r}
plain = suite.entries
suite.entries = lambda size, data: [entry for entry in plain(size, data) if entry.experiment in %r]
from fwl.cli.main import run
run()
"""


def start(out, *more):
    options = ("reproduce", "all", "--size", "tiny", "--seeds", "2", "--quiet", "--out", str(out), *more)
    command = [sys.executable, "-c", CODE % ((*SHORT, "ranking"), SHORT), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def finish(process):
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors.decode()


def lines(path):
    return path.read_text().count("\n") if path.exists() else 0


def kill_when(process, is_time):
    while not is_time():
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def stored(out):
    """Every run of a folder without what tells when and how fast it was made."""
    runs = {name: json.loads((out / name / "results.json").read_text()) for name in SHORT}
    return {name: {**run, "provenance": None} for name, run in runs.items()}


def test_killed_twice_and_gone_on_with_equals_left_alone(tmp_path):
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    first = killed / "toy" / "journal.jsonl"
    kill_when(start(killed), lambda: lines(first) >= 2)  # what it is, and one finished unit
    assert not (killed / "toy" / "results.json").exists()
    kept = first.read_text().splitlines()[:2]
    second = killed / "annotators" / "sentiment" / "journal.jsonl"
    kill_when(start(killed, "--resume"), lambda: lines(second) >= 2)
    assert first.read_text().splitlines()[:2] == kept
    assert (killed / "toy" / "results.json").exists()
    assert not (killed / "results.md").exists()
    toy, kept = (killed / "toy" / "results.json").read_bytes(), second.read_text().splitlines()[:2]
    finish(start(killed, "--resume"))
    assert (killed / "toy" / "results.json").read_bytes() == toy
    assert second.read_text().splitlines()[:2] == kept
    finish(start(whole))
    assert stored(killed) == stored(whole)
