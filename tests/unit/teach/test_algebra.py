import math

import numpy as np
import pytest
import torch

from fwl.errors import NumericalTrouble
from fwl.teach import RBF, White
from fwl.teach.algebra import JITTER_LADDER, cholesky, leave_one_out, log_evidence
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA


def double(rows: list) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def test_a_positive_definite_matrix_gets_no_jitter():
    K = double([[2.0, 0.5], [0.5, 1.0]])
    assert torch.equal(cholesky(K), torch.linalg.cholesky(K))


def test_a_singular_matrix_gets_the_least_jitter_that_works():
    K = torch.ones(5, 5, dtype=torch.float64)
    L = cholesky(K)
    added = (L @ L.mT - K).diagonal()
    assert ((added > 0) & (added <= 1e-8)).all()


def test_the_jitter_follows_the_scale_of_the_matrix():
    K = 1e12 * torch.ones(5, 5, dtype=torch.float64)
    L = cholesky(K)
    torch.testing.assert_close(L @ L.mT, K, rtol=1e-8, atol=0)


def test_duplicated_rows_without_noise_can_be_factored():
    Z = torch.from_numpy(np.repeat(np.linspace(0, 1, 10)[:, None], 3, axis=0))
    K = RBF().gram(Z)
    assert torch.linalg.cholesky_ex(K)[1] > 0
    L = cholesky(K)
    torch.testing.assert_close(L @ L.mT, K, rtol=0, atol=JITTER_LADDER[-1])


def test_the_ladder_climbs_from_nothing():
    assert JITTER_LADDER[0] == 0.0
    assert list(JITTER_LADDER) == sorted(JITTER_LADDER)


@pytest.mark.parametrize("K", [[[1.0, 2.0], [2.0, 1.0]], [[math.nan, 0.0], [0.0, 1.0]]])
def test_a_matrix_that_no_jitter_helps_is_trouble(K):
    message = (
        "a kernel matrix of 2 samples is not positive definite even with 0.0001 of its diagonal added; "
        "give the kernel some White noise, or look for NaN and huge values among its inputs"
    )
    with expect_refusal(NumericalTrouble, message):
        cholesky(double(K))


def test_matrices_batch():
    Z = torch.from_numpy(np.random.default_rng(0).normal(size=(3, 6, 2)))
    K, y = (RBF() + White()).gram(Z), torch.ones(3, 6, 1, dtype=torch.float64)
    evidence, (mean, variance) = log_evidence(cholesky(K), y), leave_one_out(cholesky(K), y)
    for i in range(3):
        L = cholesky(K[i])
        alone_mean, alone_variance = leave_one_out(L, y[i])
        torch.testing.assert_close(evidence[i], log_evidence(L, y[i]), rtol=0, atol=ALGEBRA)
        torch.testing.assert_close(mean[i], alone_mean, rtol=0, atol=ALGEBRA)
        torch.testing.assert_close(variance[i], alone_variance, rtol=0, atol=ALGEBRA)


def test_evidence_of_one_label_by_hand():
    """log N(3 | 0, 4) = -9/8 - log(2) - log(2 pi)/2."""
    expected = -9 / 8 - math.log(2) - 0.5 * math.log(2 * math.pi)
    assert log_evidence(double([[2.0]]), double([[3.0]])).item() == pytest.approx(expected, abs=ALGEBRA)


def test_columns_add_their_evidence():
    L, y = double([[2.0, 0.0], [0.5, 1.0]]), double([[1.0, -2.0], [0.5, 3.0]])
    apart = sum(log_evidence(L, y[:, [c]]) for c in range(2))
    torch.testing.assert_close(log_evidence(L, y), apart, rtol=0, atol=ALGEBRA)


def test_leaving_one_of_two_out_by_hand():
    """K = [[2, 1], [1, 2]]: each is told y/2 by the other, with variance 2 - 1/2."""
    mean, variance = leave_one_out(cholesky(double([[2.0, 1.0], [1.0, 2.0]])), double([[4.0], [6.0]]))
    torch.testing.assert_close(mean, double([[3.0], [2.0]]), rtol=0, atol=ALGEBRA)
    torch.testing.assert_close(variance, double([[1.5], [1.5]]), rtol=0, atol=ALGEBRA)
