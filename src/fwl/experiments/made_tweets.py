"""A made-up corpus of tweets in the layout of the real one: a known truth, and a lexicon of planted quality."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fwl.randomness import Chance
from fwl.text.reading import SENTIMENTS

SHARES = (0.15, 0.45, 0.40)  # of negative, neutral and positive, as in the real sets
LEXICON = "made_lexicon.tsv"
_SYLLABLES = ("ba", "do", "fi", "gu", "ka", "lo", "mi", "nu", "pe", "ra", "so", "ti", "vu", "we", "zo")


@dataclass(frozen=True)
class MadeTweets:
    """How the corpus is drawn.

    A tweet has a class, and its words come by chance from words that all classes share or from its class's own. The
    lexicon knows a share of the polar words, and has some of those on the wrong side.

    Attributes:
        pool: unlabelled tweets.
        strong: labelled ones to learn from.
        others: labelled ones in the validation set and in each test set.
        shared: words that say nothing.
        polar: words of each of the three classes.
        polarity: the share of a tweet's words that are its class's own.
        known: the share of polar words in the lexicon.
        wrong: the share of those that stand on the wrong side.
    """

    pool: int = 2000
    strong: int = 300
    others: int = 300
    shared: int = 300
    polar: int = 60
    polarity: float = 0.25
    known: float = 0.5
    wrong: float = 0.15

    def write(self, folder: Path, chance: Chance) -> None:
        """The corpus in a folder: semeval/*.tsv, tweets.tsv.gz and the lexicon."""
        words = made_words(self.shared + 3 * self.polar, chance.child("words"))
        (folder / "semeval").mkdir(parents=True, exist_ok=True)
        sizes = {"2013train": self.strong, "2013dev": self.strong // 6 + 1}
        sizes |= dict.fromkeys(("2013test", "2014test", "2015test"), self.others)
        for name, count in sizes.items():
            lines = self._labelled(count, words, chance.child(name))
            (folder / "semeval" / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")
        rng = chance.child("pool").numpy()
        texts = (self._text(int(c), words, rng) for c in _classes(self.pool, rng))
        with gzip.open(folder / "tweets.tsv.gz", "wt", encoding="utf-8") as file:
            file.writelines(f"made\t{text}\n" for text in texts)
        (folder / LEXICON).write_text("".join(self._lexicon(words, chance.child("lexicon"))), encoding="utf-8")

    def _labelled(self, count: int, words: list[str], chance: Chance) -> list[str]:
        rng = chance.numpy()
        classes = _classes(count, rng)
        return [f"{i}\t{SENTIMENTS[c]}\t{self._text(int(c), words, rng)}\n" for i, c in enumerate(classes)]

    def _text(self, sentiment: int, words: list[str], rng: np.random.Generator) -> str:
        count = int(rng.integers(4, 20))
        own = rng.random(count) < self.polarity
        shared = rng.integers(self.shared, size=count)
        polar = self.shared + sentiment * self.polar + rng.integers(self.polar, size=count)
        return " ".join(words[i] for i in np.where(own, polar, shared))

    def _lexicon(self, words: list[str], chance: Chance) -> list[str]:
        rng, lines = chance.numpy(), []
        for side, start in ((-1.0, self.shared), (1.0, self.shared + 2 * self.polar)):
            for word in words[start : start + self.polar]:
                known, wrong = rng.random() < self.known, rng.random() < self.wrong
                lines += [f"{word}\t{-side if wrong else side}\n"] if known else []
        return lines


def _classes(count: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    drawn: npt.NDArray[np.int64] = rng.choice(len(SHARES), size=count, p=SHARES)
    return drawn


def made_words(count: int, chance: Chance) -> list[str]:
    """Different words of three syllables, in an order drawn by chance."""
    n = len(_SYLLABLES)
    picked = chance.numpy().permutation(n**3)[:count]
    return ["".join(_SYLLABLES[(i // n**place) % n] for place in range(3)) for i in picked.tolist()]
