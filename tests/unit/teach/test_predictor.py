import numpy as np
import pytest
import torch
from torch.nn.functional import pad

from fwl.teach import RBF, Kernel, Linear, Matern32, White, predictor
from fwl.teach.algebra import cholesky
from fwl.teach.predictor import Expert, Squares, new_expert, predict_sorted
from tests.oracles import clusters as oracle
from tests.tolerances import ALGEBRA, SINGLE

DOUBLE = torch.float64
KERNELS = pytest.mark.parametrize(
    "kernel",
    [
        RBF() + White(),
        RBF(0.8, 2.5) + White(),
        Matern32(0.7, 2.0) + Linear(0.5) + White(0.1),
        RBF(2.0) + Linear() + White(0.05),
    ],
    ids=str,
)
SIZES = (12, 5, 30)


def lesson() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    Z = np.random.default_rng(0).normal(size=(sum(SIZES), 3))
    y = np.stack([np.sin(Z.sum(axis=1)), Z[:, 0] ** 2], axis=1)
    return Z, y, np.repeat(np.arange(3), SIZES)


def experts(kernel: Kernel, precision: torch.dtype = DOUBLE) -> list[Expert]:
    Z, y, cluster = lesson()
    found = []
    for k in range(3):
        here, labels = (torch.from_numpy(a[cluster == k]) for a in (Z, y))
        L = cholesky(kernel.gram(here))
        found.append(new_expert(kernel, here, L, torch.cholesky_solve(labels, L), precision))
    return found


def asked(n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, 3)), rng.integers(3, size=n)


def judged(kernel: Kernel, precision: torch.dtype = DOUBLE) -> list[np.ndarray]:
    new, cluster = asked()
    Z = torch.from_numpy(new).to(precision)
    answer = predict_sorted(experts(kernel, precision), Z, torch.from_numpy(cluster))
    return [part.numpy() for part in answer]


@KERNELS
@pytest.mark.parametrize(("precision", "near"), [(torch.float64, ALGEBRA), (torch.float32, 10 * SINGLE)])
def test_mean_and_variance_are_the_textbooks_of_the_cluster(kernel, precision, near):
    mean, variance, _ = judged(kernel, precision)
    expected_mean, expected_variance = oracle.posterior(kernel, *lesson(), *asked())
    np.testing.assert_allclose(mean, expected_mean, rtol=0, atol=near)
    np.testing.assert_allclose(variance, expected_variance, rtol=0, atol=near)


@KERNELS
def test_the_prior_is_the_kernels(kernel):
    _, _, prior = judged(kernel)
    np.testing.assert_allclose(prior, kernel.diag(torch.from_numpy(asked()[0])), rtol=0, atol=ALGEBRA)


@KERNELS
@pytest.mark.parametrize("rows", [1, 3, 7])
def test_blocks_give_what_the_whole_gives(kernel, rows, monkeypatch):
    whole = judged(kernel)
    monkeypatch.setattr(predictor, "ROWS", rows)
    for one, other in zip(judged(kernel), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=ALGEBRA)


def test_a_cluster_that_nobody_asks_is_passed_over():
    Z = torch.from_numpy(asked()[0])
    mean, variance, _ = predict_sorted(experts(RBF() + White()), Z, torch.full((len(Z),), 1, dtype=torch.int64))
    expected = oracle.posterior(RBF() + White(), *lesson(), asked()[0], np.ones(len(Z), dtype=int))
    np.testing.assert_allclose(mean, expected[0], rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(variance, expected[1], rtol=0, atol=ALGEBRA)


def test_no_variance_falls_below_the_noise():
    Z, _, cluster = lesson()
    here = torch.from_numpy(Z)
    kernel = RBF(50.0) + White(1e-9)
    _, variance, _ = predict_sorted(experts(kernel, torch.float32), here.float(), torch.from_numpy(cluster))
    assert (variance >= np.float32(1e-9)).all()


@pytest.mark.parametrize("counts", [(1, 0, 5), (1024, 1025, 1), (0, 3000, 0)])
def test_samples_are_cut_into_even_pieces_within_their_cluster(counts):
    cluster = torch.repeat_interleave(torch.arange(3), torch.tensor(counts))
    pieces = list(predictor._blocks(cluster, 3))
    assert [place for _, start, end in pieces for place in range(start, end)] == list(range(sum(counts)))
    for k, start, end in pieces:
        assert 0 < end - start <= predictor.ROWS
        assert (cluster[start:end] == k).all()
    for k in range(3):
        lengths = [end - start for cluster_, start, end in pieces if cluster_ == k]
        assert max(lengths, default=0) - min(lengths, default=0) <= 1


@pytest.mark.parametrize("n", [16, 48, 64, 96, 160, 384, 400, 1008])
def test_spans_cover_every_column_once(n):
    spans = predictor._spans(n)
    assert [column for start, end in spans for column in range(start, end)] == list(range(n))
    assert all(end > start and (end - start) % predictor.LANE == 0 for start, end in spans)


@pytest.mark.parametrize("n", [1, 9, 96, 200])
@pytest.mark.parametrize("kernel", [RBF(1.0, 3.0) + White(0.1), Matern32(1.0, 3.0) + White(0.1)], ids=["rbf", "other"])
def test_the_whitening_in_parts_is_the_inverse_factor(n, kernel):
    Z = torch.from_numpy(np.random.default_rng(0).normal(size=(n, 2)))
    L = cholesky(kernel.gram(Z))
    expert = new_expert(kernel, Z, L, torch.ones(n, 1, dtype=DOUBLE), DOUBLE)
    longest = len(expert.squares)
    whole = torch.cat([pad(part, (0, 0, 0, longest - len(part))) for part in expert.whitening], dim=1)
    factor = 3.0 if expert.rbf else 1.0
    expected = factor * torch.eye(n, dtype=DOUBLE)
    torch.testing.assert_close(whole[:n, :n].mT @ L, expected, rtol=0, atol=ALGEBRA)
    torch.testing.assert_close(expert.weights[:n], torch.full((n, 1), factor, dtype=DOUBLE), rtol=0, atol=ALGEBRA)


@pytest.mark.parametrize("n", [1, 9, 96, 200])
def test_what_fills_the_last_lane_has_no_weight(n):
    Z = torch.from_numpy(np.random.default_rng(0).normal(size=(n, 2)))
    expert = new_expert(RBF() + White(), Z, cholesky((RBF() + White()).gram(Z)), torch.ones(n, 2, dtype=DOUBLE), DOUBLE)
    assert len(expert.squares) % predictor.LANE == 0
    assert (expert.weights[n:] == 0).all()
    for part in expert.whitening:
        assert (part[n:] == 0).all()


@pytest.mark.parametrize(
    ("kernel", "alone"),
    [
        (RBF(), True),
        (RBF(2.0) + White(), True),
        (White(0.1) + RBF(2.0) + White(), True),
        (RBF() + RBF(2.0) + White(), False),
        (RBF() + Linear() + White(), False),
        (Matern32() + White(), False),
        (White(), False),
    ],
    ids=str,
)
def test_a_short_cut_is_taken_for_an_rbf_and_noise_only(kernel, alone):
    Z = torch.zeros(1, 2, dtype=DOUBLE)
    one = torch.ones(1, 1, dtype=DOUBLE)
    assert (new_expert(kernel, Z, one, one, DOUBLE).rbf is not None) is alone


def test_dot_products_are_recovered_from_distances():
    A, B = (torch.from_numpy(np.random.default_rng(seed).normal(size=(5, 3))) for seed in (0, 1))
    pairs = Squares(torch.cdist(A, B).square(), A.square().sum(dim=1), B.square().sum(dim=1))
    torch.testing.assert_close(pairs.dot, A @ B.mT, rtol=0, atol=ALGEBRA)
