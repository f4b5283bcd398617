import numpy as np
import pytest

from fwl.annotate import InvertedIndex, VectorSpace
from fwl.errors import UnknownName
from tests.refusals import expect_refusal

DOCUMENTS = [["good", "day", "good"], ["day"], ["day", "night", "light"], []]
INDEX = InvertedIndex.of((f"d{i}", tokens) for i, tokens in enumerate(DOCUMENTS))


def scores(query, weights):
    return VectorSpace(INDEX, weights).score([query], [[0, 1, 2, 3]], workers=1)[0]


def test_binary_cosine_counts_common_words():
    expected = [1 / np.sqrt(2 * 2), 0.0, 1 / np.sqrt(2 * 3), 0.0]
    assert scores(["good", "night"], "binary") == pytest.approx(expected, rel=1e-6)
    assert scores(["good", "good", "night"], "binary") == pytest.approx(expected, rel=1e-6)


def test_tfidf_cosine_weighs_rare_words_and_repetition():
    good, day = (1 + np.log(2)) * np.log(4), np.log(4 / 3)
    assert scores(["good"], "tfidf")[0] == pytest.approx(good / np.hypot(good, day), rel=1e-6)
    assert scores(["good"], "tfidf")[1:].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("weights", ["binary", "tfidf"])
@pytest.mark.parametrize("document", [0, 1, 2])
def test_a_document_is_like_itself_alone(weights, document):
    found = scores(DOCUMENTS[document], weights)
    assert found[document] == pytest.approx(1.0, rel=1e-6)
    assert found.max() == found[document]


@pytest.mark.parametrize("weights", ["binary", "tfidf"])
def test_words_that_no_document_holds_change_nothing(weights):
    assert np.array_equal(scores(["good", "nowhere"], weights), scores(["good"], weights))


def test_a_word_of_every_document_weighs_nothing_in_tfidf():
    index = InvertedIndex.of([("a", ["the", "wing"]), ("b", ["the"]), ("c", ["the"])])
    (hits,) = VectorSpace(index).search([["the"]], workers=1)
    assert hits.documents.tolist() == []
    (hits,) = VectorSpace(index).search([["the", "wing"]], workers=1)
    assert (hits.documents.tolist(), hits.scores.tolist()) == ([0], [1.0])


def test_weights_given_take_the_place_of_counts():
    assert scores({"good": 3.0}, "tfidf") == pytest.approx(scores(["good"], "tfidf"), rel=1e-6)
    mixed = scores({"good": 1.0, "night": 3.0}, "binary")
    assert mixed[0] == pytest.approx(1 / np.sqrt(10 * 2), rel=1e-6)
    assert mixed[2] == pytest.approx(3 / np.sqrt(10 * 3), rel=1e-6)


def test_an_unknown_weight_is_refused():
    with expect_refusal(UnknownName, "unknown weights 'tf-idf'; did you mean 'tfidf'? known: binary, tfidf"):
        VectorSpace(INDEX, "tf-idf")
