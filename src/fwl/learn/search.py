"""A ranker whole: documents that can be asked, and the model that fuses and corrects what they say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fwl.errors import InvalidInput
from fwl.learn.search_auto import DEPTH, SearchModel, ranking_of
from fwl.learn.search_encoder import Encoding
from fwl.learn.search_student import WeakStudent
from fwl.learn.searcher import Matrix, Searcher

AT_ONCE = 8_000_000  # pairs of a query and a document whose scores are held at a time

Ranked = tuple[npt.NDArray[np.int64], Matrix]


@dataclass(frozen=True, eq=False)
class Search:
    """Documents, and how they are ranked.

    Attributes:
        searcher: the documents.
        model: what it is to be ranked by.
        encoding: what the searcher's vectors come from, or None where it does without.
        student: who speaks beside the model, if anybody.
    """

    searcher: Searcher
    model: SearchModel
    encoding: Encoding | None = None
    student: WeakStudent | None = None

    def ranked(self, texts: Sequence[str], depth: int = DEPTH) -> Iterator[Ranked]:
        """The numbers and scores of the best documents for each query, some queries at a time; none may be found."""
        if depth < 1:
            raise InvalidInput(f"depth: expected at least 1 document, got {depth}")
        size = max(1, AT_ONCE // len(self.searcher.index.lengths))
        parts = (texts[start : start + size] for start in range(0, len(texts), size))
        return (ranked for part in parts for ranked in self._ranked(part, depth))

    def _ranked(self, texts: Sequence[str], depth: int) -> Iterator[Ranked]:
        scores, among = self.model.scores(self.searcher.ask(texts, self.model.fusion.names))
        if self.student is not None:
            scores = scores + np.float32(self.student.weight) * self.student.scores(texts, among)
        for row, documents in zip(scores, ranking_of(scores, among & self._speaking, depth), strict=True):
            yield documents, row[documents]

    @cached_property
    def _speaking(self) -> npt.NDArray[np.bool_]:
        """Which documents say anything; the cosine with one that does not is 0, which may be more than of others."""
        vectors, terms = self.searcher.document_vectors, self.searcher.index.lengths > 0
        return terms if vectors is None else terms | vectors.any(axis=1)
