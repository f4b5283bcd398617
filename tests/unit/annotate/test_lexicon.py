import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwl.annotate import Annotator, Lexicon, SentiWordNet
from fwl.annotate.lexicon import USUAL_IN_TWEETS
from fwl.errors import InvalidInput
from fwl.text import read_labelled
from tests.properties import PROPERTY
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA

DATA = Path(os.environ.get("FWL_DATA", "no such folder")) / "sentiment"
TERMS = {"good": (0.0, 0.4, 0.6), "bad": (0.7, 0.3, 0.0), "day": (0.0, 1.0, 0.0)}
SYNSETS = """# POS\tID\tPosScore\tNegScore\tSynsetTerms\tGloss
a\t1\t0.75\t0\tgood#1 well_behaved#1\tof high quality; "good news"
s\t2\t0.25\t0.25\tgood#2 Fine#1
n\t3\t0\t0.5\tgood#3
#
n\t4\t0\t0\tday#1
"""


def written(tmp_path, content, name="lexicon.tsv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def assert_close(label, expected):
    np.testing.assert_allclose(label, expected, rtol=0, atol=ALGEBRA)


def test_a_text_is_the_average_of_its_known_words():
    lexicon: Annotator = Lexicon(TERMS)
    label = lexicon.annotate(["GOOD good day, sir", "bad", "hmm", ""])
    assert_close(label, [[0, 0.6, 0.4], [0.7, 0.3, 0], [0, 1, 0], [0, 1, 0]])


def test_held_against_a_usual_text():
    label = Lexicon(TERMS, usual=(0.1, 0.8, 0.1)).annotate(["good day", "hmm"])
    shares = np.array([0, 0.7 / 0.8, 0.3 / 0.1])
    assert_close(label, [shares / shares.sum(), [0, 1, 0]])


def test_what_is_usual_is_learned_from_texts_without_labels():
    lexicon = Lexicon(TERMS).held_against(["good", "bad", "day", "hmm"])
    assert_close(lexicon.usual, (0.175, 0.675, 0.15))
    assert lexicon.terms == TERMS


def test_many_texts_are_annotated_as_each_alone(monkeypatch):
    monkeypatch.setattr("fwl.annotate.lexicon.CHUNK", 2)
    lexicon, texts = Lexicon(TERMS), ["good day", "bad", "", "bad good", "day"]
    assert_close(lexicon.annotate(texts), np.concatenate([lexicon.annotate([text]) for text in texts]))
    assert_close(lexicon.annotate(np.array(texts)), lexicon.annotate(texts))


@PROPERTY
@given(
    texts=st.lists(st.lists(st.sampled_from(["good", "bad", "day", "x", ":)"]), max_size=5).map(" ".join), min_size=1),
    usual=st.none() | st.just((0.05, 0.9, 0.05)),
)
def test_every_label_is_a_distribution(texts, usual):
    label = Lexicon(TERMS, usual).annotate(texts)
    assert label.shape == (len(texts), 3)
    assert (label >= 0).all()
    assert_close(label.sum(axis=1), 1)


READ = {
    "a polarity": ("good\t2\nbad\t-4\nday\t0\n", {"good": (0, 0.5, 0.5), "bad": (1, 0, 0), "day": (0, 1, 0)}),
    "all zero": ("day\t0\n", {"day": (0, 1, 0)}),
    "positive and negative": ("good\t0.5\t0.25\n", {"good": (0.25, 0.25, 0.5)}),
    "counts": ("good\t3\t1\nbad\t0\t2\n", {"good": (0.25, 0, 0.75), "bad": (0.5, 0.5, 0)}),
    "three": ("good\t1\t1\t2\n", {"good": (0.25, 0.25, 0.5)}),
    "comments and hashtags": ("# a comment\n\n#win\t1\n:)\t1\n", {"#win": (0, 0, 1), ":)": (0, 0, 1)}),
    "one token, two terms": ("Good\t1\ngood\t0\n", {"good": (0, 0.5, 0.5)}),
    "several tokens": ("not good\t-1\ngood\t1\n", {"good": (0, 0, 1)}),
}


@pytest.mark.parametrize(("content", "expected"), READ.values(), ids=list(READ))
def test_a_lexicon_is_read(tmp_path, content, expected):
    lexicon = Lexicon.read(written(tmp_path, content))
    assert lexicon.usual is None
    assert list(lexicon.terms) == list(expected)
    assert_close(list(lexicon.terms.values()), list(expected.values()))


BROKEN = {
    "good\t1\nbad\n": ", line 2: expected 2 columns separated by tabs (term, score), got 1: 'bad'",
    "good\t1\nbad\tvery\n": ", line 2: expected a finite number as a score, got 'very'",
    "good\tnan\n": ", line 1: expected a finite number as a score, got 'nan'",
    "good\t1\nbad\t1\t2\n": ", line 2: expected 1 scores, as in the first line, got 2",
    "good\t1\t2\t3\t4\n": ", line 1: expected 1, 2 or 3 scores, got 4",
    "good\t1\t-2\n": ", line 1: expected shares from 0 up, got -2.0; a polarity stands alone",
    "a\t0\t0\t0\n": ", line 1: expected a share above 0 among negative, neutral and positive, got 0 for all",
    "very good\t1\n": " holds no term that is one token; expected lines of term TAB score",
    "": " is empty; expected lines of term TAB score",
    "# nothing\n": " is empty; expected lines of term TAB score",
}


@pytest.mark.parametrize(("content", "message"), BROKEN.items())
def test_a_broken_line_is_named(tmp_path, content, message):
    path = written(tmp_path, content)
    with expect_refusal(InvalidInput, f"{path}{message}"):
        Lexicon.read(path)


def test_sentiwordnet_is_read_as_published(tmp_path):
    lexicon = SentiWordNet.read(written(tmp_path, SYNSETS))
    assert lexicon.usual == USUAL_IN_TWEETS
    assert list(lexicon.terms) == ["good", "fine", "day"]
    # Two senses as an adjective, of ranks 1 and 2 (weights 2/3 and 1/3), and one as a noun.
    positive, negative = (2 * (0.75 * 2 + 0.25) / 3) / 3, (2 * 0.25 / 3 + 0.5) / 3
    assert_close(lexicon.terms["good"], (negative, 1 - negative - positive, positive))
    assert_close(lexicon.terms["fine"], (0.25, 0.5, 0.25))
    assert_close(lexicon.terms["day"], (0, 1, 0))


def test_the_plain_average_is_an_option(tmp_path):
    path = written(tmp_path, gzip.compress(SYNSETS.encode()))
    plain = SentiWordNet.read(path, plain=True)
    assert plain.usual is None
    assert_close(plain.annotate(["fine day"]), [[0.125, 0.75, 0.125]])
    assert isinstance(plain.held_against(["fine day"]), SentiWordNet)


SENTIWORDNET_BROKEN = {
    "a\t1\t0\tgood#1\n": (
        ", line 1: expected 5 columns separated by tabs (POS, ID, PosScore, NegScore, SynsetTerms), "
        "got 4: 'a\\t1\\t0\\tgood#1'"
    ),
    "#\na\t1\tx\t0\tgood#1\n": ", line 2: expected a finite number as a score, got 'x'",
    "a\t1\t0.75\t0.5\tgood#1\n": ", line 1: expected scores from 0 that add up to 1 at most, got 0.75 and 0.5",
    "a\t1\t-0.5\t0\tgood#1\n": ", line 1: expected scores from 0 that add up to 1 at most, got -0.5 and 0.0",
    "a\t1\t0\t0\tgood\n": ", line 1: expected terms with the rank of their sense, as in good#1, got 'good'",
    "a\t1\t0\t0\tgood#0\n": ", line 1: expected terms with the rank of their sense, as in good#1, got 'good#0'",
    "# nothing\n": " is empty; expected lines of POS TAB ID TAB PosScore TAB NegScore TAB SynsetTerms",
}


@pytest.mark.parametrize(("content", "message"), SENTIWORDNET_BROKEN.items())
def test_a_broken_synset_is_named(tmp_path, content, message):
    path = written(tmp_path, content)
    with expect_refusal(InvalidInput, f"{path}{message}"):
        SentiWordNet.read(path)


def test_what_cannot_be_used_is_refused():
    with expect_refusal(InvalidInput, "lexicon: expected at least one word, got none"):
        Lexicon({})
    with expect_refusal(
        InvalidInput,
        "usual: expected a share above 0 for each of negative, neutral, positive, got (0.0, 0.5, 0.5); "
        "take the average over more texts",
    ):
        Lexicon({"good": (0.0, 0.5, 0.5)}).held_against(["good"])


def test_samples_that_are_no_texts_are_refused():
    lexicon = Lexicon(TERMS)
    with expect_refusal(InvalidInput, "texts: expected a text in row 1, got the int 3; drop or fill it first"):
        lexicon.annotate(["good", 3])
    with expect_refusal(InvalidInput, "texts: expected a list of texts, got the text 'good'; put it in a list"):
        lexicon.annotate("good")
    for ask in (lexicon.annotate, lexicon.held_against):
        with expect_refusal(InvalidInput, "texts: the set is empty, expected at least one"):
            ask([])


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the sentiment data; name its folder in FWL_DATA")
def test_the_published_lexicon_decides_as_it_did_when_its_rescaling_was_chosen():
    lexicon = SentiWordNet.read(DATA / "SentiWordNet_3.0.0.tsv")
    tweets = read_labelled(DATA / "semeval" / "2013train.tsv")
    usual = SentiWordNet(lexicon.terms).held_against(tweets.texts).usual
    chosen = np.array(usual) / (0.7, 0.8, 1.0)
    np.testing.assert_allclose(chosen / chosen.sum(), USUAL_IN_TWEETS, atol=1e-3)
    said = np.bincount(lexicon.annotate(tweets.texts).argmax(axis=1)) / len(tweets.texts)
    assert said.min() > 0.1  # no class is given up


def test_a_word_that_sentiwordnet_does_not_know_is_looked_up_without_its_ending(tmp_path):
    path = tmp_path / "senti.tsv"
    path.write_text("a\t1\t0.5\t0\tlove#1\nv\t2\t0\t0.5\tstop#1\n")
    lexicon = SentiWordNet.read(path, plain=True)
    love, stop = lexicon.annotate(["love", "stop"])
    for form in ("loves", "loved", "loving", "#love", "lover"):
        assert np.array_equal(lexicon.annotate([form])[0], love), form
    for form in ("stops", "stopped", "stopping"):
        assert np.array_equal(lexicon.annotate([form])[0], stop), form
    assert np.array_equal(lexicon.annotate(["s", "ing", "clove"]), [[0.0, 1.0, 0.0]] * 3)
