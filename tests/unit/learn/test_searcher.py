import numpy as np
import pytest
from scipy import sparse
from tests.refusals import expect_refusal
from tests.tolerances import SINGLE

from fwl.annotate import BM25, RM3, InvertedIndex, VectorSpace
from fwl.errors import InvalidInput, NotFinite, UnknownName, WrongShape
from fwl.learn.searcher import Asked, Searcher, candidates, standardised
from fwl.text import Analyser

PLAIN = Analyser(stemmer="")
TEXTS = ["heat flow", "flow of heat in heat shields", "wings", "", "heat"]
INDEX = InvertedIndex.of(
    ((f"d{i}", PLAIN.tokens(text)) for i, text in enumerate(TEXTS)), {"analyser": PLAIN.settings()}
)
QUERIES = ["heat wings", "Flow!", "nowhere", ""]
VECTORS = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)


def encode(texts):
    """Two of the texts look into the same direction."""
    return np.array([[len(text), 2.0 * len(text), -1.0 * len(text)] for text in texts], dtype=np.float32)


@pytest.fixture(scope="module")
def plain():
    return Searcher(INDEX)


@pytest.fixture(scope="module")
def dense():
    return Searcher(INDEX, VECTORS, encode)


def test_every_annotator_says_what_it_says_of_every_document(plain):
    asked = plain.ask(QUERIES)
    assert asked.texts == tuple(QUERIES)
    tokens = [PLAIN.tokens(text) for text in QUERIES]
    annotators = {
        "bm25": BM25(INDEX),
        "rm3": RM3(INDEX),
        "tfidf": VectorSpace(INDEX, "tfidf"),
        "binary": VectorSpace(INDEX, "binary"),
    }
    assert plain.names == tuple(asked.scores) == tuple(annotators)
    for name, annotator in annotators.items():
        assert np.array_equal(asked.scores[name], annotator.score(tokens, [range(5)] * 4, workers=1))
    assert plain.annotator("rm3") is plain.annotator("rm3")


def test_matched_is_the_share_of_the_query_by_idf(plain):
    idf = {"heat": np.log1p(5 / 3), "flow": np.log1p(5 / 2), "wings": np.log1p(5)}
    whole = idf["heat"] + idf["wings"]
    heat, wings = idf["heat"] / whole, idf["wings"] / whole
    expected = [[heat, heat, wings, 0, heat], [1, 1, 0, 0, 0], [0] * 5, [0] * 5]
    assert plain.ask(QUERIES).matched == pytest.approx(np.array(expected), rel=SINGLE)


def test_without_an_encoder_vectors_are_weighted_words(plain):
    assert sparse.issparse(plain.documents)
    assert plain.documents.shape == (5, 4)
    twice = plain.documents.toarray()[1, INDEX.numbers["heat"]]
    assert twice == pytest.approx((1 + np.log(2)) * np.log1p(5 / 3), rel=SINGLE)
    queries = plain.ask(QUERIES).vectors.toarray()
    assert queries[0, INDEX.numbers["wings"]] == pytest.approx(np.log1p(5), rel=SINGLE)
    assert not queries[2:].any()


def test_with_an_encoder_the_cosine_is_one_more_way(dense):
    asked = dense.ask(QUERIES)
    assert dense.names[-1] == "dense"
    direction = np.array([1.0, 2.0, -1.0]) / np.sqrt(6)
    lengths = np.linalg.norm(VECTORS, axis=1)
    assert asked.scores["dense"][0] == pytest.approx(VECTORS @ direction / lengths, rel=SINGLE, abs=1e-6)
    assert not asked.scores["dense"][3].any()  # an empty query looks nowhere
    assert np.linalg.norm(asked.vectors[:3], axis=1) == pytest.approx(1.0, rel=SINGLE)
    assert np.linalg.norm(dense.documents, axis=1) == pytest.approx(1.0, rel=SINGLE)


def test_only_what_is_wanted_is_asked(dense):
    asked = dense.ask(QUERIES, ["tfidf"])
    assert list(asked.scores) == ["tfidf"]
    assert asked.vectors.shape == (4, 3)
    assert list(dense.ask(QUERIES, ["dense", "bm25"]).scores) == ["bm25", "dense"]


@pytest.mark.parametrize("kind", ["plain", "dense"])
def test_rows_are_some_of_the_queries(kind, request):
    searcher = request.getfixturevalue(kind)
    rows = np.array([2, 0])
    some, alone = searcher.ask(QUERIES).rows(rows), searcher.ask([QUERIES[2], QUERIES[0]])
    assert some.texts == alone.texts
    for name in searcher.names:
        assert some.scores[name] == pytest.approx(alone.scores[name], rel=SINGLE)
    assert np.array_equal(some.matched, alone.matched)
    assert abs(some.vectors - alone.vectors).max() == 0


def test_scores_are_standardised_over_candidates():
    scores = np.array([[1.0, 3.0, 100.0], [2.0, 2.0, 2.0], [5.0, 6.0, 7.0]], dtype=np.float32)
    among = np.array([[True, True, False], [True, True, True], [False, False, False]])
    assert standardised(scores, among).tolist() == [[-1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]


def asked_of(**scores):
    matrices = {name: np.array(matrix, dtype=np.float32) for name, matrix in scores.items()}
    shape = next(iter(matrices.values())).shape
    return Asked(("",) * shape[0], matrices, np.zeros((shape[0], 1)), np.zeros(shape, dtype=np.float32))


def test_candidates_are_the_first_of_any_way_and_annotators_have_to_find_them():
    asked = asked_of(bm25=[[3, 2, 1, 0], [0, 0, 0, 1]], dense=[[-0.9, -0.5, -0.8, 0.1], [0.4, 0.3, 0.2, 0.1]])
    assert candidates(asked, ["bm25"], 2).tolist() == [[True, True, False, False], [False, False, False, True]]
    assert candidates(asked, ["dense"], 2).tolist() == [[False, True, False, True], [True, True, False, False]]
    both = candidates(asked, ["bm25", "dense"], 2)
    assert both.tolist() == [[True, True, False, True], [True, True, False, True]]
    assert candidates(asked, ["bm25"], 100).tolist() == [[True, True, True, False], [False, False, False, True]]


def test_no_candidates_at_all_are_refused():
    message = "candidates: expected some ways of searching and at least 1 place, got {} and {}"
    with expect_refusal(InvalidInput, message.format([], 10)):
        candidates(asked_of(bm25=[[1.0]]), [], 10)
    with expect_refusal(InvalidInput, message.format(["bm25"], 0)):
        candidates(asked_of(bm25=[[1.0]]), ["bm25"], 0)


def test_unknown_ways_are_refused(plain):
    with expect_refusal(UnknownName, "unknown way of searching 'dense'; known: bm25, rm3, tfidf, binary"):
        plain.ask(QUERIES, ["dense"])
    with expect_refusal(UnknownName, "unknown annotator 'bm52'; did you mean 'bm25'? known: bm25, rm3, tfidf, binary"):
        plain.annotator("bm52")


@pytest.mark.parametrize("given", [(VECTORS, None), (None, encode)])
def test_vectors_and_their_encoder_come_together(given):
    with expect_refusal(
        InvalidInput, "vectors of documents and the encoder of queries come together; give both or neither"
    ):
        Searcher(INDEX, *given)


def test_vectors_of_other_documents_are_refused():
    with expect_refusal(WrongShape, "expected a vector for each of 5 documents, got 4"):
        Searcher(INDEX, VECTORS[:4], encode)


def test_an_encoder_that_does_not_fit_is_refused():
    with expect_refusal(WrongShape, "encoder: expected vectors of shape (4, 2), got (4, 3)"):
        Searcher(INDEX, VECTORS[:, :2], encode).ask(QUERIES)
    with expect_refusal(NotFinite, "encoder: NaN or infinity in the vector of a query"):
        Searcher(INDEX, VECTORS, lambda texts: encode(texts) * np.nan).ask(QUERIES)


def test_an_index_of_unknown_terms_is_refused():
    with expect_refusal(
        InvalidInput,
        "the index does not say how its documents were cut into terms; "
        'build it with settings={"analyser": analyser.settings()}',
    ):
        Searcher(InvertedIndex.of([("a", ["heat"])]))
