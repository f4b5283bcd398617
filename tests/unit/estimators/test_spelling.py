import numpy as np
import pytest

from fwl.estimators import spelling
from fwl.estimators.spelling import Spelling, fit_spelling
from fwl.randomness import Chance
from fwl.teach.state import State

TEXTS = ["subscribe to my channel", "Please subscribe!", "lovely song", "this song is the loveliest"] * 5


@pytest.fixture(scope="module")
def fitted():
    return fit_spelling(TEXTS, Chance(0))


def near(fitted, one, other):
    a, b = fitted.vectors([one, other])
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_texts_are_alike_that_share_no_word_but_pieces_of_them(fitted):
    assert near(fitted, "subscriber", "subscribed") > 0.9
    assert near(fitted, "subscriber", "loveliness") < 0.3


def test_case_does_not_count(fitted):
    assert np.array_equal(*fitted.vectors(["SUBSCRIBE", "subscribe"])[:, None])


def test_columns_have_variance_one_on_average(fitted):
    assert fitted.vectors(TEXTS).var(axis=0).mean() == pytest.approx(1.0)


def test_a_vector_is_the_same_in_whatever_chunk_it_is_made(fitted, monkeypatch):
    whole = fitted.vectors(TEXTS)
    monkeypatch.setattr(spelling, "CHUNK", 3)
    assert np.array_equal(whole, fitted.vectors(TEXTS))
    assert fitted.vectors([]).shape == (0, whole.shape[1])


def test_it_is_revived_from_its_state(fitted):
    again = Spelling.from_state(fitted.state())
    assert again is not None
    assert np.array_equal(fitted.vectors(TEXTS), again.vectors(TEXTS))


@pytest.mark.parametrize("part", ["piece_idf", "piece_directions"])
def test_a_state_whose_parts_do_not_fit_together_is_refused(fitted, part):
    state = fitted.state()
    damaged = State(state.settings, {**state.arrays, part: state.arrays[part][1:]})
    with pytest.raises(ValueError, match=r"idf length|mismatch"):
        Spelling.from_state(damaged)


def test_of_many_pieces_the_frequent_ones_are_known(monkeypatch):
    monkeypatch.setattr(spelling, "PIECES", 1)
    assert fit_spelling(["ab ac ad", "ae"], Chance(0)).pieces == (" a",)


def test_of_many_texts_some_are_enough(monkeypatch):
    monkeypatch.setattr(spelling, "ROWS", 4)
    some = fit_spelling([f"word{i}" for i in range(50)], Chance(0))
    assert np.exp(some.idf.max() - 1) == pytest.approx((1 + 4) / (1 + 1))  # pieces in one text of four


def test_an_endless_text_is_read_in_part(fitted):
    long = "song " * 2_000_000
    assert np.array_equal(fitted.vectors([long]), fitted.vectors([long[: spelling.CHARACTERS]]))


@pytest.mark.parametrize("texts", [["", "   "], ["\n"]])
def test_blank_texts_have_no_spelling(texts):
    assert fit_spelling(texts, Chance(0)) is None
