import json
import sys

import pytest

from fwl.errors import InvalidInput
from fwl.text import Analyser, analyser
from fwl.text.analyser import STOP_WORDS
from tests.refusals import expect_refusal

PLAIN = Analyser(stop_words=False, stemmer="")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        (" \n\t.,;!", []),
        ("Wing-body DC-8", ["wing", "body", "dc", "8"]),
        ("snake_case __x__", ["snake", "case", "x"]),
        ("company's companies' O'Neill's", ["company", "companies", "oneill"]),
        ("the pilot’s 'quoted' words", ["the", "pilot", "quoted", "words"]),
        ("a''b ' ' '", ["a", "b"]),
        ("Café CAFE\u0301 Straße Ωμέγα", ["café", "café", "straße", "ωμέγα"]),
        ("ﬁne ｆｕｌｌ １２", ["fine", "full", "12"]),
        ("飛行機 3.14 10,000", ["飛行機", "3", "14", "10", "000"]),
    ],
)
def test_words_are_runs_of_letters_and_digits(text, terms):
    assert PLAIN.tokens(text) == terms


def test_terms_hold_letters_and_digits_alone():
    text = "".join(map(chr, range(0x20, 0x2FF))) + " don't_go x'y'z ’a’ b’c"
    assert all(term.isalnum() for term in PLAIN.tokens(text))


def test_stop_words_are_dropped_before_stemming():
    assert Analyser(stemmer="").tokens("The wings, and who's there? It isn’t his!") == ["wings"]
    assert Analyser().tokens("this hissing") == ["hiss"]  # `thi` and `hi` would not be stop words


def test_a_possessive_stop_word_is_one_too():
    assert Analyser(stemmer="").tokens("other's how's") == []


def test_words_that_name_things_stay():
    assert Analyser().tokens("vitamin D and T cells in the US") == ["vitamin", "d", "t", "cell", "us"]


def test_words_become_stems():
    assert Analyser().tokens("aerodynamically heated wings") == ["aerodynam", "heat", "wing"]
    assert Analyser(stop_words=False).tokens("the heating") == ["the", "heat"]


def test_the_stop_words_are_few_and_lower_case():
    assert 100 < len(STOP_WORDS) < 200
    assert all(word == word.lower() for word in STOP_WORDS)


def test_a_word_is_worked_out_once_and_memory_stays_bounded(monkeypatch):
    monkeypatch.setattr("fwl.text.analyser.CACHED", 100)
    terms = analyser._Terms(stop_words=True, stemmer="")
    for i in range(1000):
        assert terms[f"word{i}"] == f"word{i}"
        assert len(terms) <= 100
    assert terms["the"] == ""


def test_the_same_text_gives_the_same_terms_again():
    text = "The wings of the wings’ wing"
    assert Analyser().tokens(text) == Analyser().tokens(text) == ["wing", "wing", "wing"]


@pytest.mark.parametrize("made", [Analyser(), Analyser(stop_words=False), PLAIN])
def test_an_analyser_comes_back_from_its_settings(made):
    settings = json.loads(json.dumps(made.settings()))
    assert Analyser.from_settings(settings) == made


def test_settings_tell_analysers_apart():
    made = [Analyser(a, b).settings() for a in (True, False) for b in ("english", "")]
    assert all(made.count(settings) == 1 for settings in made)


@pytest.mark.parametrize("change", [{"rules": 0}, {"stemmer_version": "0.1"}])
def test_terms_made_by_other_rules_are_refused(change):
    settings = Analyser().settings()
    with expect_refusal(
        InvalidInput,
        f"analyser: the index was made by {settings | change}, and this version has {settings}; build the index again",
    ):
        Analyser.from_settings(settings | change)


def test_settings_that_are_none_are_refused():
    with expect_refusal(InvalidInput, "analyser: expected 'stop_words' among its settings, got {'stemmer': ''}"):
        Analyser.from_settings({"stemmer": ""})


def test_an_unknown_stemmer_is_refused():
    with expect_refusal(InvalidInput, "stemmer: expected 'english', or '' for none, got 'porter'"):
        Analyser(stemmer="porter")


@pytest.mark.parametrize("text", [None, 7, ["a"], b"bytes"])
def test_what_is_no_text_is_refused(text):
    with expect_refusal(InvalidInput, f"analyser: expected a text, got {text!r}; give it one text at a time"):
        Analyser().tokens(text)


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "Stemmer", None)
    analyser._terms.cache_clear()
    with expect_refusal(
        InvalidInput, "stemming needs PyStemmer; install it with: pip install 'fwl[ranking]', or choose stemmer=''"
    ):
        Analyser().tokens("wings")
    assert Analyser(stemmer="").tokens("wings") == ["wings"]
    assert Analyser(stemmer="").settings()["stemmer_version"] == ""
