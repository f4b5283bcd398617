import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwl.errors import InvalidInput
from fwl.randomness import Chance
from fwl.text.drawing import Drawing
from tests.properties import PROPERTY
from tests.refusals import expect_refusal

TEXTS = st.lists(st.text("abc", max_size=3), max_size=40)


def drawn(texts, n, seed=0):
    drawing = Drawing(n, Chance(seed))
    for text in texts:
        drawing.offer(text)
    return drawing.taken()


@PROPERTY
@given(TEXTS, st.integers(1, 12), st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_matters(texts, n, random):
    again = texts + texts
    random.shuffle(again)
    assert drawn(again, n) == drawn(texts, n)


@PROPERTY
@given(TEXTS, st.integers(1, 12), st.integers(0, 12))
def test_more_begin_with_the_fewer_and_all_are_different(texts, n, more):
    fewer, longer = drawn(texts, n), drawn(texts, n + more)
    assert longer[: len(fewer)] == fewer
    assert len(set(longer)) == len(longer) == min(n + more, len(set(texts) - {""}))
    assert set(longer) <= set(texts) - {""}


def test_each_is_as_likely_as_any_other():
    texts = [f"t{i}" for i in range(10)]
    counts = np.zeros(10)
    for seed in range(600):
        counts[[texts.index(text) for text in drawn(texts, 3, seed)]] += 1
    expected, deviation = 180.0, np.sqrt(600 * 0.3 * 0.7)
    assert np.abs(counts - expected).max() < 4 * deviation


def test_the_seed_decides():
    texts = [f"t{i}" for i in range(50)]
    assert drawn(texts, 5, seed=1) == drawn(texts, 5, seed=1)
    assert drawn(texts, 5, seed=1) != drawn(texts, 5, seed=2)


@pytest.mark.parametrize("n", [0, -1])
def test_drawing_nothing_is_refused(n):
    with expect_refusal(InvalidInput, f"texts: expected to draw at least 1, got {n}"):
        Drawing(n, Chance(0))
