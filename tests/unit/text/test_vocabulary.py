import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwl.errors import InvalidInput
from fwl.text import Vocabulary
from tests.properties import PROPERTY
from tests.refusals import expect_refusal

TEXTS = [["b", "a", "c"], ["a", "b", "a"], ["d"]]
TOKENS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), max_size=6)


def test_words_come_by_frequency_and_then_by_the_alphabet():
    assert Vocabulary.of(TEXTS, at_least=1).words == ("a", "b", "c", "d")
    assert Vocabulary.of(TEXTS[::-1], at_least=1).words == ("a", "b", "c", "d")


def test_rare_words_go():
    assert Vocabulary.of(TEXTS).words == ("a", "b")
    assert Vocabulary.of(TEXTS, at_least=3).words == ("a",)


def test_kept_words_stay_however_rare():
    assert Vocabulary.of(TEXTS, keep={"d", "never"}).words == ("a", "b", "d", "never")


def test_the_rarest_go_where_there_is_no_room():
    assert Vocabulary.of(TEXTS, at_least=1, largest=2).words == ("a", "b")
    assert Vocabulary.of(TEXTS, at_least=1, keep={"d"}, largest=2).words == ("a", "d")


def test_ids_leave_two_for_padding_and_the_unknown():
    vocabulary = Vocabulary(("a", "b"))
    assert len(vocabulary) == 4
    assert "a" in vocabulary
    assert "z" not in vocabulary
    ids = vocabulary.ids([["a", "z", "b"], ["b"], [], ["a"] * 9], length=4)
    assert ids.dtype == np.int32
    assert ids.tolist() == [[2, 1, 3, 0], [3, 0, 0, 0], [1, 0, 0, 0], [2, 2, 2, 2]]


def test_no_texts_have_no_rows():
    assert Vocabulary(("a",)).ids([], length=3).shape == (0, 3)


def test_a_vocabulary_is_a_value():
    assert Vocabulary(["a"]) == Vocabulary(("a",)) != Vocabulary(("b",))
    assert repr(Vocabulary(("a",))) == "Vocabulary(words=('a',))"


@PROPERTY
@given(texts=TOKENS, at_least=st.integers(1, 3), length=st.integers(1, 8))
def test_no_row_is_all_padding_and_padding_only_follows(texts, at_least, length):
    ids = Vocabulary.of(texts, at_least).ids(texts, length)
    assert ids.shape == (len(texts), length)
    assert (ids[:, 0] > 0).all()
    assert ((ids[:, 1:] == 0) >= (ids[:, :-1] == 0)).all()


@PROPERTY
@given(texts=TOKENS, length=st.integers(1, 8))
def test_ids_can_be_read_back(texts, length):
    vocabulary = Vocabulary.of(texts, at_least=1)
    for tokens, row in zip(texts, vocabulary.ids(texts, length), strict=True):
        assert [vocabulary.words[number - 2] for number in row if number > 1] == tokens[:length]


@PROPERTY
@given(texts=TOKENS, largest=st.integers(2, 6))
def test_largest_is_never_exceeded_and_the_kept_are_there(texts, largest):
    words = Vocabulary.of(texts, at_least=1, keep={"a", "q"}, largest=largest).words
    assert {"a", "q"} <= set(words)
    assert len(words) <= largest


REFUSALS = [
    (lambda: Vocabulary(("a", "b", "a")), "vocabulary: expected every word once, got 'a' more often"),
    (lambda: Vocabulary.of(TEXTS, at_least=0), "at_least: a word occurs at least once, got 0"),
    (lambda: Vocabulary.of(TEXTS, largest=0), "largest: expected room for 1 words or more, got 0"),
    (
        lambda: Vocabulary.of(TEXTS, keep=("x", "y"), largest=1),
        "largest: expected room for 2 words or more, got 1",
    ),
    (lambda: Vocabulary(("a",)).ids(TEXTS, 0), "length: a text has room for at least 1 token, got 0"),
]


@pytest.mark.parametrize(("ask", "message"), REFUSALS)
def test_what_cannot_be_is_refused(ask, message):
    with expect_refusal(InvalidInput, message):
        ask()
