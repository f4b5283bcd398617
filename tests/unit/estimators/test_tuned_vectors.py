import numpy as np
import pytest
from tests.unit.students.test_encoder import save_encoder
from tests.unit.students.test_tuned_encoder import TEXTS, Y

from fwl.estimators import tuned_vectors
from fwl.estimators.tuned_vectors import KEPT, TunedVectors, fit_tuned
from fwl.learn.task import BINARY
from fwl.randomness import Chance
from fwl.students.encoder import SentenceEncoder
from fwl.teach.state import State


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return SentenceEncoder.load(save_encoder(tmp_path_factory.mktemp("encoder")))


def fitted(encoder, y=Y, updates=5, seed=0):
    return fit_tuned(encoder, TEXTS, y, BINARY, updates, Chance(seed))


def test_vectors_are_centred_and_on_one_scale(encoder):
    vectors = fitted(encoder).vectors(TEXTS)
    assert np.abs(vectors.mean(axis=0)).max() < 1e-4
    assert vectors.var(axis=0).mean() == pytest.approx(1.0, rel=1e-3)


def test_the_same_labels_are_learned_from_once(encoder, monkeypatch):
    first = fitted(encoder)
    monkeypatch.setattr(tuned_vectors, "tune", None)
    assert fitted(encoder) is first


@pytest.mark.parametrize("change", [{"y": 1.0 - Y}, {"updates": 6}, {"seed": 1}])
def test_others_are_learned_anew(encoder, change):
    first = fitted(encoder)
    assert fitted(encoder, **change).encoder.digest != first.encoder.digest


def test_its_state_makes_it_again(encoder):
    found = fitted(encoder)
    again = TunedVectors.from_state(found.state(), encoder)
    assert np.array_equal(again.vectors(TEXTS), found.vectors(TEXTS))


def test_a_state_without_one_has_none(encoder):
    assert TunedVectors.from_state(State({}, {}), encoder) is None


def test_of_many_tuned_encoders_the_latest_ones_vectors_stay_on_disk(encoder, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    tuned_vectors._LATEST.clear()
    made = [fitted(encoder, seed=seed).encoder.digest[:32] for seed in range(10, 16)]
    kept = {folder.name for folder in (tmp_path / "fwl" / "encoder" / "tuned").iterdir()}
    assert kept == set(made[-KEPT:])
