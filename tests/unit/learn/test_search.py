import numpy as np
import pytest
from tests.refusals import expect_refusal
from tests.retrieval import index_of

from fwl.errors import InvalidInput
from fwl.learn import search
from fwl.learn.search import Search
from fwl.learn.search_auto import Fusion, SearchModel
from fwl.learn.searcher import Searcher
from fwl.text import Analyser

TEXTS = ["wing wing", "flat plate", "", "wing plate"]
QUERIES = ["wing", "plate", "turbine", "wing plate"]


def encode(texts):
    """A column for each of three words, and one for all texts."""
    return np.array([[text.count("wing"), text.count("plate"), text.count("flat"), 1.0] for text in texts], np.float32)


def searching(dense: float = 0.0) -> Search:
    analyser = Analyser(stemmer="")
    index = index_of([analyser.tokens(text) for text in TEXTS], analyser=analyser.settings())
    vectors = encode(TEXTS)
    vectors[2] = 0.0
    searcher = Searcher(index, vectors, encode) if dense else Searcher(index)
    return Search(searcher, SearchModel(Fusion("bm25", dense), None, None))


def numbers(search: Search, *texts: str, depth: int = 9) -> list[list[int]]:
    return [documents.tolist() for documents, _ in search.ranked(texts, depth)]


def test_every_query_gets_its_documents_the_best_first():
    assert numbers(searching(), *QUERIES) == [[0, 3], [1, 3], [], [3, 0, 1]]
    for _, scores in searching().ranked(QUERIES):
        assert (np.diff(scores) <= 0).all()


def test_some_queries_at_a_time_are_ranked_as_all(monkeypatch):
    expected = numbers(searching(), *QUERIES)
    for at_once in (1, 4, 8):
        monkeypatch.setattr(search, "AT_ONCE", at_once)
        assert numbers(searching(), *QUERIES) == expected


def test_no_more_are_told_than_asked_for():
    assert numbers(searching(), *QUERIES, depth=1) == [[0], [1], [], [3]]


def test_vectors_find_everything_but_what_says_nothing():
    found = numbers(searching(dense=1.0), *QUERIES)
    assert [sorted(row) for row in found] == [[0, 1, 3]] * 4
    assert found[1][0] == 1


@pytest.mark.parametrize("depth", [0, -1])
def test_a_depth_of_nothing_is_refused_at_once(depth):
    with expect_refusal(InvalidInput, f"depth: expected at least 1 document, got {depth}"):
        searching().ranked(QUERIES, depth)
