import warnings

import numpy as np
import pytest

from fwl.teach import RBF, White
from fwl.teach.sparse_classes import SparseClassifierGP
from tests.tolerances import ALGEBRA, EXACT

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # its own, on import
    pytest.importorskip("gpytorch")

CENTRES = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
COLOURS = np.eye(3)


def blobs(n: int = 90, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    which = rng.integers(3, size=n)
    return CENTRES[which] + 0.5 * rng.normal(size=(n, 2)), COLOURS[which]


def accuracy(teacher: SparseClassifierGP) -> float:
    Z, y = blobs(200, seed=1)
    return float((teacher.posterior(Z).mean.argmax(axis=1) == y.argmax(axis=1)).mean())


@pytest.mark.parametrize("hyperparameters", ["fixed", "evidence"])
def test_it_tells_blobs_apart(hyperparameters):
    teacher = SparseClassifierGP(inducing=12, batch_size=32, steps=150, hyperparameters=hyperparameters).fit(*blobs())
    assert accuracy(teacher) > 0.95


def test_far_away_it_falls_back_to_its_prior():
    posterior = SparseClassifierGP(inducing=12, steps=100).fit(*blobs()).posterior([[0.0, 0.0], [1e3, 1e3]])
    assert (posterior.variance[0] < 0.6 * posterior.prior[0]).all()
    np.testing.assert_allclose(posterior.variance[1], posterior.prior[1], rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(posterior.mean[1], 0.0, rtol=0, atol=ALGEBRA)


def test_the_bound_beats_guessing_and_is_below_zero():
    Z, y = blobs()
    assert len(Z) * np.log(1 / 3) < SparseClassifierGP(inducing=12, steps=100).fit(Z, y).log_evidence_ < 0


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_evidence_of_one_label_is_its_share_by_symmetry(classes):
    # Before any label every class is as likely: log p(y) = -log C, and the bound is below that by little.
    bound = SparseClassifierGP(steps=200).fit([[0.0]], np.eye(classes)[:1]).log_evidence_
    assert -np.log(classes) - 0.1 < bound < -np.log(classes) + 0.05  # the bound is an average over draws


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_as_many_samples_as_classes_are_nothing_special(n):
    posterior = SparseClassifierGP(RBF(0.5) + White(), steps=100).fit(CENTRES[:n], COLOURS[:n]).posterior(CENTRES)
    np.testing.assert_array_equal(posterior.mean.argmax(axis=1)[:n], np.arange(3)[:n])


def test_a_batch_of_one_sample_teaches():
    assert accuracy(SparseClassifierGP(inducing=12, batch_size=1, steps=300).fit(*blobs())) > 0.8


def test_a_label_in_doubt_is_learned_as_such():
    Z, y = blobs()
    doubtful = 0.5 * y + 0.5 * y[:, [1, 0, 2]]  # red or green, nobody knows which; blue is certain
    mean = SparseClassifierGP(inducing=12, steps=100).fit(Z, doubtful).posterior(CENTRES).mean
    assert abs(mean[:2, 0] - mean[:2, 1]).max() < 0.3
    assert (mean[:2, 0] > mean[:2, 2] + 0.5).all()
    assert mean[2].argmax() == 2


def test_a_prior_mean_is_where_the_latents_start():
    Z, y = blobs()
    plain = SparseClassifierGP(inducing=12, steps=100).fit(Z, y)
    told = SparseClassifierGP(inducing=12, steps=100).fit(Z, y, 4.0 * y)
    assert told.log_evidence_ > plain.log_evidence_
    far = told.posterior([[1e3, 1e3]], [[1.0, 2.0, 3.0]])
    np.testing.assert_allclose(far.mean, [[1.0, 2.0, 3.0]], rtol=0, atol=ALGEBRA)
    zero = SparseClassifierGP(inducing=12, steps=100).fit(Z, y, 0 * y)
    np.testing.assert_allclose(zero.posterior(Z, 0 * y).mean, plain.posterior(Z).mean, rtol=0, atol=EXACT)


@pytest.mark.parametrize("hyperparameters", ["fixed", "evidence"])
def test_without_noise(hyperparameters):
    teacher = SparseClassifierGP(RBF(), inducing=12, steps=100, hyperparameters=hyperparameters).fit(*blobs())
    assert accuracy(teacher) > 0.9
    assert teacher.posterior(CENTRES).noise == 0.0


def test_noise_in_the_latents_makes_labels_less_telling():
    quiet, loud = (SparseClassifierGP(RBF() + White(noise), 12, 100).fit(*blobs()) for noise in (0.01, 10.0))
    assert loud.log_evidence_ < quiet.log_evidence_


def test_noise_is_fitted_with_the_rest():
    kernel = SparseClassifierGP(inducing=12, steps=50, hyperparameters="evidence").fit(*blobs()).kernel_
    assert abs(np.log(kernel.noise / 0.01)) > 0.1
