import numpy as np
import pytest

from fwl.errors import InvalidInput
from fwl.randomness import Chance
from fwl.students.encoder import SentenceEncoder
from fwl.students.losses import binary_cross_entropy
from fwl.students.tuned_encoder import LAYERS, tune, with_weights
from tests.examples import Listener
from tests.unit.students.test_encoder import save_encoder

TEXTS = ["good film", "bad film", "a good good film", "what a bad bad film"] * 8
Y = np.array([[1.0], [0.0]] * 16)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return SentenceEncoder.load(save_encoder(tmp_path_factory.mktemp("encoder"), num_hidden_layers=LAYERS + 1))


def tuned(encoder, updates=20, seed=0, progress=None):
    return tune(encoder, TEXTS, Y, binary_cross_entropy, updates, Chance(seed), progress)


def apart(encoder):
    """How far the two classes' mean vectors lie apart."""
    vectors = encoder.vectors(TEXTS)
    return np.linalg.norm(vectors[Y[:, 0] == 1].mean(axis=0) - vectors[Y[:, 0] == 0].mean(axis=0))


def test_vectors_tell_more_of_the_labels_and_the_encoder_stays_as_it_was(encoder):
    before = encoder.vectors(TEXTS)
    found, _ = tuned(encoder)
    assert apart(found) > 1.1 * apart(encoder)
    assert np.array_equal(encoder.vectors(TEXTS), before)
    assert found.digest != encoder.digest


def test_no_update_changes_no_vector(encoder):
    assert np.array_equal(tuned(encoder, updates=0)[0].vectors(TEXTS), encoder.vectors(TEXTS))


def test_only_upper_layers_are_trained(encoder):
    _, weights = tuned(encoder, updates=1)
    assert {name.split(".")[2] for name in weights} == {str(layer) for layer in range(1, LAYERS + 1)}


def test_the_same_chance_gives_the_same_encoder(encoder):
    assert tuned(encoder)[0].digest == tuned(encoder)[0].digest
    assert tuned(encoder)[0].digest != tuned(encoder, seed=1)[0].digest


def test_its_weights_make_it_again(encoder):
    found, weights = tuned(encoder)
    again = with_weights(encoder, weights)
    assert np.array_equal(again.vectors(TEXTS), found.vectors(TEXTS))
    assert again.digest == found.digest


def test_an_encoder_with_fewer_layers_is_trained_whole(tmp_path):
    shallow = SentenceEncoder.load(save_encoder(tmp_path, num_hidden_layers=1))
    found, weights = tuned(shallow)
    assert {name.split(".")[2] for name in weights} == {"0"}
    assert not np.array_equal(found.vectors(TEXTS), shallow.vectors(TEXTS))


def test_of_several_layers_that_are_read_the_last_is_tuned(tmp_path):
    deep = SentenceEncoder.load(save_encoder(tmp_path), layers=2)
    assert tuned(deep)[0].vectors(TEXTS).shape == (32, 16)


def test_every_update_is_heard_of(encoder):
    listener = Listener()
    tuned(encoder, updates=3, progress=listener)
    assert listener.total == sum(listener.heard) == 3
    assert listener.finished


@pytest.mark.parametrize("wrong", [{"no.such.layer": np.zeros(3, dtype=np.float32)}, {"pooler.dense.bias": np.ones(3)}])
def test_weights_of_another_encoder_are_refused(encoder, wrong):
    with pytest.raises(InvalidInput, match="it is another one"):
        with_weights(encoder, wrong)
