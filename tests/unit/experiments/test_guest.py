import numpy as np
import pytest
from tests.unit.students.test_encoder import save_encoder

from fwl.experiments.guest import EncoderGuest, _updates
from fwl.experiments.tweets import PIECES, open_encoder
from fwl.records import StrongSet
from fwl.students.encoder import encoder_ids
from fwl.students.inference import predict

WORDS = ["good", "bad", "film"]


@pytest.fixture
def encoder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return save_encoder(tmp_path / "encoder")


def strong_set(encoder, n=48):
    texts = [WORDS[i % 3] + " a" * (i % 4) for i in range(n)]
    ids = encoder_ids(texts, open_encoder(encoder))
    samples = np.zeros(n, dtype=[("vector", np.float32, (2,)), (PIECES, np.int32, ids.shape[1:])])
    samples[PIECES] = ids
    return StrongSet(samples, np.eye(3)[np.arange(n) % 3])


def kept(tmp_path):
    return sorted(path.name for path in (tmp_path / "cache" / "fwl" / "guests").iterdir() if path.is_dir())


def test_a_guest_learns_the_strong_labels(encoder):
    strong = strong_set(encoder)
    said = predict(EncoderGuest(encoder, 2, 1e-2)(strong), strong.X)
    assert np.mean(said.argmax(axis=1) == strong.y.argmax(axis=1)) > 0.8


def test_it_is_trained_once_and_read_again_bit_for_bit(encoder, tmp_path, monkeypatch):
    strong, make = strong_set(encoder), EncoderGuest(encoder, 1, 1e-2)
    first = predict(make(strong), strong.X)
    assert len(kept(tmp_path)) == 1
    monkeypatch.setattr("fwl.experiments.guest.train", lambda *_, **__: pytest.fail("trained again"))
    assert np.array_equal(predict(make(strong), strong.X), first)


def test_other_labels_other_layers_and_other_rates_are_other_guests(encoder, tmp_path):
    strong = strong_set(encoder, 6)
    flipped = StrongSet(strong.X, strong.y[::-1].copy())
    for make, given in (
        (EncoderGuest(encoder, 1, 1e-2), strong),
        (EncoderGuest(encoder, 1, 1e-2), flipped),
        (EncoderGuest(encoder, 2, 1e-2), strong),
        (EncoderGuest(encoder, 1, 1e-3), strong),
    ):
        make(given)
    assert len(kept(tmp_path)) == 4


def test_one_that_was_changed_on_disk_is_trained_anew(encoder, tmp_path):
    strong, make = strong_set(encoder, 6), EncoderGuest(encoder, 1, 1e-2)
    first = predict(make(strong), strong.X)
    (name,) = kept(tmp_path)
    arrays = tmp_path / "cache" / "fwl" / "guests" / name / "arrays.safetensors"
    arrays.write_bytes(arrays.read_bytes()[:-1] + b"x")
    assert np.array_equal(predict(make(strong), strong.X), first)


def test_few_tweets_are_not_seen_too_often_and_many_once():
    assert [_updates(n) for n in (32, 320, 3200, 32_000)] == [5, 50, 120, 1000]
