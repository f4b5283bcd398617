"""The same ranking by other means: plain loops, bm25s, more workers, an index made in pieces."""

import os
from pathlib import Path

import bm25s
import ir_measures
import numpy as np
import pytest

from fwl.annotate import BM25, RM3, InvertedIndex, VectorSpace
from fwl.evaluate import mean_over_queries, rank_measures
from fwl.randomness import Chance
from fwl.text import Analyser, BeirFolder
from tests.oracles import retrieval as oracle
from tests.retrieval import index_of, query_lists, token_lists
from tests.tolerances import SINGLE

REAL = Path(os.environ.get("FWL_DATA", "no such folder")) / "ranking" / "cranfield"

DOCUMENTS = token_lists(80, longest=25)
QUERIES = query_lists(25)
INDEX = index_of(DOCUMENTS)
RANKINGS = {
    "binary": (VectorSpace(INDEX, "binary"), lambda query: oracle.cosines(DOCUMENTS, query, "binary")),
    "tfidf": (VectorSpace(INDEX, "tfidf"), lambda query: oracle.cosines(DOCUMENTS, query, "tfidf")),
    "bm25": (BM25(INDEX), lambda query: oracle.bm25(DOCUMENTS, query)),
    "bm25 by other dials": (
        BM25(INDEX, k1=0.9, b=0.4, k3=2.0),
        lambda query: oracle.bm25(DOCUMENTS, query, k1=0.9, b=0.4, k3=2.0),
    ),
    "rm3": (RM3(INDEX), lambda query: oracle.rm3(DOCUMENTS, query)),
    "rm3 by other dials": (
        RM3(INDEX, documents=4, terms=7, original=0.2),
        lambda query: oracle.rm3(DOCUMENTS, query, believed=4, terms=7, original=0.2),
    ),
}
LARGER, LARGER_QUERIES = token_lists(400, longest=60, seed=1), query_lists(40, seed=1)


@pytest.mark.parametrize("name", RANKINGS)
def test_a_ranking_is_that_of_plain_loops(name):
    ranking, plain = RANKINGS[name]
    for query, hits in zip(QUERIES, ranking.search(QUERIES, workers=1), strict=True):
        expected = np.array(plain(query))
        assert set(hits.documents.tolist()) == set(oracle.best(expected))
        np.testing.assert_allclose(hits.scores, expected[hits.documents], rtol=SINGLE)
        # of scores that double precision tells apart by less than single does, either may come first
        np.testing.assert_allclose(hits.scores, expected[oracle.best(expected)], rtol=SINGLE)


def test_a_weighted_query_is_that_of_plain_loops():
    query = {"w3": 0.25, "w11": 2.0, "w40": 1.5}
    (found,) = BM25(INDEX, k3=1e12).score([query], [range(len(DOCUMENTS))], workers=1)
    np.testing.assert_allclose(found, oracle.weighted_bm25(DOCUMENTS, query), rtol=SINGLE)


@pytest.fixture(scope="module")
def peer():
    ranking = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    ranking.index(LARGER, show_progress=False)
    return ranking


def known_once(query, index):
    """bm25s has no k3, and wants to know every term."""
    return [term for term in dict.fromkeys(query) if term in index.numbers]


def test_bm25_scores_are_those_of_bm25s(peer):
    index = index_of(LARGER)
    queries = [known_once(query, index) for query in LARGER_QUERIES]
    ours = BM25(index).score(queries, [range(len(LARGER))] * len(queries), workers=1)
    for query, scores in zip(queries, ours, strict=True):
        np.testing.assert_allclose(scores, peer.get_scores(query) if query else 0.0, rtol=SINGLE, atol=1e-7)


def test_bm25_measures_are_those_of_bm25s(peer):
    index = index_of(LARGER)
    queries = {f"q{i}": known_once(query, index) for i, query in enumerate(LARGER_QUERIES)}
    queries = {name: query for name, query in queries.items() if query}
    hits = BM25(index).search(list(queries.values()), workers=1)
    run = {
        name: [(index.documents[number], float(score)) for number, score in zip(*its_hits, strict=True)]
        for name, its_hits in zip(queries, hits, strict=True)
    }
    judgments = judged(queries)
    ours = mean_over_queries(rank_measures(judgments, run, ["AP@1000", "nDCG@20"]))
    theirs = ir_measures.calc_aggregate(
        [ir_measures.AP @ 1000, ir_measures.nDCG @ 20], judgments, {name: peer_run(peer, queries[name]) for name in run}
    )
    for measure, value in theirs.items():
        assert ours[str(measure)] == pytest.approx(value, abs=5e-5)
    assert 0.2 < ours["AP@1000"] < 0.8


def judged(queries):
    """Documents that hold a query's rarest word are relevant, most of them: the measures have something to measure."""
    rng = Chance(0).child("judgments").numpy()
    grades = {}
    for name, query in queries.items():
        rarest = min(query, key=lambda term: oracle.holders(LARGER, term))
        grades[name] = {f"d{i}": int(rng.integers(0, 3)) for i, document in enumerate(LARGER) if rarest in document}
        grades[name][f"d{int(rng.integers(len(LARGER)))}"] = 1
    return grades


def peer_run(peer, query):
    """Of equal scores the first document, as with us; trec_eval would take the last id."""
    scores = peer.get_scores(query)
    order = [number for number in np.argsort(-scores, kind="stable")[:1000] if scores[number] > 0]
    return {f"d{number}": -float(place) for place, number in enumerate(order)}


@pytest.mark.parametrize("name", RANKINGS)
def test_workers_change_nothing(name):
    ranking, _ = RANKINGS[name]
    many = QUERIES * 5
    for one, other in zip(ranking.search(many, workers=1), ranking.search(many, workers=4), strict=True):
        assert np.array_equal(one.documents, other.documents)
        assert np.array_equal(one.scores, other.scores)


@pytest.mark.parametrize("memory_mb", [0.002, 0.05])
def test_an_index_written_in_pieces_is_the_one_made_in_memory(tmp_path, memory_mb):
    named = [(f"d{i}", tokens) for i, tokens in enumerate(LARGER)]
    made, written = InvertedIndex.of(named), InvertedIndex.write(iter(named), tmp_path / "i", memory_mb=memory_mb)
    assert list(made.documents) == list(written.documents)
    assert list(made.terms) == list(written.terms)
    assert np.array_equal(made.lengths, written.lengths)
    for one, other in zip(made.postings.arrays, written.postings.arrays, strict=True):
        assert np.array_equal(one, other)
    for kind in (BM25, RM3, VectorSpace):
        for one, other in zip(*(kind(index).search(QUERIES, 50, workers=1) for index in (made, written)), strict=True):
            assert np.array_equal(one.documents, other.documents)
            assert np.array_equal(one.scores, other.scores)


@pytest.mark.skipif(not REAL.is_dir(), reason="needs the ranking data; name its folder in FWL_DATA")
def test_on_cranfield_the_annotators_are_as_good_as_is_known():
    collection, analyser = BeirFolder(REAL), Analyser()
    index = InvertedIndex.of((document.id, analyser.tokens(document.whole)) for document in collection.documents())
    judgments = collection.judgments().answerable().binary()
    queries = [query for query in collection.queries() if query.id in judgments]
    tokens = [analyser.tokens(query.text) for query in queries]
    values = {}
    for kind in (BM25, RM3):
        hits = kind(index).search(tokens, workers=1)
        run = {
            query.id: [(index.documents[number], float(score)) for number, score in zip(*its_hits, strict=True)]
            for query, its_hits in zip(queries, hits, strict=True)
        }
        values[kind] = mean_over_queries(rank_measures(judgments, run))["AP@1000"]
    assert values[BM25] == pytest.approx(0.305, abs=0.01)
    assert values[RM3] >= values[BM25]


@pytest.mark.parametrize("make", [BM25, RM3, VectorSpace, lambda index: VectorSpace(index, "binary")])
@pytest.mark.parametrize("k", [1, 3, 20])
def test_the_best_few_are_the_beginning_of_all_to_the_bit(make, k):
    """Postings that cannot bring a document among the best few are passed over; nothing else may change."""
    ranking = make(index_of(LARGER))
    everything = ranking.search(LARGER_QUERIES, k=len(LARGER), workers=1)
    for few, whole in zip(ranking.search(LARGER_QUERIES, k=k, workers=1), everything, strict=True):
        assert np.array_equal(few.documents, whole.documents[:k])
        assert np.array_equal(few.scores, whole.scores[:k])
