import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwl.annotate import BM25, RM3, Hits, InvertedIndex, VectorSpace
from fwl.annotate.postings import Postings, offsets_of
from fwl.annotate.ranking import Bags, Worth, as_bags, rank
from fwl.annotate.scoring import BLOCK
from fwl.errors import InvalidInput, WrongShape
from tests.properties import PROPERTY
from tests.refusals import expect_refusal
from tests.retrieval import index_of, query_lists, token_lists

INDEX = index_of(token_lists(150))
QUERIES = query_lists(70)  # more than are answered at once
RANKINGS = [BM25(INDEX), RM3(INDEX), VectorSpace(INDEX), VectorSpace(INDEX, "binary")]
every_ranking = pytest.mark.parametrize("ranking", RANKINGS, ids=["bm25", "rm3", "tfidf", "binary"])


def same(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@every_ranking
def test_hits_come_best_first_and_of_equal_ones_the_first_document(ranking):
    for hits in ranking.search(QUERIES, workers=1):
        assert isinstance(hits, Hits)
        assert (hits.documents.dtype, hits.scores.dtype) == (np.int32, np.float32)
        keys = list(zip(-hits.scores, hits.documents, strict=True))
        assert keys == sorted(keys)
        assert (hits.scores > 0).all()
        assert len(set(hits.documents.tolist())) == len(hits.documents)


@every_ranking
@pytest.mark.parametrize("k", [1, 7])
def test_fewer_hits_are_the_first_ones(ranking, k):
    for few, many in zip(ranking.search(QUERIES, k, workers=1), ranking.search(QUERIES, workers=1), strict=True):
        assert same(few, (many.documents[:k], many.scores[:k]))


@every_ranking
def test_workers_do_not_change_a_bit(ranking):
    alone, together = ranking.search(QUERIES, workers=1), ranking.search(QUERIES, workers=3)
    assert all(same(one, other) for one, other in zip(alone, together, strict=True))


@every_ranking
def test_a_query_is_answered_alike_alone_and_among_others(ranking):
    together = ranking.search(QUERIES, workers=1)
    for place in (0, 31, 32, 69):
        assert same(ranking.search([QUERIES[place]], workers=1)[0], together[place])


@every_ranking
def test_documents_score_as_in_the_search_and_0_where_nothing_matches(ranking):
    everything = np.arange(150)
    hits = ranking.search(QUERIES, workers=1)
    for workers in (1, 3):
        scores = ranking.score(QUERIES, [everything] * len(QUERIES), workers)
        for its_scores, its_hits in zip(scores, hits, strict=True):
            expected = np.zeros(150, dtype=np.float32)
            expected[its_hits.documents] = its_hits.scores
            assert np.array_equal(its_scores, expected)


def test_each_query_has_documents_of_its_own_to_score():
    scores = RANKINGS[0].score([["w1"], ["w2"], ["w1"]], [[3, 3, 0], [], np.array([[5]], dtype=np.uint8)], workers=2)
    assert [len(one) for one in scores] == [3, 0, 1]
    assert scores[0][0] == scores[0][1]
    assert RANKINGS[0].score([], []) == []


@every_ranking
def test_queries_that_find_nothing_have_no_hits(ranking):
    for hits in ranking.search([[], ["nowhere"], {}, {"w1": 0.0}, {"nowhere": 2.0}], workers=1):
        assert hits.documents.tolist() == []
        assert hits.scores.tolist() == []
    assert ranking.search([], workers=1) == []


@every_ranking
def test_an_index_of_empty_documents_answers_nothing(ranking):
    index = InvertedIndex.of([("a", []), ("b", [])])
    empty = VectorSpace(index, ranking.weights) if isinstance(ranking, VectorSpace) else type(ranking)(index)
    (hits,) = empty.search([["w1"]], workers=1)
    assert hits.documents.tolist() == []
    assert empty.score([["w1"]], [[0, 1]], workers=1)[0].tolist() == [0.0, 0.0]


@every_ranking
def test_weights_of_one_are_tokens_once(ranking):
    weighted = [dict.fromkeys(query, 1.0) for query in QUERIES]
    plain = [list(dict.fromkeys(query)) for query in QUERIES]
    for one, other in zip(ranking.search(weighted, workers=1), ranking.search(plain, workers=1), strict=True):
        assert same(one, other)


def test_bags_hold_the_known_terms_of_queries():
    bags = as_bags([["b", "a", "b"], [], {"a": 0.5, "c": 2.0, "b": 0.0}], {"a": 0, "b": 1}, lambda count: 10.0 * count)
    assert bags.starts.tolist() == [0, 2, 2, 3]
    assert bags.terms.tolist() == [1, 0, 0]
    assert bags.weights.tolist() == [20.0, 10.0, 0.5]
    assert len(bags) == 3
    assert bags.of(0) == slice(0, 2)
    assert bags.sums(bags.weights).tolist() == [30.0, 30.0, 0.5]
    rest = bags.weighted(np.array([0.0, 3.0, 0.0]))
    assert (rest.starts.tolist(), rest.terms.tolist(), rest.weights.tolist()) == ([0, 1, 1, 1], [0], [3.0])


# The selection of the best is compiled by hand; here it meets one term whose documents weigh anything.
SCORES = st.lists(
    st.one_of(
        st.floats(2.0**-140, 2.0**66, width=32),
        st.integers(1, 3).map(float),
        st.just(0.0),  # underflows still are matches
    ),
    min_size=1,
    max_size=200,
)


def rank_scores(scores, k):
    """Documents of these scores: one term that is in all of them, each with a frequency of its own."""
    N = len(scores)
    postings = Postings(offsets_of(np.array([N])), np.arange(N, dtype=np.int32), np.arange(N, dtype=np.uint16), N)
    gain = np.zeros(65536, dtype=np.float32)
    gain[:N] = scores
    worth = Worth(gain, np.zeros(65536, dtype=np.float32), np.ones(N, dtype=np.float32))
    bags = Bags(np.array([0, 1]), np.zeros(1, dtype=np.int32), np.ones(1))
    return rank(postings, worth, bags, k)[0]


def plain_best(scores, k):
    least = np.finfo(np.float32).tiny
    raised = [max(np.float32(score), least) for score in scores]
    order = sorted(range(len(scores)), key=lambda place: (-raised[place], place))[:k]
    return order, [raised[place] for place in order]


@PROPERTY
@given(SCORES, st.integers(1, 250))
def test_the_best_are_those_that_sorting_gives(scores, k):
    hits = rank_scores(scores, k)
    documents, values = plain_best(scores, k)
    assert hits.documents.tolist() == documents
    assert hits.scores.tolist() == values


@pytest.mark.parametrize("kind", ["equal", "few", "near", "spread"])
def test_many_scores_in_one_place_are_sorted_too(kind):
    rng = np.random.default_rng(0)
    scores = {
        "equal": np.full(3000, 1.5),
        "few": rng.integers(1, 4, size=3000) / 3,
        "near": 1 + rng.random(3000) * 1e-5,
        "spread": np.append(rng.random(2999) * 1e-6, 1e6),
    }[kind]
    for k in (1, 40, 1000, 5000):
        hits = rank_scores(scores, k)
        documents, values = plain_best(scores, k)
        assert hits.documents.tolist() == documents
        assert hits.scores.tolist() == values


@pytest.fixture(scope="module")
def blocks():
    """Documents of three blocks and a piece, of three lengths: many scores are equal."""
    rng = np.random.default_rng(0)
    lengths = rng.choice([2, 5, 9], 3 * BLOCK + 100)
    words = np.minimum(rng.geometric(0.04, lengths.sum()), 120).astype(str)
    return index_of([piece.tolist() for piece in np.split(words, np.cumsum(lengths)[:-1])])


@pytest.mark.parametrize("k", [1, 10, 1000, 3 * BLOCK])
@pytest.mark.parametrize("kind", [BM25, VectorSpace])
def test_blocks_of_documents_are_ranked_as_all_at_once(kind, k, blocks):
    ranking, everything = kind(blocks), np.arange(3 * BLOCK + 100)
    queries = [["1"], ["60"], ["1", "40"], ["2", "3", "50", "110"], ["1", "2", "3", "4", "5", "6"], ["90", "100"]]
    wanted = ranking.score(queries, [everything] * len(queries), 1)
    for hits, scores in zip(ranking.search(queries, k, workers=1), wanted, strict=True):
        order = np.lexsort((everything, -scores))[: min(k, np.count_nonzero(scores))]
        assert same(hits, (order, scores[order]))


@every_ranking
def test_a_text_in_place_of_tokens_is_refused(ranking):
    with expect_refusal(
        InvalidInput,
        "query 'heat flow': expected its tokens, or weights by token, got a text; tokenise it first",
    ):
        ranking.search([["heat"], "heat flow"])


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), 1e31])
def test_weights_below_zero_or_endless_are_refused(weight):
    with expect_refusal(InvalidInput, f"query: expected weights from 0 to 1e+30, got {weight} for 'w1'"):
        RANKINGS[0].search([{"w2": 1.0, "w1": weight}])


def test_weights_beyond_single_precision_are_refused():
    message = "query: expected weights of a sum up to 1e+30 in single precision; divide them"
    huge, rare = BM25(INDEX, k3=1e300), dict.fromkeys(INDEX.terms[-2:], 9e29)
    with expect_refusal(InvalidInput, message):
        huge.search([rare])
    with expect_refusal(InvalidInput, message):
        huge.score([rare], [[0]])


@pytest.mark.parametrize("k", [0, -1])
def test_looking_for_no_documents_is_refused(k):
    with expect_refusal(InvalidInput, f"k: expected at least 1 document to look for, got {k}"):
        RANKINGS[0].search([["w1"]], k)


def test_documents_that_are_not_there_are_refused():
    bm25 = RANKINGS[0]
    with expect_refusal(InvalidInput, "documents: expected numbers from 0 to 149, got -1 to 3"):
        bm25.score([["w1"]], [[3, -1]])
    with expect_refusal(InvalidInput, "documents: expected numbers from 0 to 149, got 0 to 150"):
        bm25.score([["w1"]], [[0, 150]])
    with expect_refusal(WrongShape, "documents: expected some for each of 2 queries, got 1"):
        bm25.score([["w1"], ["w2"]], [[0]])
    with expect_refusal(InvalidInput, "documents: expected their whole numbers, got bool"):
        bm25.score([["w1"]], [np.ones(150, dtype=bool)])
