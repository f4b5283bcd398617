import numpy as np

from fwl.annotate.lexicon import Lexicon
from fwl.evaluate.measures import positive_negative_f1
from fwl.experiments.made_tweets import LEXICON, SHARES, MadeTweets
from fwl.randomness import Chance
from fwl.text.reading import read_labelled, read_pool


def test_the_corpus_has_the_real_ones_layout_and_shares(tmp_path):
    MadeTweets(pool=50, strong=400).write(tmp_path, Chance(0))
    train = read_labelled(tmp_path / "semeval" / "2013train.tsv")
    assert len(train.texts) == 400
    assert np.abs(train.y.mean(axis=0) - SHARES).max() < 0.07
    assert len(read_pool(tmp_path / "tweets.tsv.gz").texts) == 50


def test_the_lexicon_is_as_good_as_planted(tmp_path):
    quality = {}
    for wrong in (0.0, 0.5):
        folder = tmp_path / str(wrong)
        MadeTweets(strong=600, known=0.9, wrong=wrong).write(folder, Chance(0))
        train = read_labelled(folder / "semeval" / "2013train.tsv")
        said = Lexicon.read(folder / LEXICON).held_against(train.texts).annotate(train.texts)
        quality[wrong] = positive_negative_f1(train.y, said)
    assert quality[0.0] > 0.6 > quality[0.5]


def test_the_same_chance_draws_the_same_corpus(tmp_path):
    for name in ("a", "b"):
        MadeTweets(pool=5, strong=20).write(tmp_path / name, Chance(3))
    assert (tmp_path / "a" / LEXICON).read_text() == (tmp_path / "b" / LEXICON).read_text()
