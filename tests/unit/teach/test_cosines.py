import numpy as np
import pytest
from scipy import sparse

from fwl.errors import InvalidInput, NotFinite, WrongShape
from fwl.teach import Cosines
from fwl.teach.cosines import as_new, as_seen, as_state, covariance, from_state, gram, pieces
from tests.refusals import expect_refusal

A, B = np.random.default_rng(0).normal(size=(5, 3)), np.random.default_rng(1).normal(size=(4, 3))


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a @ b.T) / np.outer(np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))


def among_all(seen) -> np.ndarray:
    return seen.among(np.arange(len(seen)), np.arange(len(seen)))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_cosines_are_dot_products_over_lengths(kind):
    seen = as_seen(kind(A), "queries")
    assert len(seen) == 5
    np.testing.assert_allclose(among_all(seen), cosines(A, A), rtol=0, atol=1e-14)
    np.testing.assert_allclose(seen.among(np.array([4, 0]), np.array([0, 2, 4])), cosines(A, A)[[4, 0]][:, [0, 2, 4]])
    np.testing.assert_allclose(seen.with_new(as_new(kind(B), seen)), cosines(B, A), rtol=0, atol=1e-14)


def test_entries_of_a_sparse_row_that_come_twice_are_summed():
    twice = sparse.csr_array(([1.0, 2.0, 4.0, 1.0], [0, 0, 1, 0], [0, 3, 4]), shape=(2, 2))
    np.testing.assert_allclose(among_all(as_seen(twice, "queries")), [[1.0, 0.6], [0.6, 1.0]])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_zeros_have_a_cosine_with_themselves_alone(kind):
    seen = as_seen(kind([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), "queries")
    np.testing.assert_allclose(among_all(seen), np.eye(3), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(seen.with_new(as_new(kind(np.zeros((1, 2))), seen)), np.zeros((1, 3)))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("factor", [1e300, 1e-300, 5e-324])
def test_lengths_neither_overflow_nor_vanish(kind, factor):
    seen = as_seen(kind(factor * np.array([[3.0, 4.0], [4.0, 3.0]])), "queries")
    np.testing.assert_allclose(among_all(seen), [[1.0, 0.96], [0.96, 1.0]], rtol=0, atol=1e-12)


def test_views_are_averaged():
    other = np.random.default_rng(2).normal(size=(5, 7))
    seen = as_seen((A, sparse.csr_array(other), Cosines(np.eye(5))), "queries")
    np.testing.assert_allclose(among_all(seen), (cosines(A, A) + cosines(other, other) + np.eye(5)) / 3, atol=1e-14)


def test_the_covariance_falls_from_one():
    np.testing.assert_allclose(covariance(np.array([[1.0, 0.5, -1.0]]), 0.5), [[1.0, np.exp(-2.0), np.exp(-8.0)]])
    np.testing.assert_array_equal(covariance(np.array([[1.0, 0.5]]), 1e-200), [[1.0, 0.0]])


def test_all_covariances_in_pieces_are_the_same():
    seen = as_seen(sparse.csr_array(A), "documents")
    np.testing.assert_allclose(gram(seen, 0.4, at_once=2), np.exp((cosines(A, A) - 1) / 0.16), rtol=1e-12)


def test_pieces_cover_everything_once():
    assert [(p.start, p.stop) for p in pieces(7, 3)] == [(0, 3), (3, 6), (6, 7)]
    assert list(pieces(0, 3)) == []


@pytest.mark.parametrize(
    "given", [A, sparse.csr_array(A), Cosines(np.eye(5)), (A, sparse.csr_array(A))], ids=["a", "b", "c", "d"]
)
def test_rows_come_back_from_their_state(given):
    seen = as_seen(given, "queries")
    again = from_state(as_state(seen))
    assert again.name == "queries"
    np.testing.assert_array_equal(among_all(again), among_all(seen))


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ((), InvalidInput, "queries: no view of them at all, expected at least one"),
        (np.zeros((0, 3)), InvalidInput, "queries: the set is empty, expected at least one row"),
        (sparse.csr_array((0, 3)), InvalidInput, "queries: the set is empty, expected at least one row"),
        (A[0], WrongShape, "queries: expected vectors [n, D], one in each row, got shape (3,)"),
        (A[None], WrongShape, "queries: expected a vector or a matrix [N, C], got shape (1, 5, 3)"),
        (["flight", "wing"], InvalidInput, "queries: expected numbers, got ['flight', 'wing']"),
        (
            sparse.csr_array(A.astype(complex)),
            WrongShape,
            "queries: expected sparse rows of numbers [n, D], got complex128 of shape (5, 3)",
        ),
        ((A, B), WrongShape, "queries: views of 5 and 4 rows; expected the same rows"),
        (
            Cosines(np.zeros((2, 3))),
            WrongShape,
            "queries: expected cosines of all rows with all rows [n, n], got shape (2, 3)",
        ),
        (
            Cosines([[1.0, 0.2], [0.3, 1.0]]),
            InvalidInput,
            "queries: cosines are the same both ways and 1 with oneself; these are not",
        ),
        (
            Cosines([[0.5, 0.2], [0.2, 0.5]]),
            InvalidInput,
            "queries: cosines are the same both ways and 1 with oneself; these are not",
        ),
    ],
)
def test_what_shows_no_rows_is_refused(given, error, message):
    with expect_refusal(error, message):
        as_seen(given, "queries")


def test_cosines_beyond_one_are_refused():
    with expect_refusal(InvalidInput, "cosines lie in [-1, 1], got 3; divide dot products by the vectors' lengths"):
        Cosines([[3.0]])
    with pytest.raises(NotFinite):
        Cosines([[np.nan]])


@pytest.mark.parametrize(
    ("known", "new", "error", "message"),
    [
        (A, (B, B), WrongShape, "queries: expected 1 views as in fit, got 2"),
        (A, Cosines(np.zeros((2, 5))), InvalidInput, "queries: expected vectors, as in fit"),
        (Cosines(np.eye(5)), B, InvalidInput, "queries: expected cosines with the rows of fit, as in fit"),
        (Cosines(np.eye(5)), Cosines(np.zeros((2, 4))), WrongShape, "queries: expected shape (2, 5), got (2, 4)"),
        ((A, A), (B, B[:2]), WrongShape, "queries: expected shape (4, 3), got (2, 3)"),
    ],
)
def test_new_rows_seen_otherwise_are_refused(known, new, error, message):
    with expect_refusal(error, message):
        as_new(new, as_seen(known, "queries"))
