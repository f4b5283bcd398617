from collections import OrderedDict
from dataclasses import replace

import numpy as np
import pytest
from filelock import FileLock
from tests.unit.students.test_encoder import save_encoder

from fwl.experiments.guest import EncoderGuest, _teach, _updates
from fwl.experiments.tweets import PIECES, open_encoder
from fwl.learn.recipe import Problem
from fwl.learn.task import MULTICLASS
from fwl.records import StrongSet, WeakSet
from fwl.students.encoder import encoder_ids
from fwl.students.inference import predict
from fwl.students.training import Lesson

WORDS = ["good", "bad", "film"]


@pytest.fixture
def encoder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("fwl.experiments.guest._MADE", OrderedDict())
    return save_encoder(tmp_path / "encoder")


def problem_with(encoder, n=48):
    texts = [WORDS[i % 3] + " a" * (i % 4) for i in range(n)]
    ids = encoder_ids(texts, open_encoder(encoder))
    samples = np.zeros(n, dtype=[("vector", np.float32, (2,)), (PIECES, np.int32, ids.shape[1:])])
    samples[PIECES] = ids
    truth = np.eye(3)[np.arange(n) % 3]
    return Problem(WeakSet(samples[::-1].copy(), truth), StrongSet(samples, truth), MULTICLASS)


def some(strong, n):
    return StrongSet(strong.X[:n], strong.y[:n])


def kept(tmp_path):
    return sorted(path.name for path in (tmp_path / "cache" / "fwl" / "guests").iterdir() if path.is_dir())


def right(said, strong):
    return np.mean(said.argmax(axis=1) == strong.y.argmax(axis=1))


def test_a_guest_learns_the_strong_labels(encoder):
    problem = problem_with(encoder)
    said = predict(EncoderGuest(encoder, 2, 1e-2)(problem), problem.strong.X)
    assert right(said, problem.strong) > 0.8


def test_what_weak_labels_say_is_learned_before(encoder, tmp_path):
    problem = problem_with(encoder)
    helped = replace(problem, weak=WeakSet(problem.strong.X, problem.strong.y))
    few = [replace(its, strong=some(problem.strong, 3)) for its in (problem, helped)]
    misled, led = (predict(EncoderGuest(encoder, 2, 1e-2, 48)(its), problem.strong.X) for its in few)
    assert right(led, problem.strong) > right(misled, problem.strong)
    assert len(kept(tmp_path)) == 4  # after the weak tweets, and after the strong ones


def test_other_strong_tweets_share_what_the_weak_ones_taught(encoder, tmp_path):
    problem, make = problem_with(encoder), EncoderGuest(encoder, 1, 1e-2, 24)
    for n in (6, 12):
        make(replace(problem, strong=some(problem.strong, n)))
    assert len(kept(tmp_path)) == 3


def test_it_is_trained_once_and_read_again_bit_for_bit(encoder, tmp_path, monkeypatch):
    problem, make = problem_with(encoder), EncoderGuest(encoder, 1, 1e-2)
    first = predict(make(problem), problem.strong.X)
    assert len(kept(tmp_path)) == 1
    monkeypatch.setattr("fwl.experiments.guest._MADE", OrderedDict())
    monkeypatch.setattr("fwl.experiments.guest.train", lambda *_, **__: pytest.fail("trained again"))
    assert np.array_equal(predict(make(problem), problem.strong.X), first)


def test_what_was_begun_is_what_is_made(encoder, tmp_path, monkeypatch):
    problem, make = problem_with(encoder, 6), EncoderGuest(encoder, 1, 1e-2, 12)
    make.begin(problem)
    assert len(kept(tmp_path)) == 2
    monkeypatch.setattr("fwl.experiments.guest.train", lambda *_, **__: pytest.fail("trained again"))
    make(problem)


def test_nobody_begins_what_somebody_else_is_at(encoder, tmp_path):
    problem, make = problem_with(encoder, 6), EncoderGuest(encoder, 1, 1e-2, 12)
    for lessons in (make._lessons(problem)[:1], make._lessons(problem)):
        place = tmp_path / "cache" / "fwl" / "guests" / make._digest(lessons)[:32]
        place.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(place.with_suffix(".lock")):
            make.begin(problem)
        assert kept(tmp_path) == []


def test_a_process_asks_the_encoder_once(encoder, monkeypatch):
    problem, make = problem_with(encoder), EncoderGuest(encoder, 1, 1e-2)
    first = predict(make(problem), problem.strong.X)
    monkeypatch.setattr("fwl.students.encoder.pooled", lambda *_: pytest.fail("asked again"))
    assert np.array_equal(predict(make(problem), problem.strong.X), first)


def test_training_forgets_what_was_made_before(encoder):
    problem = problem_with(encoder)
    guest = EncoderGuest(encoder, 2, 1e-2)._untrained(3).eval()
    before = predict(guest, problem.strong.X)
    _teach(guest, Lesson(problem.strong.X, problem.strong.y), 1e-2)
    assert not np.allclose(predict(guest, problem.strong.X), before)


def test_other_labels_other_layers_and_other_rates_are_other_guests(encoder, tmp_path):
    problem = problem_with(encoder, 6)
    flipped = replace(problem, strong=StrongSet(problem.strong.X, problem.strong.y[::-1].copy()))
    for make, given in (
        (EncoderGuest(encoder, 1, 1e-2), problem),
        (EncoderGuest(encoder, 1, 1e-2), flipped),
        (EncoderGuest(encoder, 2, 1e-2), problem),
        (EncoderGuest(encoder, 1, 1e-3), problem),
    ):
        make(given)
    assert len(kept(tmp_path)) == 4


def test_one_that_was_changed_on_disk_is_trained_anew(encoder, tmp_path, monkeypatch):
    problem, make = problem_with(encoder, 6), EncoderGuest(encoder, 1, 1e-2)
    first = predict(make(problem), problem.strong.X)
    (name,) = kept(tmp_path)
    arrays = tmp_path / "cache" / "fwl" / "guests" / name / "arrays.safetensors"
    arrays.write_bytes(arrays.read_bytes()[:-1] + b"x")
    monkeypatch.setattr("fwl.experiments.guest._MADE", OrderedDict())
    assert np.array_equal(predict(make(problem), problem.strong.X), first)


def test_few_tweets_are_not_seen_too_often_and_many_once():
    assert [_updates(n) for n in (32, 320, 3200, 32_000)] == [5, 50, 120, 1000]
