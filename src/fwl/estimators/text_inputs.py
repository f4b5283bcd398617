"""Texts, as students and teachers read them: by their words and spelling, and by a sentence encoder if there is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fwl.errors import InvalidInput
from fwl.estimators.latent import COLUMNS, Latent, Samples, as_vectors, fit_latent, inverse_frequency, tf_idf
from fwl.estimators.spelling import Spelling, fit_spelling
from fwl.estimators.tuned_vectors import TunedVectors
from fwl.learn.view import VECTOR
from fwl.progress import Progress
from fwl.randomness import Chance
from fwl.records import Array
from fwl.students.encoder import SentenceEncoder, Vectors
from fwl.students.packaged import packaged_encoder
from fwl.students.vector_cache import cached_vectors
from fwl.teach.state import State
from fwl.text.reading import count_empty
from fwl.text.tokeniser import tokenise_all
from fwl.text.vocabulary import Vocabulary

TOKENS, WORDING = "tokens", "wording"  # parts of a sample: its words in order; its words and spelling in few columns
WORDS = 20_000  # the most words of a vocabulary
LONGEST = 256  # tokens of a text that are read, at the most
COVERED = 0.98  # of the texts are read to their end


def as_text_list(X: Any) -> list[str]:
    """Texts as a list, a missing one as an empty one."""
    values = X.to_pylist() if isinstance(X, pa.Array | pa.ChunkedArray) else list(X)
    for row, value in enumerate(values):
        if value is None or isinstance(value, float):
            values[row] = ""
        elif not isinstance(value, str):
            raise InvalidInput(f"texts: row {row} is a {type(value).__name__} ({value!r:.40}), expected a str")
    return values


@dataclass(frozen=True, eq=False)
class Words:
    """Texts as vectors made of their words: latent directions of tf-idf.

    Attributes:
        vocabulary: the words that are known.
        idf: how much each says by being rare, [V].
        latent: from tf-idf to the vector.
    """

    vocabulary: Vocabulary
    idf: Array
    latent: Latent

    def ids(self, texts: list[str]) -> list[npt.NDArray[np.int32]]:
        """The ids of all words of each text; one unknown word of a text without any."""
        return _all_ids(tokenise_all(texts), self.vocabulary)

    def vectors(self, ids: list[npt.NDArray[np.int32]]) -> Array:
        """The vector of each text whose words these are, [N, k]."""
        return self.latent(tf_idf(ids, self.idf))

    def state(self) -> State:
        """Its words, their weights and its directions."""
        return State({"words": list(self.vocabulary.words)}, {"idf": self.idf, "directions": self.latent.directions})

    @classmethod
    def from_state(cls, state: State) -> Words:
        """The same again."""
        arrays = state.arrays
        return cls(Vocabulary(tuple(state.settings["words"])), arrays["idf"], Latent(arrays["directions"]))


def fit_words(texts: list[str], chance: Chance, columns: int = COLUMNS) -> tuple[Words, list[npt.NDArray[np.int32]]]:
    """The words of these texts in a vector of so many columns at the most, and the texts as word ids."""
    tokens = tokenise_all(texts)
    vocabulary = Vocabulary.of(tokens, largest=WORDS)
    ids = _all_ids(tokens, vocabulary)
    idf = inverse_frequency(ids, len(vocabulary))
    return Words(vocabulary, idf, fit_latent(tf_idf(ids, idf), chance, columns)), ids


@dataclass(frozen=True, eq=False)
class TextInputs:
    """Texts as word ids for the student, and as a vector of their words and spelling for it and the teacher.

    Attributes:
        words: the words that are known.
        spelling: the pieces of words that are; None where all texts are blank, and in a model that was saved before
            they were read.
        length: so many words of a text are read in order.
        empty: how many texts of those it was fitted on are.
    """

    words: Words
    spelling: Spelling | None
    length: int
    empty: int = 0

    def of(self, X: Any) -> Samples:
        """Samples with the parts `tokens` and `vector`."""
        texts = as_text_list(X)
        ids = self.words.ids(texts)
        vectors = np.concatenate([self.words.vectors(ids), *_spelt(texts, self.spelling)], axis=1)
        return _in_order(ids, self.length, {VECTOR: vectors})

    def described(self) -> dict[str, Any]:
        """How many words and pieces of words are known and how much of a text is read."""
        words, pieces = len(self.words.vocabulary.words), _pieces(self.spelling)
        return {"kind": "texts", "words": words, "pieces": pieces, "tokens_read": self.length, "empty": self.empty}

    def state(self) -> State:
        """Its words, its pieces of words and how much of a text is read."""
        return _together(State({"length": self.length, "empty": self.empty}, {}), self.words, self.spelling)

    @classmethod
    def from_state(cls, state: State) -> TextInputs:
        """The same again."""
        settings = state.settings
        words, spelling = Words.from_state(state), Spelling.from_state(state)
        return cls(words, spelling, int(settings["length"]), int(settings["empty"]))


@dataclass(frozen=True, eq=False)
class SentenceInputs:
    """Texts as the vectors of a frozen sentence encoder, brought to one scale, their words and spelling beside them.

    An encoder's vector says what a text means and little of how it is worded (DECISIONS.md, D64, D66).

    Attributes:
        encoder: makes the vectors.
        folder: where it is.
        centre: their mean.
        scale: their deviation, over all columns.
        words: None in a model that was saved before words were read too.
        spelling: None where all texts are blank, and in a model that was saved before it was read.
        read: so many words of a text are read in order too, by students of another kind; 0 in a model that was saved
            before there were any.
        empty: how many texts of those it was fitted on are.
        tuned: a copy of the encoder that learned from weak labels, whose vectors stand beside the others; None if
            there is none.
    """

    encoder: SentenceEncoder
    folder: str
    centre: Array
    scale: float
    words: Words | None
    spelling: Spelling | None
    read: int = 0
    empty: int = 0
    tuned: TunedVectors | None = None

    def of(self, X: Any) -> Samples:
        """Samples with the part `vector`, and with `tokens` and `wording` where words are read in order too."""
        texts = as_text_list(X)
        vectors = (cached_vectors(texts, self.encoder) - self.centre) / self.scale
        ids = None if self.words is None else self.words.ids(texts)
        wording = [] if self.words is None or ids is None else [self.words.vectors(ids)]
        wording += _spelt(texts, self.spelling)
        tuned = [] if self.tuned is None else [self.tuned.vectors(texts)]
        vector = np.concatenate([vectors, *wording, *tuned], axis=1, dtype=np.float32)
        if ids is None or not self.read:
            return as_vectors(vector)
        few = np.concatenate([block[:, :COLUMNS] for block in wording], axis=1)  # the first directions hold most
        return _in_order(ids, self.read, {WORDING: few, VECTOR: vector})

    def described(self) -> dict[str, Any]:
        """Which encoder reads the texts, and how many words and pieces of words are known beside it."""
        words, pieces = 0 if self.words is None else len(self.words.vocabulary.words), _pieces(self.spelling)
        known = {"columns": self.encoder.columns, "words": words, "pieces": pieces, "tuned": self.tuned is not None}
        return {"kind": "sentence vectors", **known, "empty": self.empty}

    def state(self) -> State:
        """Where the encoder is, and what it is: another one is refused; and the words and pieces of words."""
        encoder = {"folder": self.folder, "digest": self.encoder.digest, "layers": self.encoder.layers}
        lengths = {"length": self.encoder.length, "read": self.read}
        settings = {"encoder": encoder, "scale": self.scale, **lengths, "empty": self.empty}
        return _together(State(settings, {"centre": self.centre}), self.words, self.spelling, self.tuned)

    @classmethod
    def from_state(cls, state: State, folder: str | None = None) -> SentenceInputs:
        """The same again; the encoder may have moved to another folder."""
        settings, recorded = state.settings, state.settings["encoder"]
        where = folder or _where_now(recorded["folder"])
        encoder = SentenceEncoder.load(where, length=settings["length"], layers=recorded["layers"])
        if encoder.digest != recorded["digest"]:
            raise InvalidInput(
                f"the encoder in {where} is not the one that this model was fitted with; name the right folder, with "
                "load_model(folder, encoder=...)"
            )
        words, spelling = Words.from_state(state) if "words" in settings else None, Spelling.from_state(state)
        tuned = TunedVectors.from_state(state, encoder)
        counts = int(settings.get("read", 0)), settings["empty"]
        return cls(encoder, where, state.arrays["centre"], settings["scale"], words, spelling, *counts, tuned)


def fit_texts(
    texts: list[str], chance: Chance, encoder: str | None, layers: int, progress: Progress | None = None
) -> TextInputs | SentenceInputs:
    """How these texts are read: by their words and spelling, and by a sentence encoder where a folder is named."""
    if encoder is not None:
        return _fit_sentences(texts, chance, SentenceEncoder.load(str(encoder), layers=layers), str(encoder), progress)
    words, ids = fit_words(texts, chance)
    return TextInputs(words, fit_spelling(texts, chance.child("spelling")), _length(ids), count_empty(texts))


def _where_now(folder: str) -> str:
    """Where that encoder is: on another machine an installed one may be elsewhere."""
    installed = None if Path(folder).is_dir() else packaged_encoder()
    return folder if installed is None else str(installed)


def _fit_sentences(
    texts: list[str], chance: Chance, encoder: SentenceEncoder, folder: str, progress: Progress | None
) -> SentenceInputs:
    vectors = cached_vectors(texts, encoder, progress=progress).astype(np.float64)
    scale = float(np.sqrt(vectors.var(axis=0).mean())) or 1.0
    words, ids = fit_words(texts, chance, encoder.columns)  # as many columns each: the three sides count alike
    spelling = fit_spelling(texts, chance.child("spelling"), encoder.columns)
    counts = _length(ids), count_empty(texts)
    return SentenceInputs(encoder, folder, vectors.mean(axis=0), scale, words, spelling, *counts)


def _length(ids: list[npt.NDArray[np.int32]]) -> int:
    """So many words that nearly all texts are read to their end."""
    return int(np.clip(np.quantile([len(its_ids) for its_ids in ids], COVERED), 1, LONGEST))


def _in_order(ids: list[npt.NDArray[np.int32]], length: int, vectors: Mapping[str, Vectors | Array]) -> Samples:
    """Samples with the first words of each text and vectors of it."""
    kinds = [(name, np.float32, (block.shape[1],)) for name, block in vectors.items()]
    samples = np.zeros(len(ids), dtype=[(TOKENS, np.int32, (length,)), *kinds])
    for row, its_ids in zip(samples[TOKENS], ids, strict=True):
        row[: len(its_ids)] = its_ids[:length]
    for name, block in vectors.items():
        samples[name] = block
    return samples


def _spelt(texts: list[str], spelling: Spelling | None) -> list[Array]:
    """The vectors of the texts' spelling, if it is read."""
    return [] if spelling is None else [spelling.vectors(texts)]


def _pieces(spelling: Spelling | None) -> int:
    return 0 if spelling is None else len(spelling.pieces)


def _together(own: State, *parts: Words | Spelling | TunedVectors | None) -> State:
    """One state of an encoding's own and those of its parts, whose names differ."""
    states = [own, *(part.state() for part in parts if part is not None)]
    settings = {name: value for state in states for name, value in state.settings.items()}
    return State(settings, {name: array for state in states for name, array in state.arrays.items()})


def _all_ids(token_lists: Sequence[Sequence[str]], vocabulary: Vocabulary) -> list[npt.NDArray[np.int32]]:
    """The ids of all words of each text; one unknown word of a text without any."""
    return [vocabulary.ids([tokens], length=max(1, len(tokens)))[0] for tokens in token_lists]
