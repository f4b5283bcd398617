"""The benchmarks of students, teachers and softening at scale run, small; what they measure is never asserted."""

import json
import math

import numpy as np
import pytest
from benchmarks import scale, students, teachers
from benchmarks.peers import child
from benchmarks.peers.common import Lesson, find_cells

from fwl.randomness import Chance
from fwl.students import predict
from fwl.teach import ClusteredGP

KEYS = {"name", "fit_s", "predict_per_s", "nll", "ece", "peak_mb", "gemm_share"}
HERE = [name for name in teachers.PEERS if not name.startswith("GPflow")]
SMALL = teachers.SIZES["small"]


def run_small(tmp_path, *arguments):
    path = tmp_path / "rows.json"
    teachers.main(["--size", "small", "--rounds", "1", "--json", str(path), *arguments])
    return json.loads(path.read_text())


def row_of(name, **numbers):
    return {"name": name, "fit_s": 1.0, "predict_per_s": 1.0, "nll": 0.5, "gemm_share": 0.6, **numbers}


@pytest.mark.filterwarnings("ignore")  # other libraries say what they like
def test_every_teacher_gets_a_whole_row(tmp_path, monkeypatch, capsys):
    # In this process: loading every library anew for each row would take most of the time.
    monkeypatch.setattr(teachers, "ask", lambda name, folder: child.answer(teachers.PEERS[name], folder))
    rows = run_small(tmp_path, "--only", ",".join(HERE))
    assert [row["name"] for row in rows] == HERE
    for row in rows:
        assert set(row) == KEYS
        assert all(math.isfinite(value) for key, value in row.items() if key != "name"), row
    printed = capsys.readouterr()
    assert all(name in printed.out and name in printed.err for name in HERE)


def test_a_row_comes_back_from_a_process_of_its_own(tmp_path):
    (row,) = run_small(tmp_path, "--only", "fwl")
    assert set(row) == KEYS
    assert row["peak_mb"] >= 0


def test_everybody_gets_the_clusters_of_the_package():
    task = teachers.draw_task(SMALL, Chance(1))
    cells = find_cells(
        Lesson(task.Z, task.y, SMALL.clusters, Chance(0).child("k-means").integer(), 1.0, 1.0, 0.1, 1, 1, 1)
    )
    teacher = ClusteredGP(SMALL.clusters).fit(task.Z, task.y)
    assert np.array_equal(teacher.cluster_, cells.of(task.Z.astype(np.float32)))


def test_useful_operations_are_those_of_the_formula():
    work = 3, np.array([10, 20])  # 3 centroids; clusters of 10 and 20 samples; 7 columns
    expected = 2 * (2 * 7 * 3) + (2 * 10 * 7 + 100 + 2 * 10) + (2 * 20 * 7 + 400 + 2 * 20)
    assert child.useful_operations(work, columns=7) == expected


def test_promises_are_kept_at_their_edge_and_missed_beyond_it():
    own = row_of(teachers.OWN, predict_per_s=6.0)
    peer, sparse = row_of(teachers.SCIKIT_LEARN, fit_s=1.5), row_of(teachers.SPARSE[0], predict_per_s=4.0)
    assert [kept for _, kept in teachers.promises([own, peer, sparse])] == [True] * 5
    slow = {**own, "fit_s": 1.1, "predict_per_s": 5.9, "nll": 0.51, "gemm_share": 0.49}
    assert [kept for _, kept in teachers.promises([slow, peer, sparse])] == [False] * 5
    assert len(teachers.promises([own])) == 1
    assert not teachers.promises([peer])


def test_an_unknown_row_is_refused():
    with pytest.raises(SystemExit, match="no row of that name"):
        teachers.chosen("nobody")


@pytest.mark.parametrize("kind", [scale.MADE, scale.MAPPED, scale.IN_MEMORY])
def test_softening_at_scale_is_measured_from_every_source(kind):
    row = scale.measure(kind, 1100, scale.SIZES["small"], jobs=2)
    assert row["samples"] == 1100
    assert all(math.isfinite(value) for value in row.values() if not isinstance(value, str))
    assert (row["features_s"] > 0) == (kind == scale.MADE)


def test_scale_writes_a_row_for_each_size_and_source(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(scale, "measure_apart", scale.measure)
    path = tmp_path / "rows.json"
    scale.main(["--size", "small", "--json", str(path), "--jobs", "1"])
    rows = json.loads(path.read_text())
    assert [row["samples"] for row in rows] == [1000, 4000, 4000, 4000]
    assert "1,000 to 4,000 samples: time x" in capsys.readouterr().out
    scale.main(["--size", "small", "--most", "1000"])
    assert "4,000" not in capsys.readouterr().out


def test_a_size_of_its_own_process_is_measured_there():
    size = scale.SIZES["small"]
    assert scale.measure_apart(scale.MADE, 600, size, 1)["samples"] == 600


def test_the_million_is_held_against_its_goal(capsys):
    scale.show_promise([{"samples": 10**6, "peak_mb": 999.0}, {"samples": 10**7, "peak_mb": 5000.0}])
    assert capsys.readouterr().out.startswith("OK")
    scale.show_promise([{"samples": 10**6, "peak_mb": 10.0}, {"samples": 10**6, "peak_mb": 1001.0}])
    assert capsys.readouterr().out.startswith("MISSED")


FEW = students.SIZES["small"]


def test_text_loops_get_a_row_for_each_turn_and_a_figure(tmp_path, capsys):
    path = tmp_path / "students.json"
    students.main(["--size", "small", "--json", str(path)])
    rows = json.loads(path.read_text())
    assert [row["samples"] for row in rows] == [(turn + 1) * FEW.steps * students.BATCH for turn in range(FEW.turns)]
    assert all(math.isfinite(value) for row in rows for value in row.values())
    assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 1 + FEW.turns  # the promise is about the full size


def test_text_loops_start_from_the_same_student():
    X, y = students.draw_tweets(50, FEW, Chance(1))
    start = students.new_student(FEW)
    plain = students.plain_loop(start, X, y, steps=1)
    np.testing.assert_allclose(plain.outputs(X), predict(start, X), rtol=0, atol=1e-5)


def test_made_up_tweets_have_the_lengths_of_tweets_and_every_class():
    X, y = students.draw_tweets(3000, students.SIZES["full"], Chance(1))
    lengths = (X != 0).sum(axis=1)
    assert (lengths.min(), lengths.max()) == (3, students.LONGEST)
    assert 14 < lengths.mean() < 17
    assert X.max() < students.SIZES["full"].vocabulary
    assert y.mean(axis=0).min() > 0.2


def test_the_promise_of_text_loops_takes_both_speed_and_loss():
    row = {"samples": 64, "plain_loss": 1.0, "fwl_loss": students.SAME, "times_plain": students.GOAL}
    assert students.promise([row])[1]
    assert not students.promise([{**row, "times_plain": 0.99 * students.GOAL}])[1]
    assert not students.promise([{**row, "fwl_loss": 1.001 * students.SAME}])[1]
