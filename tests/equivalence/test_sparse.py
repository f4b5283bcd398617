"""The sparse teachers against Titsias' formulas, the exact process, refitting, and GPyTorch's own predictions."""

import math
import warnings

import numpy as np
import pytest
import torch
from scipy.special import log_softmax

from fwl.teach import RBF, ExactGP, Linear, Matern32, White, sparse_classes
from fwl.teach.sparse import SparseGP
from fwl.teach.sparse_classes import SparseClassifierGP
from tests.oracles import gaussian_process as oracle
from tests.tolerances import ALGEBRA, OPTIMISED, SINGLE

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # its own, on import
    gpytorch = pytest.importorskip("gpytorch")

KERNELS = pytest.mark.parametrize(
    "kernel",
    [RBF() + White(), Matern32(0.7, 2.0) + Linear(0.5) + White(0.1), RBF(2.0) + Linear() + White(0.05)],
    ids=str,
)


def inputs(n: int = 40, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 3))


def labels() -> np.ndarray:
    Z = inputs()
    noise = 0.1 * np.random.default_rng(2).normal(size=(40, 2))
    return np.stack([np.sin(Z.sum(axis=1)), np.cos(Z[:, 0])], axis=1) + noise


def titsias_posterior(kernel, U, Z, y, new):
    """Mean [M, C] and variance of the label [M]: Titsias 2009, eq. 6 with the best q(u) of eq. 10."""
    s2 = oracle.noise(kernel)
    Kuu, Kuf, Kus = (oracle.matrix(kernel, U, other) for other in (U, Z, new))
    Kuu_inverse, S = np.linalg.inv(Kuu), np.linalg.inv(Kuu + Kuf @ Kuf.T / s2)
    mean_u, covariance_u = Kuu @ S @ Kuf @ y / s2, Kuu @ S @ Kuu
    prior = np.array([oracle.covariance(kernel, z, z) for z in new]) + s2
    left = Kuu_inverse - Kuu_inverse @ covariance_u @ Kuu_inverse
    return Kus.T @ Kuu_inverse @ mean_u, prior - np.diag(Kus.T @ left @ Kus)


def titsias_bound(kernel, U, Z, y):
    """log N(y | 0, Q + s2 I) - tr(K - Q) / (2 s2), summed over columns: eq. 9."""
    s2, (N, C) = oracle.noise(kernel), y.shape
    Kuf = oracle.matrix(kernel, U, Z)
    Q = Kuf.T @ np.linalg.inv(oracle.matrix(kernel, U, U)) @ Kuf
    covariance = Q + s2 * np.eye(N)
    density = np.trace(y.T @ np.linalg.inv(covariance) @ y) + C * np.linalg.slogdet(covariance)[1]
    trace = np.trace(oracle.matrix(kernel, Z, Z) - Q)
    return -0.5 * float(density + N * C * math.log(2 * math.pi) + C * trace / s2)


@KERNELS
def test_inducing_points_at_the_samples_are_the_exact_process(kernel):
    exact, sparse = ExactGP(kernel).fit(inputs(), labels()), SparseGP(kernel, inducing=40).fit(inputs(), labels())
    assert sparse.log_evidence_ == pytest.approx(exact.log_evidence_, abs=ALGEBRA)
    new = inputs(30, seed=1)
    for one, other in [(sparse.posterior(new), exact.posterior(new)), (sparse.leave_one_out(), exact.leave_one_out())]:
        np.testing.assert_allclose(one.mean, other.mean, rtol=0, atol=ALGEBRA)
        np.testing.assert_allclose(one.variance, other.variance, rtol=0, atol=ALGEBRA)
        np.testing.assert_array_equal(one.prior, other.prior)


@KERNELS
def test_repeated_samples_are_the_exact_process_too(kernel):
    Z, y = np.repeat(inputs(8), 5, axis=0), labels()
    exact, sparse = ExactGP(kernel).fit(Z, y), SparseGP(kernel, inducing=8).fit(Z, y)
    assert sparse.log_evidence_ == pytest.approx(exact.log_evidence_, rel=ALGEBRA)
    np.testing.assert_allclose(sparse.posterior(inputs()).mean, exact.posterior(inputs()).mean, rtol=0, atol=ALGEBRA)


@KERNELS
@pytest.mark.parametrize("moving", [False, True])
def test_posterior_and_bound_are_titsias(kernel, moving):
    Z, y, new = inputs(), labels(), inputs(30, seed=1)
    teacher = SparseGP(kernel, inducing=9, learn_inducing=moving, steps=20).fit(Z, y)
    posterior, U = teacher.posterior(new), teacher.inducing_points_
    mean, variance = titsias_posterior(kernel, U, Z, y, new)
    np.testing.assert_allclose(posterior.mean, mean, rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(posterior.variance, np.stack([variance] * 2, axis=1), rtol=0, atol=ALGEBRA)
    assert teacher.log_evidence_ == pytest.approx(titsias_bound(kernel, U, Z, y), rel=ALGEBRA)


def test_fitted_parameters_and_their_bound_belong_together():
    teacher = SparseGP(Matern32() + Linear(0.5) + White(), 9, "evidence", steps=20).fit(inputs(), labels())
    expected = titsias_bound(teacher.kernel_, teacher.inducing_points_, inputs(), labels())
    assert teacher.log_evidence_ == pytest.approx(expected, rel=ALGEBRA)


@KERNELS
def test_leave_one_out_is_refitting_with_the_same_inducing_points(kernel):
    Z, y = inputs(), labels()
    teacher = SparseGP(kernel, inducing=9, steps=20).fit(Z, y)
    left_out = teacher.leave_one_out()
    for i in range(len(Z)):
        rest = np.delete(np.arange(len(Z)), i)
        mean, variance = titsias_posterior(kernel, teacher.inducing_points_, Z[rest], y[rest], Z[[i]])
        np.testing.assert_allclose(left_out.mean[[i]], mean, rtol=0, atol=ALGEBRA)
        np.testing.assert_allclose(left_out.variance[i], np.repeat(variance, 2), rtol=0, atol=ALGEBRA)


def test_hyperparameters_by_the_bound_are_those_by_the_evidence():
    exact = ExactGP(hyperparameters="evidence").fit(inputs(), labels())
    sparse = SparseGP(inducing=40, hyperparameters="evidence", steps=300).fit(inputs(), labels())
    assert sparse.log_evidence_ == pytest.approx(exact.log_evidence_, abs=OPTIMISED)
    assert sparse.kernel_.parameters() == pytest.approx(exact.kernel_.parameters(), rel=0.02)


def test_a_classifiers_posterior_is_gpytorchs(monkeypatch):
    models, new_model = [], sparse_classes._latents
    monkeypatch.setattr(sparse_classes, "_latents", lambda *parts: models.append(new_model(*parts)) or models[0])
    y = np.eye(3)[np.argmax(inputs(), axis=1)]
    posterior = SparseClassifierGP(inducing=9, steps=50).fit(inputs(), y).posterior(inputs(30, seed=1))
    with torch.no_grad():
        theirs = models[0].eval()(torch.from_numpy(inputs(30, seed=1)))
    np.testing.assert_allclose(posterior.mean, theirs.mean, rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(posterior.variance - 0.01, theirs.variance, rtol=0, atol=SINGLE)  # they add jitter


def test_a_classifiers_bound_is_hensmans(monkeypatch):
    beliefs, read_off = [], sparse_classes._read_off
    monkeypatch.setattr(sparse_classes, "_read_off", lambda *parts: beliefs.append(read_off(*parts)) or beliefs[0])
    Z, y = inputs(), np.eye(3)[np.argmax(inputs(), axis=1)]
    teacher = SparseClassifierGP(inducing=9, steps=1, learning_rate=0.5).fit(Z, y)
    posterior = teacher.posterior(Z)
    draws = np.random.default_rng(0).normal(size=(2000, *y.shape))
    latents = posterior.mean + np.sqrt(posterior.variance) * draws
    log_likelihood = (y * log_softmax(latents, axis=-1)).sum(axis=(1, 2)).mean()
    covariances = (beliefs[0].root @ beliefs[0].root.mT).numpy()
    kl = sum(np.trace(S) - len(S) - np.linalg.slogdet(S)[1] for S in covariances) + float((beliefs[0].mean ** 2).sum())
    assert kl > 1.0
    assert teacher.log_evidence_ == pytest.approx(log_likelihood - 0.5 * kl, abs=0.5)  # both are averages over draws


def test_a_classifier_in_one_batch_and_in_many_comes_to_the_same():
    Z, y = inputs(), np.eye(3)[np.argmax(inputs(), axis=1)]
    whole, parts = (
        SparseClassifierGP(inducing=12, steps=250, batch_size=b, learn_inducing=False).fit(Z, y) for b in (40, 20)
    )
    assert parts.log_evidence_ == pytest.approx(whole.log_evidence_, rel=0.02)
    np.testing.assert_allclose(parts.posterior(Z).mean, whole.posterior(Z).mean, rtol=0, atol=0.15)
