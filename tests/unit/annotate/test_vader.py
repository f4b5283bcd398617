import sys

import numpy as np
import pytest

from fwl.annotate import Annotator, Vader
from fwl.annotate import vader as module
from fwl.errors import InvalidInput
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA

TEXTS = ["What a GREAT day!!! :)", "This is a table.", "I hate this, it is horrible", ""]


class Scores:
    """Stands in for VADER: the text is its compound score."""

    def polarity_scores(self, text):
        return {"compound": float(text)}


@pytest.fixture
def scores(monkeypatch):
    monkeypatch.setattr(module, "_analyser", Scores)


def test_raw_texts_get_one_class_each():
    pytest.importorskip("vaderSentiment")
    vader: Annotator = Vader()
    np.testing.assert_array_equal(vader.annotate(TEXTS), [[0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 0]])


def test_soft_labels_are_distributions_that_agree():
    pytest.importorskip("vaderSentiment")
    soft = Vader(soft=True).annotate(TEXTS)
    np.testing.assert_allclose(soft.sum(axis=1), 1, rtol=0, atol=ALGEBRA)
    np.testing.assert_array_equal(soft.argmax(axis=1), Vader().annotate(TEXTS).argmax(axis=1))


@pytest.mark.usefixtures("scores")
def test_the_border_belongs_to_the_sides():
    texts = ["0.05", "0.0499", "-0.05", "-0.0499", "0", "1", "-1"]
    classes = [2, 1, 0, 1, 1, 2, 0]
    for vader in (Vader(), Vader(soft=True)):
        np.testing.assert_array_equal(vader.annotate(texts).argmax(axis=1), classes)


@pytest.mark.usefixtures("scores")
def test_soft_shares_rise_in_two_straight_lines():
    label = Vader(threshold=0.2, soft=True).annotate(["0", "0.1", "0.2", "0.6", "1", "-0.6"])
    expected = [[0, 1, 0], [0, 0.75, 0.25], [0, 0.5, 0.5], [0, 0.25, 0.75], [0, 0, 1], [0.75, 0.25, 0]]
    np.testing.assert_allclose(label, expected, rtol=0, atol=ALGEBRA)


@pytest.mark.usefixtures("scores")
def test_another_threshold_moves_the_border():
    np.testing.assert_array_equal(Vader(threshold=0.5).annotate(["0.4", "0.5"]), [[0, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize("threshold", [0, 1, -0.05, float("nan")])
def test_a_threshold_that_cannot_be_is_refused(threshold):
    with expect_refusal(InvalidInput, f"threshold: expected a number between 0 and 1, got {threshold}"):
        Vader(threshold=threshold)


def test_samples_that_are_no_texts_are_refused():
    with expect_refusal(InvalidInput, "texts: expected a text in row 0, got the NoneType None; drop or fill it first"):
        Vader().annotate([None])
    with expect_refusal(InvalidInput, "texts: the set is empty, expected at least one"):
        Vader().annotate([])


def test_without_vader_its_extra_is_named(monkeypatch):
    module._analyser.cache_clear()
    monkeypatch.setitem(sys.modules, "vaderSentiment.vaderSentiment", None)
    with expect_refusal(InvalidInput, "Vader needs vaderSentiment; install it with: pip install 'fwl[text]'"):
        Vader().annotate(["good"])
