"""The sentence encoder of a ranker: found by what a user says, and found again where the ranker is loaded."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from fwl.errors import InvalidInput, OutputTrouble
from fwl.learn.searcher import Matrix
from fwl.progress import Progress, Silent
from fwl.students.encoder import SentenceEncoder
from fwl.students.packaged import PACKAGE, packaged_encoder
from fwl.students.vector_cache import cached_vectors
from fwl.text.collection import Document

AUTO, NONE = "auto", "none"
AT_ONCE = 1024  # documents encoded before anybody hears of them

FilePath = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Encoding:
    """A sentence encoder and where it lies.

    Attributes:
        encoder: ready to be asked.
        place: its folder; "auto" for the packaged one, wherever that is installed.
    """

    encoder: SentenceEncoder
    place: str

    def __str__(self) -> str:
        return f"the packaged encoder ({PACKAGE})" if self.place == AUTO else f"the encoder in {self.place}"


def open_encoder(wanted: FilePath | None) -> Encoding | None:
    """An encoder by its folder; for "auto" the packaged one where it is installed; for None or "none" nothing."""
    if wanted is None or wanted == NONE:
        return None
    if wanted != AUTO:
        return Encoding(SentenceEncoder.load(wanted), str(Path(wanted).resolve()))
    folder = packaged_encoder()
    return None if folder is None else Encoding(SentenceEncoder.load(folder), AUTO)


def find_again(place: str, digest: str, instead: FilePath | None = None) -> Encoding:
    """The encoder that lay there, or lies elsewhere now, if it still is the same."""
    where = place if instead is None else instead
    try:
        encoding = open_encoder(where)
    except OutputTrouble as error:
        raise OutputTrouble(f"this ranker needs its encoder, which was in {place}: {error}") from error
    if encoding is None:
        raise InvalidInput(
            f"this ranker needs the packaged encoder ({PACKAGE}), which is not installed; "
            "install it with: pip install 'fwl[minilm]', or name a folder with the same encoder"
        )
    if encoding.encoder.digest != digest:
        raise OutputTrouble(
            f"{encoding} is not the one this ranker was fitted with (digest {encoding.encoder.digest[:12]}, expected "
            f"{digest[:12]}); name the folder of the right one, or fit the ranker again"
        )
    return encoding


def vectors_of(
    documents: Iterable[Document], count: int, encoder: SentenceEncoder, progress: Progress | None = None
) -> Matrix:
    """A vector for each of so many documents, [count, columns]; zero for one that says nothing.

    What was encoded before is read from the cache on disk.
    """
    vectors, listener = np.zeros((count, encoder.columns), dtype=np.float32), progress or Silent()
    listener.start(count, "encoding documents")
    try:
        start = 0
        for texts in _some_at_a_time(documents):
            speaking = np.flatnonzero([bool(text.strip()) for text in texts])
            vectors[start + speaking] = cached_vectors([texts[row] for row in speaking], encoder)
            start += len(texts)
            listener.advance(len(texts))
    finally:
        listener.finish()
    return vectors


def _some_at_a_time(documents: Iterable[Document]) -> Iterator[list[str]]:
    remaining = iter(documents)
    while texts := [document.whole for document in islice(remaining, AT_ONCE)]:
        yield texts
