import numpy as np
import pytest
import torch

from fwl.errors import InvalidInput
from fwl.randomness import Chance
from fwl.teach import Cosines
from fwl.teach.cosines import as_seen, gram
from fwl.teach.kronecker import Basis, approximated, decomposed
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA, SINGLE

NOT_OF_VECTORS = Cosines([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])


def rows(n: int = 40):
    return as_seen(np.random.default_rng(0).normal(size=(n, 3)), "documents")


def put_together(basis: Basis) -> torch.Tensor:
    vectors = basis.vectors.double()
    return (vectors * basis.values) @ vectors.mT


def test_all_directions_are_the_covariance():
    basis = decomposed(rows(), 0.5)
    torch.testing.assert_close(put_together(basis), gram(rows(), 0.5), rtol=0, atol=ALGEBRA)
    assert basis.error == basis.missing == 0.0
    assert (basis.values >= 0).all()


def test_landmarks_have_their_covariance_with_everyone():
    weights = np.zeros(40)
    weights[[3, 8, 20, 31]] = 1.0
    basis, K = approximated(rows(), 0.5, 4, weights, Chance(0)), gram(rows(), 0.5)
    found = put_together(basis)
    torch.testing.assert_close(found[:, [3, 8, 20, 31]], K[:, [3, 8, 20, 31]], rtol=0, atol=SINGLE)
    assert basis.vectors.shape == (40, 4)
    # On all rows, as there are fewer than would be sampled.
    assert basis.error == pytest.approx(float((K - found).norm() / K.norm()), abs=SINGLE)
    assert basis.missing == pytest.approx(0.0, abs=SINGLE)


def test_the_columns_of_a_low_rank_are_orthonormal():
    vectors = approximated(rows(300), 0.5, 50, np.ones(300), Chance(0)).vectors.double()
    torch.testing.assert_close(vectors.mT @ vectors, torch.eye(vectors.shape[1]).double(), rtol=0, atol=1e-4)


def test_landmarks_that_are_copies_of_each_other_are_no_trouble():
    copies = as_seen(np.repeat(np.eye(3), 10, axis=0), "documents")
    basis = approximated(copies, 0.5, 12, np.ones(30), Chance(0))
    assert basis.vectors.shape[1] <= 3
    assert torch.isfinite(put_together(basis)).all()


def test_no_residuals_at_all_are_landmarks_anywhere():
    basis = approximated(rows(), 0.5, 10, np.zeros(40), Chance(0))
    assert basis.vectors.shape == (40, 10)
    assert basis.missing == 0.0


def test_what_is_missing_is_weighed_by_the_residuals():
    everywhere = approximated(rows(), 0.2, 5, np.ones(40), Chance(0))
    own = put_together(everywhere).diagonal()
    assert everywhere.missing == pytest.approx(float(1 - own.mean()), abs=SINGLE)


def test_entries_too_small_for_their_squares_are_none():
    far_apart = decomposed(as_seen(np.eye(4) + 1e-3, "documents"), 0.03)
    small = far_apart.vectors[far_apart.vectors != 0].abs().min()
    assert small > 1e-15


def test_cosines_of_no_vectors_are_refused():
    message = (
        "documents: these cosines are not those of any vectors (their covariance has an eigenvalue of {}); "
        "cosines of vectors, and averages of such, are fine"
    )
    seen = as_seen(NOT_OF_VECTORS, "documents")
    least = float(np.linalg.eigvalsh(np.exp(NOT_OF_VECTORS.matrix - 1))[0])
    with expect_refusal(InvalidInput, message.format(f"{least:.3g}")):
        decomposed(seen, 1.0)
    with expect_refusal(InvalidInput, message.format(f"{least:.3g}")):
        approximated(seen, 1.0, 3, np.ones(3), Chance(0))
