import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fwl.errors import InvalidInput, NotFinite, NotFitted, OutputTrouble, WrongShape
from fwl.storage import Stored, write_folder
from fwl.teach import Cosines, QueryDocumentGP
from tests.properties import PROPERTY
from tests.refusals import expect_refusal

Q, N = 6, 12


def vectors(n: int, seed: int, columns: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, columns))


QUERIES, DOCUMENTS, NEW = vectors(Q, 0), vectors(N, 1, 5), vectors(3, 2)
RESIDUALS = np.random.default_rng(3).normal(size=(Q, N))
ASKED = ("residual", "variance", "mean_variance")
NO_NUMBER = "is a number above 0, got"


def fitted(**settings) -> QueryDocumentGP:
    return QueryDocumentGP(**settings).fit(QUERIES, DOCUMENTS, RESIDUALS)


def low_rank(landmarks: int = 5, **settings) -> QueryDocumentGP:
    return fitted(exact_documents=3, landmarks=landmarks, **settings)


def on_a_curve(n: int) -> np.ndarray:
    """Vectors whose directions vary smoothly along one way."""
    angle = np.linspace(0.0, 2.5, n)
    return np.stack([np.cos(angle), np.sin(angle), 0.3 * np.sin(2 * angle)], axis=1)


def assert_same_teacher(one: QueryDocumentGP, other: QueryDocumentGP, new=NEW) -> None:
    for ask in ASKED:
        np.testing.assert_array_equal(getattr(one, ask)(new), getattr(other, ask)(new))
    np.testing.assert_array_equal(one.leave_one_query_out(), other.leave_one_query_out())
    np.testing.assert_array_equal(one.leave_one_query_out_variance(), other.leave_one_query_out_variance())
    assert one.log_evidence_ == other.log_evidence_
    assert (one.document_error_, one.missing_) == (other.document_error_, other.missing_)


def test_fitting_returns_the_teacher_and_twice_is_once():
    teacher = QueryDocumentGP()
    assert teacher.fit(QUERIES[:4], DOCUMENTS, RESIDUALS[:4]) is teacher
    assert_same_teacher(teacher.fit(QUERIES, DOCUMENTS, RESIDUALS), fitted())


def test_a_judged_query_is_answered_near_its_judgments_where_there_is_little_noise():
    answer = fitted(query_lengthscale=0.3, noise=1e-6).residual(QUERIES)
    np.testing.assert_allclose(answer, RESIDUALS, rtol=0, atol=1e-3)


def test_a_query_like_no_other_is_answered_with_nothing_and_no_certainty():
    opposite = -QUERIES.sum(axis=0, keepdims=True)
    teacher = QueryDocumentGP(0.05).fit(np.abs(QUERIES), DOCUMENTS, RESIDUALS)
    np.testing.assert_allclose(teacher.residual(-np.abs(opposite)), 0.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(teacher.variance(-np.abs(opposite)), 1.0, rtol=0, atol=1e-12)


def test_what_is_relevant_to_a_query_is_expected_of_its_neighbour():
    judged = np.array([[1.0, 0.0], [0.0, 1.0]])
    R = np.zeros((2, N))
    R[0, 4] = 1.0
    near, far = QueryDocumentGP().fit(judged, DOCUMENTS, R).residual([[0.9, 0.1], [0.1, 0.9]])
    assert near.argmax() == 4
    assert near[4] > 3 * far[4] > 0


def test_only_directions_matter():
    stretched = QueryDocumentGP().fit(1e200 * QUERIES, 1e-200 * DOCUMENTS, RESIDUALS)
    np.testing.assert_allclose(stretched.residual(7 * NEW), fitted().residual(NEW), rtol=0, atol=1e-12)
    in_sparse = QueryDocumentGP().fit(sparse.csr_array(1e200 * QUERIES), sparse.csr_array(DOCUMENTS), RESIDUALS)
    np.testing.assert_allclose(in_sparse.residual(7 * NEW), fitted().residual(NEW), rtol=0, atol=1e-12)


@pytest.mark.parametrize("make", [fitted, low_rank], ids=["exact", "low rank"])
def test_some_documents_are_answered_as_among_all(make):
    teacher = make()
    candidates = [[3, 1, 1], np.array([], dtype=int), range(N)]
    for all_of_them, some in ((teacher.residual, teacher.residual_at), (teacher.variance, teacher.variance_at)):
        everywhere, here = all_of_them(NEW), some(NEW, candidates)
        assert [len(part) for part in here] == [3, 0, N]
        for row, rows, part in zip(everywhere, candidates, here, strict=True):
            np.testing.assert_allclose(part, row[list(rows)], rtol=0, atol=1e-6)
            assert part.dtype == everywhere.dtype


@pytest.mark.parametrize("make", [fitted, low_rank], ids=["exact", "low rank"])
def test_one_query_is_answered_as_among_others(make):
    teacher = make()
    for ask in ASKED:
        among, alone = getattr(teacher, ask)(NEW), getattr(teacher, ask)(NEW[[1]])
        np.testing.assert_allclose(alone[0], among[1], rtol=0, atol=1e-6)


def test_precision_is_double_where_exact_and_single_where_not():
    assert fitted().residual(NEW).dtype == fitted().leave_one_query_out().dtype == np.float64
    assert low_rank().residual(NEW).dtype == low_rank().variance(NEW).dtype == np.float32
    assert low_rank().mean_variance(NEW).dtype == np.float64


def test_more_documents_than_are_worked_on_at_a_time(monkeypatch):
    expected = [getattr(low_rank(), ask)(NEW) for ask in ASKED]
    monkeypatch.setattr("fwl.teach.query_document.AT_ONCE", 5)
    monkeypatch.setattr("fwl.teach.kronecker.AT_ONCE", 5)
    for ask, before in zip(ASKED, expected, strict=True):
        np.testing.assert_allclose(getattr(low_rank(), ask)(NEW), before, rtol=0, atol=1e-5)


def test_a_low_rank_is_near_exact_on_smooth_documents():
    documents, rng = on_a_curve(300), np.random.default_rng(4)
    waves = np.sin(3 * documents[:, 0]), np.cos(3 * documents[:, 0])  # together nowhere small: landmarks stand there
    R = sum(rng.normal(size=(Q, 1)) * wave for wave in waves) + 0.1 * rng.normal(size=(Q, 300))
    exact = QueryDocumentGP().fit(QUERIES, documents, R)
    spanned = QueryDocumentGP(exact_documents=100, landmarks=40).fit(QUERIES, documents, R)
    assert exact.document_error_ == exact.missing_ == 0.0
    assert 0.0 < spanned.document_error_ < 1e-3
    assert 0.0 <= spanned.missing_ < 1e-3
    for ask in ASKED:
        np.testing.assert_allclose(getattr(spanned, ask)(NEW), getattr(exact, ask)(NEW), rtol=0, atol=2e-3)
    np.testing.assert_allclose(spanned.leave_one_query_out(), exact.leave_one_query_out(), rtol=0, atol=5e-3)


def test_fewer_landmarks_are_further_from_exact():
    errors = [low_rank(landmarks).document_error_ for landmarks in (1, 4, 8, 11)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < errors[0]
    assert [low_rank(99).document_error_, low_rank(99).missing_] == pytest.approx([0.0, 0.0], abs=1e-6)


def test_landmarks_stand_where_residuals_are():
    R = np.zeros((Q, N))
    R[:, [2, 7, 9]] = 1.0
    for seed in range(5):
        teacher = QueryDocumentGP(exact_documents=1, landmarks=3, random_state=seed).fit(QUERIES, DOCUMENTS, R)
        assert teacher.missing_ == pytest.approx(0.0, abs=1e-6)
    assert low_rank(3).missing_ > 0.1


def test_the_same_random_state_gives_the_same_bits_and_another_other_landmarks():
    assert_same_teacher(low_rank(random_state=1), low_rank(random_state=1))
    assert low_rank(random_state=1).document_error_ != low_rank(random_state=2).document_error_


def test_alternatives_are_teachers_with_those_settings():
    found = list(fitted(document_lengthscale=0.4).alternatives((0.5, 0.8), (0.1, 1.0)))
    described = [teacher.described() for teacher in found]
    assert [(d["query_lengthscale"], d["noise"]) for d in described] == [(0.5, 0.1), (0.5, 1.0), (0.8, 0.1), (0.8, 1.0)]
    assert {d["document_lengthscale"] for d in described} == {0.4}
    assert_same_teacher(found[1], fitted(query_lengthscale=0.5, document_lengthscale=0.4, noise=1.0))


def test_more_noise_is_less_said_and_less_known():
    quiet, loud = fitted(noise=0.01), fitted(noise=10.0)
    assert np.abs(loud.residual(NEW)).sum() < np.abs(quiet.residual(NEW)).sum()
    assert (loud.variance(NEW) > quiet.variance(NEW)).all()


def test_the_mean_variance_is_lower_near_judged_queries():
    near, far = fitted().mean_variance(np.stack([QUERIES[0] + 0.01, -QUERIES.sum(axis=0)]))
    assert near < far


@PROPERTY
@given(
    st.integers(0, 10**6),
    st.sampled_from([1e-6, 0.1, 30.0]),
    st.sampled_from([0.05, 0.35, 3.0]),
    st.sampled_from([0, 100]),
)
def test_the_variance_lies_between_nothing_and_the_prior(seed, noise, lengthscale, exact):
    rng = np.random.default_rng(seed)
    q, n = rng.integers(1, 6), rng.integers(1, 9)
    queries, documents = rng.normal(size=(q, 3)).round(), rng.normal(size=(n, 3)).round()  # with zeros and duplicates
    teacher = QueryDocumentGP(lengthscale, lengthscale, noise, exact_documents=exact, landmarks=4)
    teacher.fit(queries, documents, rng.normal(size=(q, n)))
    new = np.concatenate([queries, rng.normal(size=(2, 3))])
    variances = [teacher.variance(new), teacher.leave_one_query_out_variance(), teacher.mean_variance(new)]
    for variance in variances:
        assert (variance >= 0.0).all()
        assert (variance <= 1.0).all()
    np.testing.assert_allclose(variances[0].mean(axis=1), variances[2], rtol=0, atol=1e-5)
    assert (variances[1] >= variances[0][:q] - 1e-5).all()  # own judgments make nobody less sure


def test_one_query_left_out_leaves_nothing():
    teacher = QueryDocumentGP().fit(QUERIES[:1], DOCUMENTS, RESIDUALS[:1])
    np.testing.assert_allclose(teacher.leave_one_query_out(), 0.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(teacher.leave_one_query_out_variance(), 1.0, rtol=0, atol=1e-12)
    assert np.isfinite(teacher.residual(NEW)).all()


def test_one_document_will_do():
    teacher = QueryDocumentGP().fit(QUERIES, DOCUMENTS[:1], RESIDUALS[:, :1])
    assert teacher.residual(NEW).shape == (3, 1)


@pytest.mark.parametrize("noise", [1e-6, 0.1])
def test_duplicate_queries_and_documents_are_no_trouble(noise):
    queries, documents = np.repeat(QUERIES, 2, axis=0), np.repeat(DOCUMENTS, 2, axis=0)
    R = np.repeat(np.repeat(RESIDUALS, 2, axis=0), 2, axis=1)
    teacher = QueryDocumentGP(noise=noise).fit(queries, documents, R)
    answer = teacher.residual(NEW)
    np.testing.assert_allclose(answer[:, ::2], answer[:, 1::2], rtol=0, atol=1e-8)
    np.testing.assert_allclose(answer[:, ::2], fitted(noise=noise / 4).residual(NEW), rtol=0, atol=1e-6)


def test_rows_of_zeros_are_like_nothing_but_themselves():
    queries, documents = QUERIES.copy(), DOCUMENTS.copy()
    queries[[1, 2]], documents[[4, 5]] = 0.0, 0.0
    dense = QueryDocumentGP().fit(queries, documents, RESIDUALS)
    in_sparse = QueryDocumentGP().fit(sparse.csr_array(queries), sparse.csr_array(documents), RESIDUALS)
    new = np.concatenate([NEW, np.zeros((1, 4))])
    assert np.isfinite(dense.residual(new)).all()
    np.testing.assert_allclose(in_sparse.residual(sparse.csr_array(new)), dense.residual(new), rtol=0, atol=1e-12)
    cosines = np.eye(Q)
    for i in range(Q):
        for j in range(i):
            lengths = np.linalg.norm(queries[i]) * np.linalg.norm(queries[j])
            cosines[i, j] = cosines[j, i] = queries[i] @ queries[j] / lengths if lengths else 0.0
    given_cosines = QueryDocumentGP().fit(Cosines(cosines), documents, RESIDUALS)
    np.testing.assert_allclose(dense.leave_one_query_out(), given_cosines.leave_one_query_out(), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "as_given",
    [
        lambda x: x.astype(np.float32).astype(np.float64),
        np.asfortranarray,
        lambda x: np.repeat(x, 2, axis=1)[:, ::2],
        lambda x: x[::-1][::-1],
        lambda x: x.tolist(),
        lambda x: sparse.lil_matrix(x),
    ],
    ids=["float32's values", "fortran", "strided", "reversed twice", "lists", "sparse"],
)
def test_vectors_may_come_in_any_layout(as_given):
    teacher = QueryDocumentGP().fit(as_given(QUERIES), as_given(DOCUMENTS), RESIDUALS)
    np.testing.assert_allclose(teacher.residual(as_given(NEW)), fitted().residual(NEW), rtol=0, atol=1e-6)


def test_single_precision_and_integers_are_taken_as_they_are():
    single = QueryDocumentGP().fit(QUERIES.astype("f4"), DOCUMENTS.astype("f4"), RESIDUALS.astype("f4"))
    np.testing.assert_allclose(single.residual(NEW.astype("f4")), fitted().residual(NEW), rtol=0, atol=1e-6)
    assert QueryDocumentGP().fit(np.eye(2, dtype=int), np.eye(3, dtype=bool), np.ones((2, 3), int)).log_evidence_ < 0


def test_what_was_given_is_not_changed():
    queries, documents, R = QUERIES.copy(), DOCUMENTS.copy(), RESIDUALS.copy()
    cosines = Cosines(np.eye(Q))
    for seen in (queries, sparse.csr_array(queries), cosines):
        teacher = QueryDocumentGP().fit(seen, documents, R)
    new = Cosines(np.zeros((1, Q)))
    teacher.residual(new)
    np.testing.assert_array_equal(queries, QUERIES)
    np.testing.assert_array_equal(documents, DOCUMENTS)
    np.testing.assert_array_equal(R, RESIDUALS)
    np.testing.assert_array_equal(cosines.matrix, np.eye(Q))
    np.testing.assert_array_equal(new.matrix, 0.0)


@pytest.mark.parametrize("name", ["query_lengthscale", "document_lengthscale", "noise"])
@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), "wide", None, True])
def test_settings_that_are_no_lengths_are_refused(name, value):
    with expect_refusal(InvalidInput, f"{name} {NO_NUMBER} {value!r}"):
        fitted(**{name: value})


def test_refitting_with_such_settings_is_refused_too():
    with expect_refusal(InvalidInput, f"noise {NO_NUMBER} 0"):
        fitted().refitted(0.5, 0)


@pytest.mark.parametrize("landmarks", [0, -3])
def test_no_landmarks_are_refused(landmarks):
    with expect_refusal(InvalidInput, f"landmarks is at least 1, got {landmarks}"):
        low_rank(landmarks)


@pytest.mark.parametrize("shape", [(N, Q), (Q, N + 1), (Q,), (1, N)])
def test_residuals_of_another_shape_are_refused(shape):
    with expect_refusal(WrongShape, f"residuals: expected shape (6, 12), queries by documents, got {shape}"):
        QueryDocumentGP().fit(QUERIES, DOCUMENTS, np.zeros(shape))


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_what_is_not_finite_is_refused_by_row(broken):
    for place in range(3):
        given_arrays = [QUERIES.copy(), DOCUMENTS.copy(), RESIDUALS.copy()]
        given_arrays[place][4, 1] = broken
        name, rows = [("queries", 6), ("documents", 12), ("residuals", 6)][place]
        message = f"{name}: NaN or infinity in 1 of {rows} rows (rows 4); drop or fill them first"
        with expect_refusal(NotFinite, message):
            QueryDocumentGP().fit(*given_arrays)
        if place < 2:
            given_arrays[place] = sparse.csr_array(given_arrays[place])
            with expect_refusal(NotFinite, message):
                QueryDocumentGP().fit(*given_arrays)


def test_residuals_whose_squares_overflow_are_refused():
    message = "residuals: values up to 1.0e+200 are too large for their squares to be summed; scale them"
    with expect_refusal(InvalidInput, message):
        QueryDocumentGP().fit(QUERIES, DOCUMENTS, np.full((Q, N), 1e200))


def test_new_queries_of_another_width_are_refused():
    with expect_refusal(WrongShape, "queries: expected shape (3, 4), got (3, 2)"):
        fitted().residual(NEW[:, :2])


def test_new_queries_with_nan_are_refused():
    with pytest.raises(NotFinite):
        fitted().variance(np.full((1, 4), np.nan))


@pytest.mark.parametrize(
    ("documents", "error", "message"),
    [
        ([[0]], WrongShape, "candidates: expected rows of documents for each of 3 queries, got 1"),
        (
            [[0], [12], [0]],
            InvalidInput,
            "candidates of query 1: expected rows of documents from 0 to 11, got 12 to 12",
        ),
        (
            [[0], [0], [-1, 3]],
            InvalidInput,
            "candidates of query 2: expected rows of documents from 0 to 11, got -1 to 3",
        ),
        (
            [[0.5], [0], [0]],
            InvalidInput,
            "candidates of query 0: expected a list of whole numbers, the rows of documents",
        ),
        (
            [[[0]], [0], [0]],
            InvalidInput,
            "candidates of query 0: expected a list of whole numbers, the rows of documents",
        ),
    ],
)
def test_candidates_that_are_none_are_refused(documents, error, message):
    with expect_refusal(error, message):
        fitted().residual_at(NEW, documents)


@pytest.mark.parametrize(
    "ask",
    [
        lambda t: t.residual(NEW),
        lambda t: t.residual_at(NEW, [[0]] * 3),
        lambda t: t.variance(NEW),
        lambda t: t.variance_at(NEW, [[0]] * 3),
        lambda t: t.mean_variance(NEW),
        lambda t: t.leave_one_query_out(),
        lambda t: t.leave_one_query_out_variance(),
        lambda t: t.refitted(0.5, 0.1),
        lambda t: next(t.alternatives()),
        lambda t: t.state(),
    ],
)
def test_asking_before_teaching_is_refused(ask):
    message = "this teacher has not been fitted; call fit(queries, documents, residuals) first"
    with expect_refusal(NotFitted, message):
        ask(QueryDocumentGP())


def test_a_fit_that_fails_leaves_what_was_learned():
    teacher = fitted()
    with pytest.raises(WrongShape):
        teacher.fit(QUERIES, DOCUMENTS, RESIDUALS[:, 1:])
    assert_same_teacher(teacher, fitted())


VIEWS = {
    "dense": (QUERIES, NEW),
    "sparse": (sparse.csr_array(QUERIES), sparse.csr_array(NEW)),
    "cosines": (Cosines(np.eye(Q)), Cosines(np.full((3, Q), 0.2))),
    "several": ((QUERIES, sparse.csr_array(np.abs(QUERIES))), (NEW, sparse.csr_array(np.abs(NEW)))),
}


@pytest.mark.parametrize("exact", [100, 1], ids=["exact", "low rank"])
@pytest.mark.parametrize(("queries", "new"), VIEWS.values(), ids=VIEWS)
def test_a_saved_teacher_comes_back_to_the_last_bit(queries, new, exact, tmp_path):
    teacher = QueryDocumentGP(0.6, 0.4, np.float64(0.2), exact, np.int64(5), random_state=3)
    teacher.fit(queries, DOCUMENTS, RESIDUALS)
    assert teacher.save(tmp_path / "teacher") == tmp_path / "teacher"
    again = QueryDocumentGP.load(tmp_path / "teacher")
    assert_same_teacher(again, teacher, new)
    assert again.described() == teacher.described()
    assert (again.exact_documents, again.landmarks, again.random_state) == (exact, 5, 3)
    assert_same_teacher(again.refitted(0.5, 1.0), teacher.refitted(0.5, 1.0), new)


def test_a_folder_with_something_else_is_refused(tmp_path):
    write_folder(tmp_path / "student", Stored("student", {}, {"weights": np.ones(3)}))
    with expect_refusal(OutputTrouble, f"{tmp_path / 'student'} holds a student, expected a query-document teacher"):
        QueryDocumentGP.load(tmp_path / "student")
