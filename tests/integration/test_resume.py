"""A run killed in the middle and resumed ends with the same rows as one left alone."""

import json
import os
import signal
import subprocess
import sys
import time

OPTIONS = ("toy", "--size", "tiny", "--seeds", "6", "--quiet")


def start(out, *more):
    command = [sys.executable, "-c", "from fwl.cli.main import run; run()", "reproduce", *OPTIONS, "--out", str(out)]
    return subprocess.Popen([*command, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def finish(process):
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors.decode()


def rows(out):
    return json.loads((out / "results.json").read_text())["rows"]


def lines(path):
    return path.read_text().count("\n") if path.exists() else 0


def kill_after_first_unit(process, journal):
    while lines(journal) < 2:  # the header and one finished unit
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def test_killed_and_resumed_equals_left_alone(tmp_path):
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = start(killed)
    kill_after_first_unit(process, killed / "journal.jsonl")
    assert not (killed / "results.json").exists()
    done_before = lines(killed / "journal.jsonl")
    assert done_before < 7
    finish(start(killed, "--resume"))
    finish(start(whole))
    assert rows(killed) == rows(whole)
    assert lines(killed / "journal.jsonl") == 7
