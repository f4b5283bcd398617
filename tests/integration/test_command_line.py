"""The command `fwl` as a user's script sees it: exit codes, messages, files."""

import json
import subprocess
import sys

import pytest

TINY = ("reproduce", "toy", "--size", "tiny", "--seeds", "2", "--methods", "NN_W,NN_W->S,FWL", "--jobs", "1")


def fwl(*arguments, cwd=None):
    command = [sys.executable, "-c", "from fwl.cli.main import run; run()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "toy"
    return fwl(*TINY, "--out", out), out


def test_a_run_prints_the_table_and_writes_results_figures_and_page(tiny):
    done, out = tiny
    assert done.returncode == 0, done.stderr
    assert "0.8406" in done.stdout
    assert "0.5451" in done.stdout
    assert {path.name for path in out.iterdir()} == {
        "journal.jsonl", "results.json", "toy.png", "toy.svg", "report.html",
    }  # fmt: skip
    assert done.stderr == ""  # no bar when nobody watches


def test_results_have_the_promised_shape(tiny):
    stored = json.loads((tiny[1] / "results.json").read_text())
    assert stored["experiment"] == "toy"
    assert stored["size"] == "tiny"
    assert [row["method"] for row in stored["rows"]] == ["NN_W", "NN_W->S", "FWL"]
    assert all(len(row["values"]) == 2 for row in stored["rows"])
    assert stored["provenance"]["seeds"] == [0, 1]


def test_a_table_of_several_metrics_says_what_each_row_measures(tmp_path):
    small = ["n_weak=60", "n_strong=30", "n_test=50", "columns=4", "hidden=8", "pretrain_steps=10", "finetune_steps=10"]
    settings = [part for text in small for part in ("--set", f"toy.{text}")]
    command = ("reproduce", "teachers", "--size", "tiny", "--seeds", "1", "--methods", "FWL_GP")
    done = fwl(*command, "--jobs", "1", "--out", tmp_path / "out", *settings)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # what teachers warn of is in their scores
    for text in ("toy: rmse of the teacher", "classes: accuracy ", "classes, calibrated: ECE of the teacher"):
        assert text in done.stdout
    stored = json.loads((tmp_path / "out" / "results.json").read_text())
    assert len(stored["rows"]) == 2 + 4 + 4 + 2 * 3 + 3
    assert {"teachers.png", "teachers.svg", "report.html"} <= {path.name for path in (tmp_path / "out").iterdir()}


def test_json_goes_to_standard_output(tiny, tmp_path):
    done = fwl(*TINY, "--out", tmp_path / "again", "--json", "--quiet")
    assert json.loads(done.stdout)["rows"] == json.loads((tiny[1] / "results.json").read_text())["rows"]


def test_report_renders_a_stored_run_again(tiny, tmp_path):
    page = (tiny[1] / "report.html").read_bytes()
    done = fwl("report", tiny[1], "--out", tmp_path / "page.html")
    assert done.returncode == 0
    assert (tmp_path / "page.html").read_bytes() == page


def test_the_version_is_told():
    assert fwl("--version").stdout == "fwl 0.1.0\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["reproduce", "tyo"],
            "unknown experiment 'tyo'; did you mean 'toy'? "
            "known: toy, sentiment, ranking, beta, learning-curve, annotators, sampling, teachers, sentiment-curve, "
            "gaps",
        ),
        (["reproduce", "toy", "--size", "tny"], "unknown size 'tny'; did you mean 'tiny'? known: tiny, reduced, paper"),
        (
            ["reproduce", "beta", "--methods", "FLW"],
            "unknown method 'FLW'; did you mean 'FWL'? known: FWL",
        ),
        (["reproduce", "toy", "--seeds", "0"], "seeds=0: expected at least 1"),
        (
            ["reproduce", "toy", "--set", "beta=-1"],
            "beta=-1.0: expected a number from 0 up; 0 trusts the teacher everywhere, "
            "larger values stay closer to the weak labels",
        ),
        (["reproduce", "toy", "--set", "n_weak=0"], "setting n_weak=0: expected at least 1"),
        (
            ["reproduce", "toy", "--set", "n_strong=1"],
            "setting n_strong=1: expected at least 2; from one strong sample nobody can tell signal from noise",
        ),
        (["reproduce", "toy", "--set", "x_range=nan"], "setting x_range=nan: expected a number above 0"),
        (["reproduce", "toy", "--set", "strong_noise=inf"], "setting strong_noise=inf: expected a number from 0 up"),
        (
            ["reproduce", "toy", "--set", "weak=__import__('os').system('true')"],
            "formula \"__import__('os').system('true')\": \"__import__('os').system('true')\" is not arithmetic of x; "
            "known: + - * / **, numbers, x, pi, e, sin, cos, tan, tanh, exp, log, sqrt, abs, sign, sinc",
        ),
        (
            ["reproduce", "toy", "--set", "weak=log(x)"],
            "formula 'log(x)' is not finite at x = ",
        ),
        (["reproduce", "teachers", "--set", "clusters=0"], "setting clusters=0: expected at least 1"),
        (
            ["reproduce", "teachers", "--set", "toys.beta=1"],
            "unknown part 'toys'; did you mean 'toy'? known: toy, sent",
        ),
        (
            ["reproduce", "annotators", "--size", "reduced"],
            "annotators reads real data for sentiment and ranking; name the folder that has one for each task by "
            "--data DIR, or give --size tiny for made-up data",
        ),
        (["reproduce", "beta", "--data", "nowhere"], "--data nowhere: there is no such folder"),
        (
            ["reproduce", "teachers", "--set", "beta=-1"],
            "beta=-1.0: expected a number from 0 up; 0 trusts the teacher everywhere, "
            "larger values stay closer to the weak labels",
        ),
        (
            ["report", "nowhere"],
            "nowhere is neither a run (it has no results.json) nor a model (no manifest.json); expected a folder that "
            "`fwl reproduce EXPERIMENT --out DIR` or `fwl fit --out DIR` wrote",
        ),
    ],
)
def test_bad_input_gets_one_message_and_exit_code_two(arguments, message, tmp_path):
    done = fwl(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {message}")
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == [], "nothing may be left behind"


def test_an_unknown_setting_is_answered_with_the_nearest(tmp_path):
    done = fwl("reproduce", "toy", "--set", "bta=1", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: unknown setting 'bta'; did you mean 'beta'? known: seed, true, weak,")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("in the way")
    done = fwl("reproduce", "toy", "--out", tmp_path / "file" / "toy")
    assert done.returncode == 2
    assert done.stderr == (
        f"error: cannot write to folder {tmp_path}/file/toy (Not a directory); name another with --out\n"
    )
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_page_that_cannot_be_written_is_refused(tiny, tmp_path):
    (tmp_path / "file").write_text("in the way")
    done = fwl("report", tiny[1], "--out", tmp_path / "file" / "page.html")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: cannot write {tmp_path}/file/page.html (Not a directory)")


def test_bad_input_leaves_earlier_results_alone(tiny):
    before = {path.name: path.read_bytes() for path in tiny[1].iterdir()}
    assert fwl("reproduce", "toy", "--out", tiny[1], "--set", "beta=-1").returncode == 2
    assert {path.name: path.read_bytes() for path in tiny[1].iterdir()} == before


def test_resuming_with_other_settings_is_refused(tiny):
    done = fwl(*TINY, "--out", tiny[1], "--resume", "--set", "beta=3")
    assert done.returncode == 2
    assert "is the journal of a run with other settings" in done.stderr


def test_data_for_an_experiment_that_makes_its_own_is_not_read_and_said_so(tmp_path):
    done = fwl(*TINY, "--out", tmp_path / "toy", "--data", "somewhere")
    assert done.returncode == 0
    assert done.stderr == "note: toy makes its own data; --data somewhere is not read\n"
