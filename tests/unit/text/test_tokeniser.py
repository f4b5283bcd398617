import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwl.errors import InvalidInput
from fwl.text import tokenise, tokenise_all
from tests.properties import PROPERTY
from tests.refusals import expect_refusal

CUT = {
    "": [],
    " \t\n": [],
    "Good DAY": ["good", "day"],
    "I'm sure you can’t": ["i'm", "sure", "you", "can't"],
    "a well-known fact - really": ["a", "well-known", "fact", "-", "really"],
    "sooooo coool, NOOOO": ["soo", "cool", ",", "noo"],
    "1000 points, 3.39 of 10:30 and 1,000,000": ["1000", "points", ",", "3.39", "of", "10:30", "and", "1,000,000"],
    "what?!?!?! no..... ok.": ["what", "?!?", "no", "...", "ok", "."],
    "wait…what": ["wait", "...", "what"],
    "see http://t.co/Abc, www.site.de/x?y=1 now": ["see", "<url>", ",", "<url>", "now"],
    "pic.twitter.com/abc on bbc.co.uk/news, Example.COM": ["<url>", "on", "<url>", ",", "<url>"],
    "I got home.me too": ["i", "got", "home", ".", "me", "too"],
    "RT @Some_One: hi @you!": ["rt", "<user>", ":", "hi", "<user>", "!"],
    "joe@mail.org": ["joe", "@", "<url>"],
    "#Win #so_happyyyy # @": ["#win", "#so_happyy", "#", "@"],
    "already <user> and <url>": ["already", "<user>", "and", "<url>"],
    "Q&amp;A &lt;3 &quot;x&quot; &#39;": ["q", "&", "a", "<3", '"', "x", '"', "'"],
    "“yes” ‘no’": ['"', "yes", '"', "'", "no", "'"],
    "great:) fine :-( :'( =] ;)))": ["great", ":)", "fine", ":-(", ":'(", "=]", ";)))"],
    "re:David 2:3 (8) <30 a=3": ["re", ":", "david", "2:3", "(", "8", ")", "<", "30", "a", "=", "3"],
    "nice 😀😀 ❤️": ["nice", "😀", "😀", "❤"],
    "👩‍👩‍👧 👍🏽 🇬🇧🇩🇪": ["👩‍👩‍👧", "👍🏽", "🇬🇧", "🇩🇪"],
    "Cafe\u0301 क्षत्रिय ПРИВЕТ": ["cafe\u0301", "क्षत्रिय", "привет"],
    "zero\u200bwidth \x00": ["zero", "width"],
    "snake_case _x_": ["snake_case", "_", "x"],
}


@pytest.mark.parametrize(("text", "tokens"), CUT.items())
def test_a_text_is_cut_as_said(text, tokens):
    assert tokenise(text) == tokens


@pytest.mark.parametrize(
    "text", ["XD xDD :D :P :p :3 D: 8) (: ): :/ :|", "<3 </3 <33 ^_^ ^^ -_- -__- >_< >.< o_O T_T O.o", ":-D :'D ;-) =P"]
)
def test_emoticons_stay_as_written(text):
    assert tokenise(text) == text.split()


def test_many_texts_are_cut_one_by_one():
    assert tokenise_all(["so good", "", "no"]) == [["so", "good"], [], ["no"]]
    assert tokenise_all(np.array(["so good"])) == [["so", "good"]]
    assert tokenise_all([]) == []


PIECES = [":", ")", "(", "D", "8", "-", "_", "^", "<", "3", "x", "O", "@a", "#B", "http://", "www.", ".com", "/", "'"]
PIECES += [
    "!",
    "?",
    ".",
    "…",
    "&",
    "amp;",
    "1",
    ",",
    "aaa",
    " ",
    "é",
    "\u0301",
    "😀",
    "\ufe0f",
    "\u200d",
    "’",
    "=",
    "İ",
]
ANY_TEXT = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(PIECES), max_size=14).map("".join))


@PROPERTY
@given(text=ANY_TEXT)
def test_tokens_are_cut_no_further(text):
    tokens = tokenise(text)
    assert tokenise(" ".join(tokens)) == tokens


@PROPERTY
@given(text=ANY_TEXT)
def test_no_token_is_empty_or_holds_space(text):
    assert all(token and token == "".join(token.split()) for token in tokenise(text))


@PROPERTY
@given(text=st.text(st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="&"), max_size=30))
def test_only_a_blank_text_has_no_token(text):
    assert bool(tokenise(text)) == bool(text.strip())


HOSTILE = [
    "a",
    "a.",
    "a-",
    "'",
    "-_",
    ":-",
    "<",
    "http://",
    "www.",
    "!?",
    "@",
    "#",
    "(:",
    "😀",
    "😀\u200d",
    "1,",
    "&amp;",
]
HOSTILE += ["&", "a.b", "D", "^_", ">.", "=", "8-", "_", "x_", "a'"]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_text_takes_linear_time(piece):
    started = time.process_time()
    tokenise(piece * 100_000)
    assert time.process_time() - started < 3  # it takes 0.1 s; anything quadratic takes hours


def test_what_is_no_text_is_refused():
    with expect_refusal(
        InvalidInput, "tokenise: expected a text, got the NoneType None; for many texts use tokenise_all"
    ):
        tokenise(None)
    with expect_refusal(
        InvalidInput, "tokenise: expected a text, got the bytes b'good'; for many texts use tokenise_all"
    ):
        tokenise(b"good")


def test_the_row_that_is_no_text_is_named():
    with expect_refusal(InvalidInput, "texts: expected a text in row 2, got the float nan; drop or fill it first"):
        tokenise_all(["a", "b", float("nan")])


def test_a_long_value_is_quoted_in_part():
    with expect_refusal(
        InvalidInput,
        "texts: expected a text in row 0, got the list ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...; drop or fill it first",
    ):
        tokenise_all([["a" * 100]])


def test_one_text_is_no_list_of_texts():
    with expect_refusal(InvalidInput, "texts: expected a list of texts, got the text 'so good'; put it in a list"):
        tokenise_all("so good")
