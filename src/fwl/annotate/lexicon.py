"""Sentiment lexica: every known word of a text has an opinion, and the text gets their average.

The columns of every label are (negative, neutral, positive).
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fwl.errors import InvalidInput
from fwl.records import Array
from fwl.text.files import glance
from fwl.text.reading import SENTIMENTS, read_columns
from fwl.text.tokeniser import some_texts, tokenise

Path = str | os.PathLike[str]
Opinion = tuple[float, float, float]
NEUTRAL: Opinion = (0.0, 1.0, 0.0)  # what is said of a text without a known word
CHUNK = 10_000  # texts whose tokens are held at a time
ROUNDING = 1e-6  # how far above 1 two shares may add up

# SentiWordNet's plain average over SemEval's 2013train, (0.0380, 0.9129, 0.0490), with the negative and the neutral
# share divided by 0.7 and 0.8, as its validation set speaks for; brought to sum 1: DECISIONS.md, D37.
USUAL_IN_TWEETS: Opinion = (0.0436, 0.9170, 0.0394)

# Endings of English words and what the base form has in their place, as WordNet's lemmas ask for.
ENDINGS = (
    *(("'s", ""), ("ies", "y"), ("ves", "f"), ("es", "e"), ("es", ""), ("s", ""), ("ied", "y")),
    *(("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""), ("est", ""), ("est", "e"), ("er", ""), ("er", "e")),
)


@dataclass(frozen=True, eq=False)
class Lexicon:
    """Words and the distribution of sentiment each stands for.

    A text's label is the average over those of its tokens that the lexicon knows. Most words of a text are neutral, so
    the plain average calls nearly every text neutral; with `usual` it is held against that of a usual text: every
    class is divided by its usual share and the three are brought back to sum 1. Then a text is called positive if it
    is more positive than texts are, by more than it is more of anything else.

    >>> lexicon = Lexicon({"good": (0.0, 0.4, 0.6), "day": (0.0, 1.0, 0.0)}, usual=(0.1, 0.8, 0.1))
    >>> lexicon.annotate(["Good day!", "hmm"]).round(2)
    array([[0.  , 0.23, 0.77],
           [0.  , 1.  , 0.  ]])

    Attributes:
        terms: the distribution (negative, neutral, positive) of each word, as the tokeniser writes it.
        usual: the average distribution of a usual text; None leaves the plain average.
    """

    terms: Mapping[str, Opinion]
    usual: Opinion | None = None

    def __post_init__(self) -> None:
        if not self.terms:
            raise InvalidInput("lexicon: expected at least one word, got none")
        if self.usual is not None and not (min(self.usual) > 0 and len(self.usual) == len(SENTIMENTS)):
            raise InvalidInput(
                f"usual: expected a share above 0 for each of {', '.join(SENTIMENTS)}, got {self.usual}; "
                "take the average over more texts"
            )

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read lines `term TAB score [TAB score [TAB score]]`, plain or gzipped.

        One score is a polarity whose sign is the side, and the largest of the file counts as wholly positive or
        negative; two are positive and negative, divided by their largest sum if that is above 1; three are negative,
        neutral and positive, divided by their sum. Terms that are several tokens are left out, as no token is ever
        equal to them; of terms that are one token (`Good`, `good`) the average is taken. Lines that begin with `#`
        and a space are comments; `#good` is a hashtag.
        """
        rows = list(_score_lines(path))
        opinions = _opinions(np.array([scores for _, scores in rows], dtype=np.float64))
        gathered: dict[str, list[Array]] = defaultdict(list)
        for (term, _), opinion in zip(rows, opinions, strict=True):
            gathered[term].append(opinion)
        return cls({term: _as_opinion(np.mean(several, axis=0)) for term, several in gathered.items()})

    def held_against(self, texts: Iterable[str]) -> Self:
        """The same lexicon with `usual` taken from texts, which need no labels."""
        return replace(self, usual=_as_opinion(self._average(texts).mean(axis=0)))

    def annotate(self, samples: Iterable[str] | npt.NDArray[Any]) -> Array:
        """The distribution (negative, neutral, positive) of each text, [N, 3]."""
        label = self._average(samples)
        if self.usual is not None:
            label /= self.usual
            label /= label.sum(axis=1, keepdims=True)
        return label

    def _average(self, samples: Iterable[str]) -> Array:
        texts = some_texts(samples)
        chunks = [self._average_of_chunk(texts[start : start + CHUNK]) for start in range(0, len(texts), CHUNK)]
        return np.concatenate(chunks)

    def _average_of_chunk(self, texts: list[str]) -> Array:
        look_up = self._look_up
        known = [[row for token in tokenise(text) if (row := look_up(token)) is not None] for text in texts]
        counts = np.array([len(row) for row in known])
        owner = np.repeat(np.arange(len(texts)), counts)
        opinions = self._table[[number for row in known for number in row]]
        sums = np.stack([np.bincount(owner, column, len(texts)) for column in opinions.T], axis=1)
        return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], NEUTRAL)

    def _look_up(self, token: str) -> int | None:
        """The row of a token's opinion, None if it is not known."""
        return self._place.get(token)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {term: row for row, term in enumerate(self.terms)}

    @cached_property
    def _table(self) -> Array:
        return np.array(list(self.terms.values()), dtype=np.float64)


class SentiWordNet(Lexicon):
    """SentiWordNet 3.0: every sense of a word has a positive and a negative score; the rest is neutral.

    The paper: the distributions of a text's terms are averaged. How a term's is made of its senses' is left open
    (DECISIONS.md, D37): within a part of speech senses count by 1 / rank, as WordNet ranks them by use; parts of
    speech count by how many senses they have. It holds base forms only, so a word that it does not know is looked up
    without its ending, and a hashtag without its sign.
    """

    @classmethod
    def read(cls, path: Path, plain: bool = False) -> Self:
        """Read the published file: `POS ID PosScore NegScore SynsetTerms [Gloss]`, comments begin with `#`.

        Args:
            path: the file, plain or gzipped.
            plain: leave the average as it is, in the paper's words; by default it is held against a usual tweet's.
        """
        senses: dict[str, dict[str, list[tuple[int, float, float]]]] = defaultdict(lambda: defaultdict(list))
        for part, term, sense in _senses(path):
            senses[term][part].append(sense)
        terms = {term: _opinion_of(parts) for term, parts in senses.items()}
        return cls(terms, None if plain else USUAL_IN_TWEETS)

    def _look_up(self, token: str) -> int | None:
        if token not in self._seen:
            forms = (form for form in _base_forms(token.lstrip("#")) if form in self._place)
            self._seen[token] = next((self._place[form] for form in forms), None)
        return self._seen[token]

    @cached_property
    def _seen(self) -> dict[str, int | None]:
        """Every token is looked for once."""
        return {}


def _base_forms(word: str) -> Iterator[str]:
    """The word itself, then what it may be a form of: loving -> love, stopped -> stop."""
    yield word
    for ending, instead in ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= 2:
            yield stem + instead
            if not instead and len(stem) > 3 and stem[-1] == stem[-2]:
                yield stem[:-1]


def _senses(path: Path) -> Iterator[tuple[str, str, tuple[int, float, float]]]:
    """Part of speech, word and (rank, negative, positive) of every sense of every single word."""
    names = ("POS", "ID", "PosScore", "NegScore", "SynsetTerms")
    for number, columns in read_columns(path, names, comment="#"):
        where = f"{path}, line {number}"
        positive, negative = (_number(score, where) for score in columns[2:4])
        if min(positive, negative) < 0 or positive + negative > 1 + ROUNDING:
            raise InvalidInput(
                f"{where}: expected scores from 0 that add up to 1 at most, got {positive} and {negative}"
            )
        for named in columns[4].partition("\t")[0].split():  # a gloss may follow
            lemma, rank = _lemma_and_rank(named, where)
            token = None if "_" in lemma else _as_token(lemma)
            if token is not None:
                yield "a" if columns[0] == "s" else columns[0], token, (rank, negative, positive)


def _lemma_and_rank(named: str, where: str) -> tuple[str, int]:
    lemma, _, rank = named.rpartition("#")
    if not lemma or not rank.isdecimal() or int(rank) < 1:
        raise InvalidInput(f"{where}: expected terms with the rank of their sense, as in good#1, got {glance(named)}")
    return lemma, int(rank)


def _opinion_of(parts: Mapping[str, list[tuple[int, float, float]]]) -> Opinion:
    """A word's distribution from its senses: by 1 / rank within a part of speech, which counts by its senses."""
    negative = positive = 0.0
    for senses in parts.values():
        share = len(senses) / sum(1 / rank for rank, _, _ in senses)
        negative += share * sum(low / rank for rank, low, _ in senses)
        positive += share * sum(high / rank for rank, _, high in senses)
    count = sum(map(len, parts.values()))
    return negative / count, max(0.0, 1 - (negative + positive) / count), positive / count


def _score_lines(path: Path) -> Iterator[tuple[str, list[float]]]:
    """The token and the scores of every line, as many as in the first."""
    expected, found = 0, False
    for number, (term, rest) in read_columns(path, ("term", "score"), comment="# "):
        where = f"{path}, line {number}"
        scores = [_number(score, where) for score in rest.split("\t")]
        expected = expected or len(scores)
        _check_scores(scores, expected, where)
        token = _as_token(term)
        if token is not None:
            found = True
            yield token, scores
    if not found:
        raise InvalidInput(f"{path} holds no term that is one token; expected lines of term TAB score")


def _check_scores(scores: list[float], expected: int, where: str) -> None:
    if len(scores) > len(SENTIMENTS):
        raise InvalidInput(f"{where}: expected 1, 2 or 3 scores, got {len(scores)}")
    if len(scores) != expected:
        raise InvalidInput(f"{where}: expected {expected} scores, as in the first line, got {len(scores)}")
    if len(scores) > 1 and min(scores) < 0:
        raise InvalidInput(f"{where}: expected shares from 0 up, got {min(scores)}; a polarity stands alone")
    if len(scores) == len(SENTIMENTS) and not any(scores):
        raise InvalidInput(f"{where}: expected a share above 0 among negative, neutral and positive, got 0 for all")


def _opinions(scores: Array) -> Array:
    """Scores of 1, 2 or 3 columns as distributions (negative, neutral, positive)."""
    if scores.shape[1] == len(SENTIMENTS):
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))
    if scores.shape[1] == 1:
        scores = np.maximum(np.concatenate([scores, -scores], axis=1), 0) / (np.abs(scores).max() or 1.0)
    positive, negative = (scores / max(1.0, float(scores.sum(axis=1).max()))).T
    return np.stack([negative, 1 - negative - positive, positive], axis=1)


def _as_token(term: str) -> str | None:
    """A term as it comes out of the tokeniser, or None if it comes out in pieces."""
    tokens = tokenise(term)
    return tokens[0] if len(tokens) == 1 else None


def _as_opinion(shares: Array) -> Opinion:
    negative, neutral, positive = map(float, shares)
    return negative, neutral, positive


def _number(text: str, where: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidInput(f"{where}: expected a finite number as a score, got {glance(text)}")
    return number
