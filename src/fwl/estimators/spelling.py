"""Texts as vectors made of how they are spelt: latent directions of the pieces of their words.

A few dozen strong texts share few whole words with new ones, but many pieces of words: stems and endings, misspelt
words, emphasis, parts of names (DECISIONS.md, D66).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from fwl.estimators.latent import COLUMNS, Latent, fit_latent
from fwl.randomness import Chance
from fwl.records import Array
from fwl.teach.state import State

LENGTHS = (2, 4)  # characters of a piece, from and to
PIECES = 2500  # the most pieces that are known: the frequent ones
ROWS = 5000  # the most texts that pieces and directions are found on
CHARACTERS = 4000  # of a text that are read, at the most
CHUNK = 4096  # texts whose pieces are counted at once


@dataclass(frozen=True, eq=False)
class Spelling:
    """Texts as vectors made of the pieces of their words.

    Attributes:
        pieces: those that are known, in alphabetical order.
        idf: how much each says by being rare, [P].
        latent: from tf-idf to the vector.
    """

    pieces: tuple[str, ...]
    idf: Array
    latent: Latent

    def vectors(self, texts: list[str]) -> Array:
        """The vector of each text, [N, k]."""
        chunks = (texts[start : start + CHUNK] for start in range(0, len(texts), CHUNK))
        vectors = [self.latent(self._counter.transform(_beginnings(chunk))) for chunk in chunks]
        return np.concatenate([np.empty((0, self.latent.directions.shape[1])), *vectors])

    def state(self) -> State:
        """Its pieces, their weights and its directions."""
        arrays = {"piece_idf": self.idf, "piece_directions": self.latent.directions}
        return State({"pieces": list(self.pieces)}, arrays)

    @classmethod
    def from_state(cls, state: State) -> Spelling | None:
        """The same again; None of a model that was saved before spelling was read."""
        if "pieces" not in state.settings:
            return None
        arrays = state.arrays
        revived = cls(tuple(state.settings["pieces"]), arrays["piece_idf"], Latent(arrays["piece_directions"]))
        revived.vectors([""])  # parts that do not fit together are found here, not when texts are read
        return revived

    @cached_property
    def _counter(self) -> TfidfVectorizer:
        counter = _new_counter(vocabulary=self.pieces)
        counter.idf_ = self.idf
        return counter


def fit_spelling(texts: list[str], chance: Chance, columns: int = COLUMNS) -> Spelling | None:
    """The frequent pieces of these texts' words in a vector of so many columns at the most; None if all are blank."""
    if len(texts) > ROWS:
        texts = [texts[row] for row in chance.child("rows").numpy().permutation(len(texts))[:ROWS]]
    texts = _beginnings(texts)
    if not any(text.split() for text in texts):
        return None
    counter = _new_counter(max_features=PIECES)
    rows = counter.fit_transform(texts)
    return Spelling(tuple(counter.get_feature_names_out()), counter.idf_, fit_latent(rows, chance, columns))


def _new_counter(**settings: object) -> TfidfVectorizer:
    """Rows of length one: 1 + log(times) for each piece of the words of a text in lower case, times its idf."""
    return TfidfVectorizer(analyzer="char_wb", ngram_range=LENGTHS, sublinear_tf=True, **settings)


def _beginnings(texts: list[str]) -> list[str]:
    return [text[:CHARACTERS] for text in texts]
