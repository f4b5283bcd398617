"""Clustered processes against the exact one, the textbook, scikit-learn's per cluster, and a loop over clusters."""

import numpy as np
import pytest
import torch
from scipy.optimize import lsq_linear
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sklearn_kernels
from threadpoolctl import threadpool_limits

from fwl.teach import RBF, ClusteredGP, Divided, ExactGP, Linear, Matern32, White
from fwl.teach.blocks import pack
from fwl.teach.evidence import Believed, _negative_evidence
from fwl.teach.given import as_lesson
from fwl.teach.partition import nearest
from tests.oracles import clusters as oracle
from tests.oracles import gaussian_process
from tests.tolerances import ALGEBRA, EXACT, OPTIMISED, SINGLE

KERNELS = pytest.mark.parametrize(
    "kernel",
    [RBF(0.9, 1.7) + White(), Matern32(0.7, 2.0) + Linear(0.5) + White(0.1), RBF(2.0) + Linear() + White(0.05)],
    ids=["rbf", "matern32+linear", "rbf+linear"],
)
PRECISIONS = pytest.mark.parametrize(("precision", "near"), [("double", ALGEBRA), ("single", SINGLE)])


def inputs(n: int = 60, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 3))


def labels(Z: np.ndarray, columns: int = 2) -> np.ndarray:
    noise = 0.1 * np.random.default_rng(2).normal(size=(len(Z), columns))
    return np.stack([np.sin((c + 1) * Z.sum(axis=1)) for c in range(columns)], axis=1) + noise


def unequal(apart: float = 6.0) -> tuple[np.ndarray, np.ndarray]:
    """Clusters of 3, 10, 11, 12 and 25 samples: the least and the largest stand alone, the others are padded."""
    rng = np.random.default_rng(0)
    sizes = (3, 10, 11, 12, 25)
    Z = np.concatenate([apart * rng.normal(size=3) + rng.normal(size=(n, 3)) for n in sizes])
    return Z, labels(Z)


def assert_alike(one, other, near: float) -> None:
    scale = max(1.0, abs(other.mean).max())
    np.testing.assert_allclose(one.mean, other.mean, rtol=0, atol=near * scale)
    np.testing.assert_allclose(one.variance, other.variance, rtol=0, atol=near * max(1.0, other.prior.max()))
    np.testing.assert_allclose(one.prior, other.prior, rtol=near, atol=0)
    assert one.noise == other.noise


@KERNELS
@PRECISIONS
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("smooth_edges", [True, False])
def test_one_cluster_is_the_exact_process(kernel, precision, near, shared, smooth_edges):
    Z, y, new = inputs(), labels(inputs()), inputs(50, seed=1)
    exact = ExactGP(kernel).fit(Z, y)
    one = ClusteredGP(1, kernel=kernel, precision=precision, shared=shared, smooth_edges=smooth_edges).fit(Z, y)
    assert_alike(one.posterior(new), exact.posterior(new), near)
    assert_alike(one.leave_one_out(), exact.leave_one_out(), ALGEBRA)
    assert one.log_evidence_ == pytest.approx(exact.log_evidence_, rel=ALGEBRA)


@KERNELS
@PRECISIONS
@pytest.mark.parametrize("shrink_mean", [True, False])
def test_one_cluster_is_the_exact_process_with_a_prior_mean(kernel, precision, near, shrink_mean):
    Z, y, new = inputs(), labels(inputs()), inputs(50, seed=1)
    mean = np.stack([0.7 * y + 0.2, y**2], axis=-1)
    of_new = np.stack([labels(new), labels(new) ** 2], axis=-1)
    exact = ExactGP(kernel, shrink_mean=shrink_mean).fit(Z, y, mean)
    one = ClusteredGP(1, kernel=kernel, precision=precision, shrink_mean=shrink_mean).fit(Z, y, mean)
    assert one.shrinkage_ == pytest.approx(exact.shrinkage_, abs=ALGEBRA)
    assert_alike(one.posterior(new, of_new), exact.posterior(new, of_new), near)
    assert_alike(one.leave_one_out(), exact.leave_one_out(), ALGEBRA)


@pytest.mark.parametrize("hyperparameters", ["evidence", "evidence_with_prior"])
@pytest.mark.parametrize("shrink_mean", [True, False])
def test_one_cluster_fits_the_kernel_of_the_exact_process(hyperparameters, shrink_mean):
    Z, y = inputs(40), labels(inputs(40))
    exact = ExactGP(hyperparameters=hyperparameters, shrink_mean=shrink_mean, starts=2).fit(Z, y, 0.5 * y)
    one = ClusteredGP(1, hyperparameters=hyperparameters, shrink_mean=shrink_mean, starts=2).fit(Z, y, 0.5 * y)
    assert one.kernel_.parameters() == pytest.approx(exact.kernel_.parameters(), rel=OPTIMISED)
    assert one.log_evidence_ == pytest.approx(exact.log_evidence_, rel=SINGLE)


@KERNELS
def test_clusters_are_the_textbooks_one_by_one(kernel):
    Z, y = unequal()
    new = inputs(40, seed=1) * 5
    teacher = ClusteredGP(5, kernel=kernel, smallest=3, precision="double").fit(Z, y)
    where, cluster = teacher.partition_, teacher.cluster_
    mean, variance = oracle.posterior(
        kernel, Z, y, cluster, new, where.cluster_of[oracle.nearest(new, where.centroids)]
    )
    posterior, scale = teacher.posterior(new), float(kernel.diag(torch.from_numpy(new)).max())
    np.testing.assert_allclose(posterior.mean, mean, rtol=0, atol=ALGEBRA * scale)
    np.testing.assert_allclose(posterior.variance, np.stack([variance] * 2, axis=1), rtol=0, atol=ALGEBRA * scale)
    assert teacher.log_evidence_ == pytest.approx(oracle.log_evidence(kernel, Z, y, cluster), rel=ALGEBRA)
    mean, variance = oracle.leave_one_out(kernel, Z, y, cluster)
    left_out = teacher.leave_one_out()
    np.testing.assert_allclose(left_out.mean, mean, rtol=0, atol=ALGEBRA * scale)
    np.testing.assert_allclose(left_out.variance, np.stack([variance] * 2, axis=1), rtol=0, atol=ALGEBRA * scale)


PEERS = {
    "rbf": (RBF(2.0) + White(0.02), sklearn_kernels.RBF(2.0) + sklearn_kernels.WhiteKernel(0.02)),
    "matern32": (
        Matern32(3.0) + White(0.1),
        sklearn_kernels.Matern(3.0, nu=1.5) + sklearn_kernels.WhiteKernel(0.1),
    ),
    "rbf+linear": (
        RBF(2.0) + Linear(0.25) + White(0.05),
        sklearn_kernels.RBF(2.0) + sklearn_kernels.DotProduct(0.5) + sklearn_kernels.WhiteKernel(0.05),
    ),
}


@pytest.mark.parametrize("name", PEERS)
@threadpool_limits.wrap(limits=1)
def test_every_cluster_is_scikit_learns(name):
    kernel, theirs = PEERS[name]
    rng = np.random.default_rng(0)
    Z, new = rng.normal(size=(400, 10)), rng.normal(size=(300, 10))
    y = np.sin(Z[:, :1] + Z[:, 1:2]) + 0.1 * rng.normal(size=(400, 1))
    teacher = ClusteredGP(5, kernel=kernel).fit(Z, y)
    assert teacher.partition_.clusters == 5
    posterior, route = teacher.posterior(new), nearest(new, teacher.partition_.centroids)
    route = teacher.partition_.cluster_of[route]
    for k in range(5):
        here = teacher.cluster_ == k
        peer = GaussianProcessRegressor(theirs, alpha=0.0, optimizer=None).fit(Z[here], y[here, 0])
        mean, std = peer.predict(new[route == k], return_std=True)
        np.testing.assert_allclose(posterior.mean[route == k, 0], mean, rtol=0, atol=SINGLE)
        np.testing.assert_allclose(posterior.variance[route == k, 0], std**2, rtol=0, atol=SINGLE)


@KERNELS
@pytest.mark.parametrize("clusters", [1, 3, 5])
@pytest.mark.parametrize("with_mean", [True, False])
def test_all_at_once_is_one_after_the_other(kernel, clusters, with_mean):
    Z, y = unequal()
    new = np.concatenate([Z + 0.3, 5 * inputs(40, seed=1)])
    mean, of_new = (0.5 * y, 0.5 * labels(new)) if with_mean else (None, None)
    batched = ClusteredGP(clusters, kernel=kernel, precision="double", smallest=2, random_state=4).fit(Z, y, mean)
    loop = Divided(lambda: ExactGP(kernel), clusters, smallest=2, random_state=4).fit(Z, y, mean)
    np.testing.assert_array_equal(batched.cluster_, loop.cluster_)
    assert batched.partition_.clusters == clusters
    assert batched.log_evidence_ == pytest.approx(loop.log_evidence_, rel=ALGEBRA)
    assert_alike(batched.posterior(new, of_new), loop.posterior(new, of_new), ALGEBRA)
    assert_alike(batched.leave_one_out(), loop.leave_one_out(), ALGEBRA)


def test_all_at_once_is_one_after_the_other_where_cells_were_merged():
    Z, y = unequal()
    new = np.concatenate([Z + 0.3, 5 * inputs(40, seed=1)])
    batched = ClusteredGP(25, precision="double", smallest=8).fit(Z, y)
    loop = Divided(ExactGP, 25, smallest=8).fit(Z, y)
    assert 1 < batched.partition_.clusters < len(batched.partition_.centroids)
    assert batched.log_evidence_ == pytest.approx(loop.log_evidence_, rel=ALGEBRA)
    assert_alike(batched.posterior(new), loop.posterior(new), ALGEBRA)
    where = loop.partition_
    mean, variance = oracle.posterior(
        RBF() + White(), Z, y, loop.cluster_, new, where.cluster_of[oracle.nearest(new, where.centroids)]
    )
    np.testing.assert_allclose(loop.posterior(new).mean, mean, rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(loop.posterior(new).variance[:, 0], variance, rtol=0, atol=ALGEBRA)


@KERNELS
def test_the_factors_on_a_prior_mean_are_least_squares_over_all_clusters(kernel):
    Z, y = unequal()
    rng = np.random.default_rng(5)
    mean = np.stack([0.8 * y + 0.3 * rng.normal(size=y.shape), -y, 3 * y + rng.normal(size=y.shape)], axis=-1)
    teacher = ClusteredGP(5, kernel=kernel, smallest=3, shrink_mean=True).fit(Z, y, mean)
    A, b = [], []
    for k in range(5):
        here = teacher.cluster_ == k
        whiten = np.linalg.inv(np.linalg.cholesky(gaussian_process.gram(kernel, Z[here])))
        for c in range(2):
            A.append(whiten @ mean[here, c])
            b.append(whiten @ y[here, c])
    expected = lsq_linear(np.concatenate(A), np.concatenate(b), bounds=(0.0, 1.0), tol=1e-14).x
    assert teacher.shrinkage_ == pytest.approx(expected, abs=SINGLE)
    assert teacher.shrinkage_[1] == 0.0


def test_all_at_once_is_one_after_the_other_when_each_fits_its_own_kernel():
    Z, y = unequal()
    settings = {"hyperparameters": "evidence_with_prior", "starts": 1}
    batched = ClusteredGP(3, shared=False, precision="double", smallest=2, **settings).fit(Z, y)
    loop = Divided(lambda: ExactGP(**settings), 3, smallest=2).fit(Z, y)
    for ours, theirs in zip(batched.kernels_, loop.teachers_, strict=True):
        assert ours.parameters() == pytest.approx(theirs.kernel_.parameters(), rel=ALGEBRA)
    assert_alike(batched.posterior(Z), loop.posterior(Z), ALGEBRA)
    assert batched.log_evidence_ == pytest.approx(loop.log_evidence_, rel=ALGEBRA)


@pytest.mark.parametrize("smooth_edges", [True, False])
@pytest.mark.parametrize("piece", [1, 17, 331])
def test_a_whole_array_is_judged_like_its_pieces(smooth_edges, piece):
    Z, y = unequal(apart=2.0)
    new = np.random.default_rng(3).normal(size=(500, 3)) * 5
    teacher = ClusteredGP(5, kernel=RBF(2.0) + White(0.3), smallest=3, smooth_edges=smooth_edges).fit(Z, y)
    assert teacher.precision_ == "single"
    whole = teacher.posterior(new)
    rows = new[: 20 * piece]
    pieces = [teacher.posterior(rows[i : i + piece]) for i in range(0, len(rows), piece)]
    for name in ("mean", "variance", "prior"):
        parts = np.concatenate([getattr(part, name) for part in pieces])
        np.testing.assert_allclose(parts, getattr(whole, name)[: len(rows)], rtol=0, atol=1e-6)


LAYOUTS = {
    "single precision": lambda a: a.astype(np.float32),
    "columns first": np.asfortranarray,
    "every other": lambda a: np.repeat(a, 2, axis=0)[::2],
    "some columns": lambda a: np.hstack([a, a])[:, : a.shape[1]],
    "backwards": lambda a: a[::-1].copy()[::-1],
    "single precision, every other": lambda a: np.repeat(a.astype(np.float32), 2, axis=0)[::2],
    "single precision, columns first": lambda a: np.asfortranarray(a.astype(np.float32)),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("precision", ["single", "double"])
def test_the_layout_and_precision_of_samples_change_nothing_that_counts(layout, precision):
    Z, y = unequal()
    new = np.random.default_rng(3).normal(size=(200, 3)) * 3
    teacher = ClusteredGP(3, kernel=RBF(2.0) + White(0.1), smallest=3, precision=precision).fit(Z, y)
    plain, other = teacher.posterior(new), teacher.posterior(layout(new))
    near = EXACT if layout(new).dtype == np.float64 else SINGLE
    assert_alike(other, plain, near)
    assert other.mean.dtype == np.float64


@pytest.mark.parametrize(
    ("directions", "believed"), [(0, None), (1, None), (3, None), (3, Believed((0.4, 0.3, 0.2), rows=20.0))]
)
@KERNELS
def test_the_slope_of_the_evidence_is_that_of_finite_differences(kernel, directions, believed):
    Z, y = unequal()
    mean = np.random.default_rng(5).normal(size=(*y.shape, directions)) + 0.5 * y[..., None] if directions else None
    cluster = ClusteredGP(5, smallest=3).fit(Z, y).cluster_
    blocks = pack(*as_lesson(Z, y, mean), [torch.from_numpy(np.flatnonzero(cluster == k)) for k in range(5)])
    assert any(block.padded for block in blocks)
    names, theta = list(kernel.parameters()), np.log(list(kernel.parameters().values()))
    value, slope = _negative_evidence(kernel, names, theta, blocks, believed)
    if not directions:
        assert value == pytest.approx(-oracle.log_evidence(kernel, Z, y, cluster), rel=ALGEBRA)
    for i, step in enumerate(1e-5 * np.eye(len(theta))):
        above, below = (_negative_evidence(kernel, names, theta + s, blocks, believed)[0] for s in (step, -step))
        assert slope[i] == pytest.approx((above - below) / 2e-5, rel=SINGLE, abs=SINGLE * abs(slope).max())


@pytest.mark.parametrize("smooth_edges", [True, False])
def test_moving_everything_changes_nothing(smooth_edges):
    Z, y = unequal()
    here = ClusteredGP(5, kernel=RBF(2.0) + White(), smallest=3, smooth_edges=smooth_edges).fit(Z, y)
    there = ClusteredGP(5, kernel=RBF(2.0) + White(), smallest=3, smooth_edges=smooth_edges).fit(Z + 1e6, y)
    np.testing.assert_array_equal(here.cluster_, there.cluster_)
    # Each is within single precision of the truth, so they are within twice that of each other.
    assert_alike(there.posterior(Z + 1e6), here.posterior(Z), 2 * SINGLE)


def test_clusters_far_from_each_other_are_judged_as_they_are_alone():
    Z, y = inputs(), labels(inputs())
    away = np.where(np.arange(60)[:, None] < 30, -1e6, 1e6)
    far = ClusteredGP(2, precision="double").fit(Z + away, y)
    np.testing.assert_array_equal(far.cluster_ == far.cluster_[0], np.arange(60) < 30)
    for half in (slice(30), slice(30, 60)):
        alone = ExactGP().fit((Z + away)[half], y[half])
        assert_alike(far.posterior((Z + away + 0.1)[half]), alone.posterior((Z + away + 0.1)[half]), ALGEBRA)


def test_smooth_edges_are_the_two_nearest_by_precision():
    Z, y = unequal()
    kernel, new = RBF(3.0) + White(0.1), 3 * inputs(60, seed=1)
    teacher = ClusteredGP(5, kernel=kernel, smallest=3, precision="double", smooth_edges=True).fit(Z, y)
    where, posterior = teacher.partition_, teacher.posterior(new)
    opinions = [oracle.posterior(kernel, Z, y, teacher.cluster_, new, np.full(len(new), k)) for k in range(5)]
    for i, z in enumerate(new):
        heard = [
            (weight, *(of_all[i] for of_all in opinions[where.cluster_of[cell]]))
            for cell, weight in oracle.weights(z, where.centroids).items()
        ]
        precision = sum(weight / variance for weight, _, variance in heard)
        mean = sum(weight * mean / variance for weight, mean, variance in heard) / precision
        np.testing.assert_allclose(posterior.mean[i], mean, rtol=0, atol=ALGEBRA)
        np.testing.assert_allclose(posterior.variance[i], 1 / precision, rtol=0, atol=ALGEBRA)
