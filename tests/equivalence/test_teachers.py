"""The exact Gaussian process against the textbook's formulas and against scikit-learn's."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sklearn_kernels

from fwl.randomness import Chance
from fwl.students import Perceptron, represent
from fwl.teach import RBF, ExactGP, Linear, Matern32, White
from tests.oracles import gaussian_process as oracle
from tests.tolerances import ALGEBRA

KERNELS = [RBF() + White(), Matern32(0.7, 2.0) + White(0.1), RBF(2.0) + Linear(0.5) + White(0.05)]


def features() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(45, 3))


def representations() -> np.ndarray:
    return represent(Perceptron(3, hidden=(16, 8), chance=Chance(0)), features())


def labels(columns: int = 2) -> np.ndarray:
    X = features()[:20]
    return np.stack([np.sin((c + 1) * X.sum(axis=1)) for c in range(columns)], axis=1)


INPUTS = pytest.mark.parametrize("inputs", [features, representations], ids=["x", "psi"])


@INPUTS
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_posterior_is_the_textbooks(inputs, kernel):
    strong, others = np.split(inputs(), [20])
    posterior = ExactGP(kernel).fit(strong, labels()).posterior(others)
    mean, variance = oracle.posterior(kernel, strong, labels(), others)
    np.testing.assert_allclose(posterior.mean, mean, rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(posterior.variance, np.stack([variance] * 2, axis=1), rtol=0, atol=ALGEBRA)


@INPUTS
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_log_evidence_is_the_textbooks(inputs, kernel):
    strong = inputs()[:20]
    expected = oracle.log_evidence(kernel, strong, labels())
    assert ExactGP(kernel).fit(strong, labels()).log_evidence_ == pytest.approx(expected, rel=ALGEBRA)


@INPUTS
def test_posterior_is_scikit_learns(inputs):
    strong, others = np.split(inputs(), [20])
    teacher = ExactGP(RBF(0.8) + White(0.02)).fit(strong, labels(1))
    peer = GaussianProcessRegressor(
        sklearn_kernels.RBF(0.8) + sklearn_kernels.WhiteKernel(0.02), alpha=0.0, optimizer=None
    )
    mean, std = peer.fit(strong, labels(1)[:, 0]).predict(others, return_std=True)
    posterior = teacher.posterior(others)
    np.testing.assert_allclose(posterior.mean[:, 0], mean, rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(posterior.variance[:, 0], std**2, rtol=0, atol=ALGEBRA)
    assert teacher.log_evidence_ == pytest.approx(peer.log_marginal_likelihood_value_, rel=ALGEBRA)


@INPUTS
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_leave_one_out_is_refitting(inputs, kernel):
    strong = inputs()[:20]
    closed_form = ExactGP(kernel).fit(strong, labels()).leave_one_out()
    mean, variance = oracle.leave_one_out(kernel, strong, labels())
    np.testing.assert_allclose(closed_form.mean, mean, rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(closed_form.variance, np.stack([variance] * 2, axis=1), rtol=0, atol=ALGEBRA)


def test_leave_one_out_is_refitting_with_a_prior_mean():
    strong, y = features()[:20], labels()
    prior_mean = 0.5 * y + np.random.default_rng(1).normal(size=y.shape)
    closed_form = ExactGP().fit(strong, y, prior_mean).leave_one_out()
    for i in range(len(strong)):
        rest = np.delete(np.arange(len(strong)), i)
        refitted = ExactGP().fit(strong[rest], y[rest], prior_mean[rest]).posterior(strong[[i]], prior_mean[[i]])
        np.testing.assert_allclose(closed_form.mean[[i]], refitted.mean, rtol=0, atol=ALGEBRA)
        np.testing.assert_allclose(closed_form.variance[[i]], refitted.variance, rtol=0, atol=ALGEBRA)


def test_a_prior_mean_is_a_process_on_the_residuals():
    strong, others = np.split(features(), [20])
    y, m, m_others = labels(), labels() ** 2, np.ones((25, 2))
    taught = ExactGP().fit(strong, y, m).posterior(others, m_others)
    residual = ExactGP().fit(strong, y - m).posterior(others)
    np.testing.assert_allclose(taught.mean, residual.mean + m_others, rtol=0, atol=ALGEBRA)
    np.testing.assert_array_equal(taught.variance, residual.variance)


def test_columns_are_taught_independently():
    strong, others = np.split(features(), [20])
    both = ExactGP().fit(strong, labels()).posterior(others)
    for c in range(2):
        alone = ExactGP().fit(strong, labels()[:, c]).posterior(others)
        np.testing.assert_allclose(both.mean[:, [c]], alone.mean, rtol=0, atol=ALGEBRA)
