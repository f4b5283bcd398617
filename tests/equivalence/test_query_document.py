"""The teacher over (query, document) against a plain Gaussian process on all pairs, one covariance at a time."""

import math

import numpy as np
import pytest
from scipy import sparse

from fwl.teach import Cosines, KernelMemory, QueryDocumentGP

NEAR = 1e-8
Q, N, M = 5, 7, 3
SETTINGS = [(0.8, 0.35, 0.1), (0.5, 0.35, 1.0), (2.0, 1.5, 0.01), (0.3, 0.2, 5.0)]
EVERY = pytest.mark.parametrize("settings", SETTINGS, ids=str)


def vectors(n: int, columns: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, columns)) + 0.5


def queries() -> np.ndarray:
    return vectors(Q, 4, 0)


def documents() -> np.ndarray:
    return vectors(N, 3, 1)


def residuals() -> np.ndarray:
    return np.random.default_rng(2).normal(size=(Q, N))


def new_queries() -> np.ndarray:
    return np.concatenate([vectors(M - 1, 4, 3), queries()[:1]])


def covariance(a, b, lengthscale: float) -> float:
    dot, length_a, length_b = (sum(i * j for i, j in zip(x, y, strict=True)) for x, y in ((a, b), (a, a), (b, b)))
    return math.exp(-(1 - dot / math.sqrt(length_a * length_b)) / lengthscale**2)


def matrix(A, B, lengthscale: float) -> np.ndarray:
    return np.array([[covariance(a, b, lengthscale) for b in B] for a in A])


def plain(judged, R, new, settings):
    """Mean and variance [M, N] at new queries, and the log evidence, from the covariance of all Q * N pairs."""
    query_lengthscale, document_lengthscale, noise = settings
    K_d = matrix(documents(), documents(), document_lengthscale)
    K = np.kron(matrix(judged, judged, query_lengthscale), K_d) + noise * np.eye(R.size)
    cross = np.kron(matrix(new, judged, query_lengthscale), K_d)
    inverse = np.linalg.inv(K)
    variance = 1.0 - np.diag(cross @ inverse @ cross.T)
    evidence = -0.5 * (R.ravel() @ inverse @ R.ravel() + np.linalg.slogdet(K)[1] + R.size * math.log(2 * math.pi))
    return (cross @ inverse @ R.ravel()).reshape(len(new), -1), variance.reshape(len(new), -1), evidence


def refitted_without_each(settings):
    """Mean and variance [Q, N] of every query by the process that never saw it."""
    others = [np.delete(np.arange(Q), i) for i in range(Q)]
    answers = [plain(queries()[rest], residuals()[rest], queries()[[i]], settings) for i, rest in enumerate(others)]
    return tuple(np.concatenate([answer[part] for answer in answers]) for part in (0, 1))


def fitted(settings, **more) -> QueryDocumentGP:
    return QueryDocumentGP(*settings, **more).fit(queries(), documents(), residuals())


def assert_near(one, other, near: float = NEAR) -> None:
    np.testing.assert_allclose(one, other, rtol=0, atol=near)


@EVERY
def test_the_residual_is_the_plain_processes(settings):
    expected, _, _ = plain(queries(), residuals(), new_queries(), settings)
    assert_near(fitted(settings).residual(new_queries()), expected)


@EVERY
def test_the_variance_is_the_plain_processes(settings):
    _, expected, _ = plain(queries(), residuals(), new_queries(), settings)
    teacher = fitted(settings)
    assert_near(teacher.variance(new_queries()), expected)
    assert_near(teacher.mean_variance(new_queries()), expected.mean(axis=1))


@EVERY
def test_the_log_evidence_is_the_plain_processes(settings):
    _, _, expected = plain(queries(), residuals(), new_queries(), settings)
    assert fitted(settings).log_evidence_ == pytest.approx(expected, rel=NEAR)


@EVERY
def test_leaving_a_query_out_is_refitting_without_it(settings):
    mean, variance = refitted_without_each(settings)
    teacher = fitted(settings)
    assert_near(teacher.leave_one_query_out(), mean)
    assert_near(teacher.leave_one_query_out_variance(), variance)


@EVERY
def test_a_query_judged_twice_alike_is_left_out_by_refitting_too(settings):
    judged, R = np.concatenate([queries(), queries()[:1]]), np.concatenate([residuals(), residuals()[:1]])
    teacher = QueryDocumentGP(*settings).fit(judged, documents(), R)
    mean, variance, _ = plain(queries(), residuals(), queries()[:1], settings)
    assert_near(teacher.leave_one_query_out()[[-1]], mean)
    assert_near(teacher.leave_one_query_out_variance()[[-1]], variance)


@EVERY
def test_settings_changed_afterwards_are_settings_from_the_start(settings):
    changed = QueryDocumentGP(0.7, settings[1], 0.2).fit(queries(), documents(), residuals())
    changed = changed.refitted(settings[0], settings[2])
    assert changed.log_evidence_ == pytest.approx(fitted(settings).log_evidence_, rel=NEAR)
    assert_near(changed.residual(new_queries()), fitted(settings).residual(new_queries()))


@EVERY
def test_every_document_a_landmark_is_exact_to_single_precision(settings):
    exact, spanned = fitted(settings), fitted(settings, exact_documents=1, landmarks=N)
    assert spanned.document_error_ < 1e-6
    assert spanned.missing_ == pytest.approx(0.0, abs=1e-6)
    assert spanned.log_evidence_ == pytest.approx(exact.log_evidence_, rel=1e-4)
    for ask in ("residual", "variance", "mean_variance"):
        assert_near(getattr(spanned, ask)(new_queries()), getattr(exact, ask)(new_queries()), 1e-4)
    assert_near(spanned.leave_one_query_out(), exact.leave_one_query_out(), 1e-4)
    assert_near(spanned.leave_one_query_out_variance(), exact.leave_one_query_out_variance(), 1e-4)


@EVERY
def test_few_landmarks_are_the_plain_process_with_nystroms_covariance(settings):
    query_lengthscale, document_lengthscale, noise = settings
    R = residuals()
    R[:, 3:] = 0.0  # landmarks are drawn where there are residuals
    teacher = QueryDocumentGP(*settings, exact_documents=1, landmarks=3).fit(queries(), documents(), R)
    K_d = matrix(documents(), documents(), document_lengthscale)
    K_d = K_d[:, :3] @ np.linalg.inv(K_d[:3, :3]) @ K_d[:3]
    K = np.kron(matrix(queries(), queries(), query_lengthscale), K_d) + noise * np.eye(R.size)
    cross = np.kron(matrix(new_queries(), queries(), query_lengthscale), K_d)
    inverse = np.linalg.inv(K)
    evidence = -0.5 * (R.ravel() @ inverse @ R.ravel() + np.linalg.slogdet(K)[1] + R.size * math.log(2 * math.pi))
    assert_near(teacher.residual(new_queries()), (cross @ inverse @ R.ravel()).reshape(M, N), 1e-4)
    # What the landmarks do not span stays as unsure as it was.
    assert_near(teacher.variance(new_queries()), 1 - np.diag(cross @ inverse @ cross.T).reshape(M, N), 1e-4)
    assert teacher.log_evidence_ == pytest.approx(evidence, rel=1e-4)
    assert teacher.missing_ == pytest.approx(0.0, abs=1e-6)
    assert teacher.document_error_ > 0.0


def test_sparse_dense_and_given_cosines_are_the_same():
    teacher = fitted(SETTINGS[0])
    unit = [x / np.linalg.norm(x, axis=1, keepdims=True) for x in (queries(), documents(), new_queries())]
    in_sparse = QueryDocumentGP(*SETTINGS[0]).fit(
        sparse.csr_array(queries()), sparse.coo_matrix(documents()), residuals()
    )
    given = QueryDocumentGP(*SETTINGS[0]).fit(Cosines(unit[0] @ unit[0].T), Cosines(unit[1] @ unit[1].T), residuals())
    expected = teacher.residual(new_queries())
    assert_near(in_sparse.residual(sparse.csc_array(new_queries())), expected)
    assert_near(in_sparse.residual(new_queries()), expected)
    assert_near(given.residual(Cosines(unit[2] @ unit[0].T)), expected)


def test_two_views_have_their_cosines_averaged():
    other, new_other = vectors(Q, 2, 7), vectors(M, 2, 8)
    lengthscale = SETTINGS[0][0]
    log = [np.log(matrix(a, b, 1.0)) for a, b in ((queries(), queries()), (other, other))]
    new_log = [np.log(matrix(a, b, 1.0)) for a, b in ((new_queries(), queries()), (new_other, other))]
    by_hand = QueryDocumentGP(lengthscale).fit(Cosines(1 + sum(log) / 2), documents(), residuals())
    averaged = QueryDocumentGP(lengthscale).fit((queries(), sparse.csr_array(other)), documents(), residuals())
    expected = by_hand.residual(Cosines(1 + sum(new_log) / 2))
    assert_near(averaged.residual((new_queries(), sparse.csr_array(new_other))), expected)
    assert_near(averaged.leave_one_query_out(), by_hand.leave_one_query_out())


@EVERY
def test_the_memory_is_its_sum_over_judged_pairs(settings):
    labels = (residuals() > 0.5) * 1.0
    memory = KernelMemory(*settings[:2]).fit(queries(), documents(), labels)
    scores, left_out = np.zeros((M, N)), np.zeros((Q, N))
    for i, judged in enumerate(queries()):
        for d, document in enumerate(documents()):
            near = [labels[i, d] * covariance(document, other, settings[1]) for other in documents()]
            scores += np.outer([covariance(new, judged, settings[0]) for new in new_queries()], near)
            others = [covariance(query, judged, settings[0]) * (j != i) for j, query in enumerate(queries())]
            left_out += np.outer(others, near)
    assert_near(memory.residual(new_queries()), scores)
    assert_near(memory.leave_one_query_out(), left_out)
