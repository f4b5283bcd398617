"""RM3: a query is widened by the terms that stand out in its best documents, and asked again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fwl.annotate.bm25 import BM25
from fwl.annotate.index import InvertedIndex
from fwl.annotate.postings import Int32s, offsets_of
from fwl.annotate.ranking import FREQUENCIES, Bags, Hits, Query, Ranking, Worth, as_bags, rank
from fwl.errors import InvalidInput


class RM3(Ranking):
    """Pseudo-relevance feedback over BM25 (Lavrenko and Croft's relevance model, mixed with the query itself).

    A term weighs the sum over the best documents of f / length * score, where it comes f times in a document of that
    BM25 score. The heaviest terms are kept, brought to sum 1, and mixed with the query, itself at sum 1; BM25 ranks by
    the mixture, in which weights count as they are.

    It needs every document's terms (`InvertedIndex.forward`): six bytes of memory for each posting.

    Args:
        index: of the documents to rank.
        documents: how many of the best are believed.
        terms: how many of theirs are kept.
        original: the query's own share of the mixture, from 0 to 1.
        k1: of BM25.
        b: of BM25.
    """

    def __init__(
        self,
        index: InvertedIndex,
        documents: int = 10,
        terms: int = 10,
        original: float = 0.5,
        k1: float = 1.2,
        b: float = 0.75,
    ) -> None:
        _check_settings(documents, terms, original)
        self._bm25 = BM25(index, k1, b)
        super().__init__(index, self._bm25.worth)
        self.documents, self.terms, self.original = documents, terms, original

    def bags(self, queries: Sequence[Query], workers: int) -> Bags:
        """Idf times the weight in the mixture."""
        mixture = self._mixture(as_bags(queries, self.index.numbers), self._models(queries, workers))
        return mixture.weighted(self._bm25.idf[mixture.terms] * mixture.weights)

    def _models(self, queries: Sequence[Query], workers: int) -> list[Hits]:
        """The heaviest terms of every query's best documents: the same search, among documents for terms."""
        found = self._bm25.search(queries, self.documents, workers)
        believed = _end_to_end([(hits.documents, hits.scores / self.index.lengths[hits.documents]) for hits in found])
        forward = self.index.forward
        frequency = np.arange(FREQUENCIES, dtype=np.float32)
        counting = Worth(frequency, np.zeros_like(frequency), np.ones(forward.range, dtype=np.float32))
        return rank(forward, counting, believed, self.terms, workers)

    def _mixture(self, queries: Bags, models: list[Hits]) -> Bags:
        parts = []
        for i, model in enumerate(models):
            own = queries.of(i)
            terms = np.concatenate([queries.terms[own], model.documents])
            weights = np.concatenate(
                [
                    self.original * _at_sum_one(queries.weights[own]),
                    (1 - self.original) * _at_sum_one(model.scores),
                ]
            )
            different, place = np.unique(terms, return_inverse=True)
            parts.append((different, np.bincount(place, weights, len(different)).astype(np.float64)))
        return _end_to_end(parts)


def _at_sum_one(weights: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float64]:
    whole = weights.astype(np.float64)
    return np.asarray(whole / whole.sum())


def _end_to_end(parts: Sequence[tuple[Int32s, npt.NDArray[np.floating[Any]]]]) -> Bags:
    """Numbers and weights of every query as one record."""
    starts = offsets_of(np.array([len(terms) for terms, _ in parts], dtype=np.int64))
    terms = np.concatenate([np.empty(0, dtype=np.int32), *(terms for terms, _ in parts)])
    return Bags(starts, terms, np.concatenate([np.empty(0), *(weights for _, weights in parts)]))


def _check_settings(documents: int, terms: int, original: float) -> None:
    if min(documents, terms) < 1:
        raise InvalidInput(f"documents and terms: expected at least 1 of each, got {documents} and {terms}")
    if not 0 <= original <= 1:
        raise InvalidInput(f"original: expected a share from 0 to 1, got {original}")
