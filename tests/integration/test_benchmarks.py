"""The benchmarks of students, teachers and softening at scale run, small; what they measure is never asserted."""

import dataclasses
import json
import math

import numpy as np
import pytest
from benchmarks import rank_student, scale, student_loops, students, teachers, text_student
from benchmarks.peers import child
from benchmarks.peers.common import Lesson, find_cells
from tests.tolerances import ALGEBRA, SINGLE

from fwl.randomness import Chance
from fwl.students import predict
from fwl.students.losses import binary_cross_entropy
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


FEW, FEW_PAIRS = text_student.SIZES["small"], rank_student.SIZES["small"]


def test_loops_of_every_student_get_a_row_for_each_turn_and_a_figure(tmp_path, capsys):
    path = tmp_path / "students.json"
    students.main(["--size", "small", "--json", str(path)])
    for own, size, batch in (
        (path, FEW, text_student.BATCH),
        (tmp_path / "students-ranker.json", FEW_PAIRS, rank_student.BATCH),
    ):
        rows = json.loads(own.read_text())
        assert [row["samples"] for row in rows] == [(turn + 1) * size.steps * batch for turn in range(size.turns)]
        assert all(math.isfinite(value) for row in rows for value in row.values())
        assert own.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 2 * 2 + FEW.turns + FEW_PAIRS.turns  # the promise is about the full size


def test_one_student_can_be_measured_alone(capsys):
    students.main(["--size", "small", "--student", "ranker"])
    assert len(capsys.readouterr().out.splitlines()) == 2 + FEW_PAIRS.turns


def test_text_loops_start_from_the_same_student():
    lesson = text_student.draw_tweets(50, FEW, Chance(1))
    start = text_student.new_student(FEW)
    plain = text_student.plain(start, lesson, steps=1)
    np.testing.assert_allclose(plain.outputs(lesson.X), predict(start, lesson.X), rtol=0, atol=SINGLE)


def test_ranker_loops_start_from_the_same_student_and_learn():
    texts = rank_student.draw_texts(FEW_PAIRS, Chance(1))
    lesson, held_out = rank_student.draw_lessons(texts, FEW_PAIRS, Chance(1))
    start = rank_student.new_student(texts, FEW_PAIRS)
    loops = [rank_student.plain(start, texts, lesson, steps=60), rank_student.packaged(start, lesson, steps=60)]
    before = [loop.outputs(held_out.X) for loop in loops]
    np.testing.assert_allclose(*before, rtol=0, atol=SINGLE)
    for loop in loops:
        loop.turn()
    first, *after = (
        student_loops.held_out_loss(outputs, held_out.y, binary_cross_entropy)
        for outputs in (before[0], *(loop.outputs(held_out.X) for loop in loops))
    )
    assert max(after) < first


def test_made_up_tweets_have_the_lengths_of_tweets_and_every_class():
    full = text_student.SIZES["full"]
    lesson = text_student.draw_tweets(3000, full, Chance(1))
    lengths = (lesson.X != 0).sum(axis=1)
    assert (lengths.min(), lengths.max()) == (3, text_student.LONGEST)
    assert 14 < lengths.mean() < 17
    assert lesson.X.max() < full.vocabulary
    assert lesson.y.mean(axis=0).min() > 0.2


def test_made_up_documents_have_the_words_that_their_labels_speak_of():
    size = dataclasses.replace(rank_student.SIZES["full"], queries=300, documents=500)
    texts = rank_student.draw_texts(size, Chance(1))
    for rows, shortest, longest in ((texts.queries, 2, 6), (texts.documents, size.shortest, size.longest)):
        lengths = (rows != 0).sum(axis=1)
        assert (lengths.min(), lengths.max()) == (shortest, longest)
        assert rows.max() < size.vocabulary
    good, topic = np.divmod((texts.documents - 1) % rank_student.KINDS, rank_student.TOPICS)
    words = (texts.documents != 0).sum(axis=1)
    for share, found in ((texts.good, good == 1), *((texts.shares[:, t], topic == t) for t in range(4))):
        counted = (found & (texts.documents != 0)).sum(axis=1) / words
        np.testing.assert_allclose(counted, share, rtol=0, atol=0.2)  # of 150 words or more, each by chance
    asked = (texts.queries - 1) % rank_student.TOPICS == texts.topic[:, None]
    assert asked[texts.queries != 0].all()


def test_made_up_pairs_are_labelled_by_topic_and_worth_and_held_out_by_text():
    size = dataclasses.replace(rank_student.SIZES["full"], queries=300, documents=500)
    texts = rank_student.draw_texts(size, Chance(1))
    lesson, held_out = rank_student.draw_lessons(texts, size, Chance(1))
    for (query, *pair), label in zip(lesson.X[:100], lesson.y[:100, 0], strict=True):
        plus, minus = ((0.05 + texts.shares[d, texts.topic[query]]) * math.exp(3.0 * texts.good[d] - 1.5) for d in pair)
        assert label == pytest.approx(plus / (plus + minus), abs=ALGEBRA)
    assert not set(lesson.X[:, 0]) & set(held_out.X[:, 0])
    assert not set(lesson.X[:, 1:].flat) & set(held_out.X[:, 1:].flat)


def test_the_promise_of_student_loops_takes_both_speed_and_loss():
    row = {"samples": 64, "plain_loss": 1.0, "fwl_loss": student_loops.SAME, "times_plain": 4.0}
    assert student_loops.promise([row], goal=4.0)[1]
    assert not student_loops.promise([{**row, "times_plain": 3.99}], goal=4.0)[1]
    assert not student_loops.promise([{**row, "fwl_loss": 1.001 * student_loops.SAME}], goal=4.0)[1]
