"""Texts, as students and teachers read them: word ids and latent directions, or a sentence encoder's vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fwl.errors import InvalidInput
from fwl.estimators.latent import Latent, Samples, as_vectors, fit_latent, inverse_frequency, tf_idf
from fwl.learn.view import VECTOR
from fwl.randomness import Chance
from fwl.records import Array
from fwl.students.encoder import SentenceEncoder
from fwl.students.vector_cache import cached_vectors
from fwl.teach.state import State
from fwl.text.reading import count_empty
from fwl.text.tokeniser import tokenise_all
from fwl.text.vocabulary import Vocabulary

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
class TextInputs:
    """Texts as word ids for the student, and as a vector (latent directions of tf-idf) for it and the teacher."""

    vocabulary: Vocabulary
    length: int
    idf: Array
    latent: Latent
    empty: int = 0

    def of(self, X: Any) -> Samples:
        """Samples with the parts `tokens` and `vector`."""
        ids = _all_ids(tokenise_all(as_text_list(X)), self.vocabulary)
        vectors = self.latent(tf_idf(ids, self.idf))
        kinds = [("tokens", np.int32, (self.length,)), (VECTOR, np.float32, (vectors.shape[1],))]
        samples = np.zeros(len(ids), dtype=kinds)
        for row, its_ids in zip(samples["tokens"], ids, strict=True):
            row[: len(its_ids)] = its_ids[: self.length]
        samples[VECTOR] = vectors
        return samples

    def described(self) -> dict[str, Any]:
        """How many words are known and how much of a text is read."""
        words = len(self.vocabulary.words)
        return {"kind": "texts", "words": words, "tokens_read": self.length, "empty": self.empty}

    def state(self) -> State:
        """Its words, their weights and its directions."""
        settings = {"words": list(self.vocabulary.words), "length": self.length, "empty": self.empty}
        return State(settings, {"idf": self.idf, "directions": self.latent.directions})

    @classmethod
    def from_state(cls, state: State) -> TextInputs:
        """The same again."""
        words, arrays = Vocabulary(tuple(state.settings["words"])), state.arrays
        length, empty = int(state.settings["length"]), int(state.settings["empty"])
        return cls(words, length, arrays["idf"], Latent(arrays["directions"]), empty)


@dataclass(frozen=True, eq=False)
class SentenceInputs:
    """Texts as the vectors of a frozen sentence encoder, moved to mean 0 and brought to one scale."""

    encoder: SentenceEncoder
    folder: str
    centre: Array
    scale: float
    empty: int = 0

    def of(self, X: Any) -> Samples:
        """Samples with the part `vector`."""
        vectors = cached_vectors(as_text_list(X), self.encoder)
        return as_vectors((vectors - self.centre) / self.scale)

    def described(self) -> dict[str, Any]:
        """Which encoder reads the texts."""
        return {"kind": "sentence vectors", "columns": self.encoder.columns, "empty": self.empty}

    def state(self) -> State:
        """Where the encoder is, and what it is: another one is refused."""
        encoder = {"folder": self.folder, "digest": self.encoder.digest, "layers": self.encoder.layers}
        settings = {"encoder": encoder, "scale": self.scale, "length": self.encoder.length, "empty": self.empty}
        return State(settings, {"centre": self.centre})

    @classmethod
    def from_state(cls, state: State, folder: str | None = None) -> SentenceInputs:
        """The same again; the encoder may have moved to another folder."""
        settings, recorded = state.settings, state.settings["encoder"]
        where = folder or recorded["folder"]
        encoder = SentenceEncoder.load(where, length=settings["length"], layers=recorded["layers"])
        if encoder.digest != recorded["digest"]:
            raise InvalidInput(
                f"the encoder in {where} is not the one that this model was fitted with; name the right folder, with "
                "load_model(folder, encoder=...)"
            )
        return cls(encoder, where, state.arrays["centre"], settings["scale"], settings["empty"])


def fit_texts(texts: list[str], chance: Chance, encoder: str | None, layers: int) -> TextInputs | SentenceInputs:
    """How these texts are read: by a sentence encoder where a folder is named, else by their own words."""
    if encoder is not None:
        return _fit_sentences(texts, str(encoder), layers)
    tokens = tokenise_all(texts)
    vocabulary = Vocabulary.of(tokens, largest=WORDS)
    ids = _all_ids(tokens, vocabulary)
    length = int(np.clip(np.quantile([len(its_ids) for its_ids in ids], COVERED), 1, LONGEST))
    idf = inverse_frequency(ids, len(vocabulary))
    return TextInputs(vocabulary, length, idf, fit_latent(tf_idf(ids, idf), chance), count_empty(texts))


def _fit_sentences(texts: list[str], folder: str, layers: int) -> SentenceInputs:
    encoder = SentenceEncoder.load(folder, layers=layers)
    vectors = cached_vectors(texts, encoder).astype(np.float64)
    scale = float(np.sqrt(vectors.var(axis=0).mean())) or 1.0
    return SentenceInputs(encoder, folder, vectors.mean(axis=0), scale, count_empty(texts))


def _all_ids(token_lists: Sequence[Sequence[str]], vocabulary: Vocabulary) -> list[npt.NDArray[np.int32]]:
    """The ids of all words of each text; one unknown word of a text without any."""
    return [vocabulary.ids([tokens], length=max(1, len(tokens)))[0] for tokens in token_lists]
