import numpy as np
import pytest

from fwl.annotate import BM25, RM3
from fwl.errors import InvalidInput
from tests.oracles import retrieval as oracle
from tests.refusals import expect_refusal
from tests.retrieval import index_of, token_lists
from tests.tolerances import SINGLE

DOCUMENTS = token_lists(60, longest=20)
INDEX = index_of(DOCUMENTS)
QUERY = ["w3", "w10", "w3", "w40"]


def mixture(**settings):
    """The widened query, term -> weight, without the idf that it is multiplied with."""
    ranking = RM3(INDEX, **settings)
    bags = ranking.bags([QUERY], workers=1)
    idf = BM25(INDEX).idf[bags.terms]
    return {INDEX.terms[term]: weight for term, weight in zip(bags.terms, bags.weights / idf, strict=True)}


@pytest.mark.parametrize("settings", [{}, {"documents": 3, "terms": 2}, {"documents": 60, "terms": 500}])
@pytest.mark.parametrize("original", [0.0, 0.3, 1.0])
def test_the_mixture_is_that_of_the_definition(settings, original):
    named = {{"documents": "believed"}.get(name, name): value for name, value in settings.items()}
    expected = oracle.rm3_query(DOCUMENTS, QUERY, original=original, **named)
    found = mixture(original=original, **settings)
    assert found.keys() == {term for term, weight in expected.items() if weight > 0}
    for term, weight in found.items():
        assert weight == pytest.approx(expected[term], rel=SINGLE)
    assert sum(found.values()) == pytest.approx(1.0, rel=SINGLE)


def test_the_query_alone_ranks_as_bm25_does():
    alone = RM3(INDEX, original=1.0).search([QUERY], workers=1)[0]
    plain = BM25(INDEX, k3=1e12).search([QUERY], workers=1)[0]
    assert np.array_equal(alone.documents, plain.documents)
    assert alone.scores * 4 == pytest.approx(plain.scores, rel=SINGLE)


def test_documents_are_found_that_share_no_word_with_the_query():
    texts = [["heat", "flux"], ["flux", "flux"], ["other"]]
    index = index_of(texts)
    assert BM25(index).search([["heat"]], workers=1)[0].documents.tolist() == [0]
    assert RM3(index).search([["heat"]], workers=1)[0].documents.tolist() == [0, 1]


def test_dials_of_bm25_reach_it():
    one = RM3(INDEX, original=1.0, k1=0.4, b=0.1).search([["w3"]], workers=1)[0]
    other = BM25(INDEX, k1=0.4, b=0.1).search([["w3"]], workers=1)[0]
    assert np.array_equal(one.documents, other.documents)
    assert one.scores == pytest.approx(other.scores, rel=SINGLE)


@pytest.mark.parametrize(("documents", "terms"), [(0, 10), (10, 0)])
def test_believing_nothing_is_refused(documents, terms):
    with expect_refusal(InvalidInput, f"documents and terms: expected at least 1 of each, got {documents} and {terms}"):
        RM3(INDEX, documents, terms)


@pytest.mark.parametrize("original", [-0.1, 1.5, float("nan")])
def test_a_wrong_share_is_refused(original):
    with expect_refusal(InvalidInput, f"original: expected a share from 0 to 1, got {original}"):
        RM3(INDEX, original=original)
