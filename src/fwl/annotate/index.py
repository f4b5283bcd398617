"""The inverted index that all ranking annotators share: for each term its documents, in order, and how often it occurs.

As a folder it is raw arrays and a manifest; its arrays are mapped, not read, and a collection that does not fit in
memory can be written to one directly.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np

from fwl.annotate.gathering import A_TOKEN, Documents, Gathering, Spilled, merged
from fwl.annotate.index_folder import Arrays, Writer, output_told, read_arrays, writing
from fwl.annotate.names import Names
from fwl.annotate.postings import Int32s, Int64s, Postings, offsets_of
from fwl.errors import InvalidInput, OutputTrouble, WrongShape

MEGABYTE = 2**20


@dataclass(frozen=True, eq=False)
class InvertedIndex:
    """Which documents hold which terms.

    >>> index = InvertedIndex.of([("one", ["good", "day", "good"]), ("two", ["day"])])
    >>> places = slice(*index.postings.offsets[index.numbers["good"] :][:2])
    >>> index.postings.items[places], index.postings.frequencies[places], list(index.terms)
    (array([0], dtype=int32), array([2], dtype=uint16), ['good', 'day'])

    Attributes:
        documents: the ids, by the documents' numbers.
        lengths: the number of tokens of each document, [N].
        terms: by their numbers: the order in which they first came.
        postings: for each term its documents.
        settings: whatever the caller wants to find again, such as how the documents were tokenised.
    """

    documents: Names
    lengths: Int32s
    terms: Names
    postings: Postings
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        N, T = len(self.lengths), len(self.postings.offsets) - 1
        if len(self.documents) != N or self.postings.range != N or len(self.terms) != T:
            raise WrongShape(
                f"index: expected an id and a length for each of {self.postings.range} documents and a name for each "
                f"of {T} terms, got {len(self.documents)}, {N} and {len(self.terms)}"
            )
        self.lengths.flags.writeable = False

    @classmethod
    def of(cls, documents: Documents, settings: Mapping[str, Any] | None = None) -> Self:
        """Index documents (id and tokens) in memory. One without tokens is kept and never found."""
        ids = bytearray()
        gathering = Gathering(ids.extend)
        (run,) = gathering.runs(documents)
        names = Names(np.frombuffer(ids, dtype=np.uint8), gathering.id_ends)
        gathering.check_ids(names)
        vocabulary = gathering.vocabulary()
        return cls(names, run.lengths, vocabulary, run.postings(len(vocabulary)), settings or {})

    @classmethod
    def write(
        cls,
        documents: Documents,
        folder: str | os.PathLike[str],
        settings: Mapping[str, Any] | None = None,
        memory_mb: float = 1024,
    ) -> Self:
        """Index documents that come one at a time into a folder, and open it; the same index that `of` makes.

        Args:
            documents: id and tokens of each; gone through once.
            folder: an index that is there is replaced.
            settings: what JSON can hold.
            memory_mb: the most that postings may take meanwhile; the vocabulary, some forty bytes for each document
                and a term that has more documents than that holds come on top.
        """
        if not memory_mb > 0:
            raise InvalidInput(f"memory_mb: expected a number above 0, got {memory_mb}")
        most = max(1, int(memory_mb * MEGABYTE) // A_TOKEN)
        with writing(folder, settings or {}) as out:
            gathering = Gathering(partial(out.append, "document_ids"))
            with TemporaryDirectory(dir=out.folder) as aside:
                runs = _spill(gathering, documents, most, Path(aside), out)
                gathering.check_ids(Names(out.mapped("document_ids"), gathering.id_ends))
                _merge(runs, gathering.terms, most, out)
            _append(out, gathering.id_ends, gathering.lengths, gathering.vocabulary())
        return cls.load(folder)

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the index; a folder that was there is replaced if it held one."""
        with writing(folder, self.settings) as out:
            out.append("document_ids", self.documents.text)
            out.append("offsets", self.postings.offsets)
            out.append("documents", self.postings.items)
            out.append("frequencies", self.postings.frequencies)
            _append(out, self.documents.ends, self.lengths, self.terms)
        return Path(folder)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Map an index, if it is whole, unchanged and not from a newer version."""
        settings, arrays = read_arrays(folder)
        try:
            return cls._mapped(settings, arrays)
        except InvalidInput as error:
            raise OutputTrouble(f"{folder} is no index of this package ({error}); build it again") from error

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each term."""
        return {term: number for number, term in enumerate(self.terms)}

    @cached_property
    def document_frequencies(self) -> Int64s:
        """How many documents hold each term."""
        return np.diff(self.postings.offsets)

    @cached_property
    def forward(self) -> Postings:
        """For each document its terms: the same postings once more, in memory, made when first asked for."""
        return self.postings.transposed()

    def document_numbers(self, ids: Iterable[str]) -> Int32s:
        """The numbers of documents by their ids."""
        known = self._by_id
        asked = list(ids)
        unknown = next((name for name in asked if name not in known), None)
        if unknown is not None:
            raise InvalidInput(f"document id {unknown!r} is not among the {len(known)} of the index")
        return np.array([known[name] for name in asked], dtype=np.int32)

    @cached_property
    def _by_id(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.documents)}

    @classmethod
    def _mapped(cls, settings: Mapping[str, Any], arrays: Arrays) -> Self:
        postings = Postings(arrays["offsets"], arrays["documents"], arrays["frequencies"], len(arrays["lengths"]))
        documents = Names(arrays["document_ids"], arrays["document_id_ends"])
        return cls(documents, arrays["lengths"], Names(arrays["terms"], arrays["term_ends"]), postings, settings)


def _spill(gathering: Gathering, documents: Documents, most: int, aside: Path, out: Writer) -> list[Spilled]:
    """Every run's postings in a folder of their own; only one run is in memory at a time."""
    runs: list[Spilled] = []
    for run in gathering.runs(documents, most):
        with output_told(out.target):
            runs.append(Spilled.write(run.postings(gathering.terms), aside / str(len(runs))))
        del run  # or it would stay while the next one is gathered
    return runs


def _merge(runs: list[Spilled], terms: int, most: int, out: Writer) -> None:
    with output_told(out.target):
        counts = np.zeros(terms, dtype=np.int64)
        for run in runs:
            counts += run.counts(terms)
        offsets = offsets_of(counts)
        out.append("offsets", offsets)
        for documents, frequencies in merged(runs, offsets, most):
            out.append("documents", documents)
            out.append("frequencies", frequencies)
            del documents, frequencies  # or they would stay while the next ones are merged


def _append(out: Writer, id_ends: Int64s, lengths: Int32s, terms: Names) -> None:
    """What is small."""
    out.append("document_id_ends", id_ends)
    out.append("lengths", lengths)
    out.append("terms", terms.text)
    out.append("term_ends", terms.ends)
