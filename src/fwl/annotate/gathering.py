"""Documents from a stream, gathered into runs whose postings fit in memory; runs go aside and are merged at the end.

    tokens -> numbers -> run -> its postings -> aside ... -> one list for each term

A run is made of documents in their order, so a term's list is what the runs have of it, one after the other.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fwl.annotate.names import Names, encode
from fwl.annotate.postings import Frequencies, Int32s, Int64s, Postings, offsets_of
from fwl.errors import InvalidInput

Documents = Iterable[tuple[str, Sequence[str]]]
A_TOKEN = 12  # bytes that a token takes while its run becomes postings, or a posting while runs are merged
_OFFSETS, _ITEMS, _FREQUENCIES = "offsets", "items", "frequencies"


@dataclass(frozen=True, eq=False)
class Run:
    """Documents in a row.

    Attributes:
        first: the number of the first one.
        lengths: of each, [n].
        tokens: the term numbers of all, end to end, [T].
    """

    first: int
    lengths: Int32s
    tokens: Int32s

    def postings(self, terms: int) -> Postings:
        """Of so many terms."""
        from fwl.annotate.inverting import count_documents, fill_postings  # the compiler is loaded by those who need it

        offsets = offsets_of(count_documents(self.tokens, self.lengths, terms))
        items, frequencies = np.empty(offsets[-1], dtype=np.int32), np.empty(offsets[-1], dtype=np.uint16)
        fill_postings(self.tokens, self.lengths, self.first, offsets, items, frequencies)
        return Postings(offsets, items, frequencies, self.first + len(self.lengths))


class Gathering:
    """What is known of all documents so far: ids, lengths and vocabulary, some twenty bytes for a document.

    Args:
        keep_id: takes the ids as UTF-8, one after the other.
    """

    def __init__(self, keep_id: Callable[[bytes], object]) -> None:
        self._keep_id = keep_id
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._lengths, self._id_lengths, self._id_hashes = array("i"), array("i"), array("q")

    def runs(self, documents: Documents, most: int | None = None) -> Iterator[Run]:
        """Every document once, in runs that end with the document that makes `most` tokens full."""
        tokens, first = array("i"), 0
        for document_id, words in documents:
            self._keep(document_id)
            tokens.fromlist(self._numbers_of(document_id, words))
            if most is not None and len(tokens) >= most:
                yield self._run(first, tokens)
                tokens, first = array("i"), len(self._lengths)
        if len(self._lengths) > first:
            yield self._run(first, tokens)
        if not self._lengths:
            raise InvalidInput("documents: expected at least one, got none")

    @property
    def terms(self) -> int:
        """How many different ones were met."""
        return len(self._numbers)

    @property
    def lengths(self) -> Int32s:
        """Of every document, [N]."""
        return np.array(self._lengths, dtype=np.int32)

    @property
    def id_ends(self) -> Int64s:
        """Where each id ends, [N]."""
        return np.cumsum(self._id_lengths, dtype=np.int64)

    def vocabulary(self) -> Names:
        """The terms by their number, which is the order that they came in."""
        strange = next((term for term in self._numbers if not isinstance(term, str)), None)
        if strange is not None:
            raise InvalidInput(f"documents: expected tokens that are strings, got {strange!r}")
        return Names.of(self._numbers)

    def check_ids(self, ids: Names) -> None:
        """No two documents have one id. Only ids whose hash comes twice are looked at."""
        hashes = np.frombuffer(self._id_hashes, dtype=np.int64)
        ordered = np.sort(hashes)
        suspects = np.isin(hashes, ordered[1:][ordered[1:] == ordered[:-1]])
        seen: dict[str, int] = {}
        for number in map(int, np.flatnonzero(suspects)):
            before = seen.setdefault(ids[number], number)
            if before != number:
                raise InvalidInput(
                    f"document id {ids[number]!r} comes twice, as document {before + 1} and {number + 1}; "
                    "give every document its own"
                )

    def _keep(self, document_id: str) -> None:
        if not isinstance(document_id, str):
            raise InvalidInput(f"documents: expected ids that are strings, got {document_id!r}")
        encoded = encode(document_id)
        self._keep_id(encoded)
        self._id_lengths.append(len(encoded))
        self._id_hashes.append(hash(document_id))

    def _numbers_of(self, document_id: str, words: Sequence[str]) -> list[int]:
        if isinstance(words, str):
            raise InvalidInput(f"document {document_id!r}: expected its tokens, got a text; tokenise it first")
        numbers = [*map(self._numbers.__getitem__, words)]
        self._lengths.append(len(numbers))
        return numbers

    def _run(self, first: int, tokens: array[int]) -> Run:
        return Run(first, np.array(self._lengths[first:], dtype=np.int32), np.frombuffer(tokens, dtype=np.int32))


@dataclass(frozen=True)
class Spilled:
    """A run's postings in files.

    Attributes:
        folder: theirs alone.
        terms: that were known when the run ended.
    """

    folder: Path
    terms: int

    @classmethod
    def write(cls, postings: Postings, folder: Path) -> Spilled:
        """Put a run aside."""
        folder.mkdir()
        postings.offsets.tofile(folder / _OFFSETS)
        postings.items.tofile(folder / _ITEMS)
        postings.frequencies.tofile(folder / _FREQUENCIES)
        return cls(folder, len(postings.offsets) - 1)

    def read(self, first: int, end: int) -> tuple[Int64s, Int32s, Frequencies]:
        """The offsets, documents and frequencies of terms first to end, as far as the run knows them."""
        last = min(end, self.terms)
        offsets = self._read(_OFFSETS, np.int64, first, last + 1)
        items = self._read(_ITEMS, np.int32, offsets[0], offsets[-1])
        return offsets, items, self._read(_FREQUENCIES, np.uint16, offsets[0], offsets[-1])

    def counts(self, terms: int) -> Int64s:
        """How many of its documents hold each of so many terms."""
        counts = np.zeros(terms, dtype=np.int64)
        counts[: self.terms] = np.diff(self._read(_OFFSETS, np.int64, 0, self.terms + 1))
        return counts

    def _read(self, name: str, kind: npt.DTypeLike, start: int, end: int) -> npt.NDArray[Any]:
        size = np.dtype(kind).itemsize
        return np.fromfile(self.folder / name, kind, int(end - start), offset=int(start) * size)


def merged(runs: Sequence[Spilled], offsets: Int64s, most: int) -> Iterator[tuple[Int32s, Frequencies]]:
    """Documents and frequencies of all terms, in pieces of about `most` postings and one term at least."""
    first, terms = 0, len(offsets) - 1
    while first < terms:
        end = max(first + 1, int(np.searchsorted(offsets, offsets[first] + most, side="right")) - 1)
        yield _piece(runs, offsets[first : end + 1], first)
        first = end


def _piece(runs: Sequence[Spilled], offsets: Int64s, first: int) -> tuple[Int32s, Frequencies]:
    """The postings of the terms from `first`, whose places in the whole are given."""
    from fwl.annotate.inverting import append_postings  # the compiler is loaded by those who need it

    free, size, end = offsets[:-1] - offsets[0], offsets[-1] - offsets[0], first + len(offsets) - 1
    items, frequencies = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.uint16)
    for run in runs:
        if run.terms > first:
            append_postings(*run.read(first, end), free, items, frequencies)
    return items, frequencies
