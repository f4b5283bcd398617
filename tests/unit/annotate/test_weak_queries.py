import numpy as np
import pytest

from fwl.annotate import BM25, InvertedIndex, kept_queries, weak_queries
from fwl.errors import InvalidInput
from fwl.text import Analyser
from tests.refusals import expect_refusal

PLAIN = Analyser(stemmer="")
# "common" is in all 12 documents, "half" in 6, "rare" in 1
DOCUMENTS = [["common", *["half"][: number % 2], *["rare"][: number == 0]] for number in range(12)]


@pytest.fixture(scope="module")
def bm25():
    return BM25(InvertedIndex.of((f"d{i}", tokens) for i, tokens in enumerate(DOCUMENTS)))


def kept(texts, annotator, **options):
    return kept_queries(texts, PLAIN, annotator, workers=1, **options)


def test_queries_that_find_enough_are_kept_with_what_they_find(bm25):
    queries = kept(["Common!", "rare", "half", "rare common"], bm25)
    assert queries.texts == ("common", "rare common")
    assert queries.tokens == (["common"], ["rare", "common"])
    assert [len(hits.documents) for hits in queries.hits] == [12, 12]
    alone = bm25.search([["rare", "common"]], workers=1)[0]
    assert np.array_equal(queries.hits[1].documents, alone.documents)
    assert np.array_equal(queries.hits[1].scores, alone.scores)
    assert len(queries) == 2


def test_what_is_left_out_is_counted(bm25):
    texts = ["common", "www.common.com", "the", "???", "common common", "rare common", "common rare", "COMMON", "half"]
    queries = kept(texts, bm25)
    assert queries.texts == ("common", "common common", "rare common")
    assert (queries.empty, queries.repeated, queries.scarce) == (3, 2, 1)
    assert str(queries) == ("3 of 9 weak queries kept; 3 hold no term or an address, 2 came before, 1 find too little")


def test_enough_is_what_was_asked_for(bm25):
    assert kept(["half", "rare"], bm25, at_least=6).texts == ("half",)
    assert kept(["half", "rare"], bm25, at_least=1).texts == ("half", "rare")
    assert [len(hits.documents) for hits in kept(["half"], bm25, at_least=2, hits=3).hits] == [3]


def test_a_stream_is_read_until_there_are_enough(bm25, monkeypatch):
    monkeypatch.setattr(weak_queries, "AT_ONCE", 2)
    read = []

    def stream():
        for number in range(100):
            read.append(number)
            yield "common " * (number + 1) if number % 2 else "rare " * (number + 1)

    queries = kept(stream(), bm25, most=3)
    assert queries.texts == tuple(" ".join(["common"] * n) for n in (2, 4, 6))
    assert len(read) == 6
    assert queries.scarce == 3


def test_how_many_are_asked_at_once_changes_nothing(bm25, monkeypatch):
    texts = [" ".join(["common"] * n) for n in range(1, 9)]
    together = kept(texts, bm25, most=5)
    monkeypatch.setattr(weak_queries, "AT_ONCE", 3)
    apart = kept(texts, bm25, most=5)
    assert apart.texts == together.texts == tuple(texts[:5])
    for one, other in zip(apart.hits, together.hits, strict=True):
        assert np.array_equal(one.scores, other.scores)


def test_queries_that_find_too_little_are_refused_all_together(bm25):
    with expect_refusal(
        InvalidInput,
        "weak queries: none of 3 finds 10 of 12 documents; give others, or ask for fewer hits",
    ):
        kept(["rare", "half", ""], bm25)


@pytest.mark.parametrize(("at_least", "most"), [(0, 1000), (11, 10)])
def test_a_wrong_number_of_hits_is_refused(bm25, at_least, most):
    with expect_refusal(
        InvalidInput, f"at_least: expected from 1 to {most}, the most hits that are kept, got {at_least}"
    ):
        kept(["common"], bm25, at_least=at_least, hits=most)


def test_keeping_none_is_refused(bm25):
    with expect_refusal(InvalidInput, "most: expected at least 1 query to keep, or None for all, got 0"):
        kept(["common"], bm25, most=0)
