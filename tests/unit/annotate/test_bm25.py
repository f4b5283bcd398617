import numpy as np
import pytest

from fwl.annotate import BM25, InvertedIndex
from fwl.errors import InvalidInput
from tests.refusals import expect_refusal
from tests.retrieval import index_of

# Lengths 3, 1 and 2: the third has the mean one.
INDEX = InvertedIndex.of([("one", ["good", "day", "good"]), ("two", ["day"]), ("three", ["day", "night"])])


def scores(query, **settings):
    return BM25(INDEX, **settings).score([query], [[0, 1, 2]], workers=1)[0]


def test_a_score_is_the_formula():
    idf_night, idf_day = np.log(1 + 2.5 / 1.5), np.log(1 + 0.5 / 3.5)
    expected = idf_night / (1 + 1.2) + idf_day / (1 + 1.2)
    assert scores(["night", "day"])[2] == pytest.approx(expected, rel=1e-6)
    assert scores(["good"])[0] == pytest.approx(idf_night * 2 / (2 + 1.2 * (0.25 + 0.75 * 3 / 2)), rel=1e-6)


def test_without_b_the_length_does_not_matter():
    found = scores(["day"], b=0.0)
    assert found[0] == found[1] == found[2]
    shortest_first = scores(["day"], b=1.0)
    assert shortest_first[1] > shortest_first[2] > shortest_first[0]


def test_without_k1_occurrences_do_not_matter():
    found = scores(["good", "night"], k1=0.0)
    assert found[0] == found[2]


def test_k3_says_how_far_repetition_in_the_query_counts():
    once = scores(["night"])[2]
    assert scores(["night"], k3=0.0)[2] == once
    assert scores(["night", "night"], k3=0.0)[2] == once
    assert scores(["night", "night"], k3=1000.0)[2] == pytest.approx(once * 1001 * 2 / 1002, rel=1e-6)
    assert scores(["night", "night"], k3=1e12)[2] == pytest.approx(2 * once, rel=1e-6)


def test_a_term_of_every_document_still_counts():
    assert (scores(["day"]) > 0).all()


def test_the_best_document_is_the_one_that_says_it_most():
    (hits,) = BM25(index_of([["a"], ["a", "a"], ["b", "a"], ["c"]])).search([["a"]], workers=1)
    assert hits.documents.tolist() == [1, 0, 2]


def test_occurrences_beyond_what_is_told_apart_change_nothing():
    index = index_of([["a"] * 65535, ["a"] * 65536, ["b"]])
    (found,) = BM25(index, b=0.0).score([["a"]], [[0, 1]], workers=1)
    assert found[0] == found[1]


@pytest.mark.parametrize(("k1", "k3"), [(-1.0, 2.0), (1.2, -0.1), (float("inf"), 1.0), (1.0, float("nan"))])
def test_wrong_dials_are_refused(k1, k3):
    with expect_refusal(InvalidInput, f"k1 and k3: expected finite numbers from 0 up, got {k1} and {k3}"):
        BM25(INDEX, k1=k1, k3=k3)


@pytest.mark.parametrize("b", [-0.1, 1.1, float("nan")])
def test_a_wrong_share_of_the_length_is_refused(b):
    with expect_refusal(InvalidInput, f"b: expected a number from 0 to 1, got {b}"):
        BM25(INDEX, b=b)
