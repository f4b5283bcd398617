"""The vector space model: the cosine between query and document, terms counted or weighted by TF-IDF."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fwl.annotate.index import InvertedIndex
from fwl.annotate.ranking import FREQUENCIES, Bags, Query, Ranking, Worth, as_bags
from fwl.errors import UnknownName

WEIGHTS = ("binary", "tfidf")


class VectorSpace(Ranking):
    """Cosine similarity; a document's score is from 0 to 1.

    A term that comes f times and is in n of N documents weighs 1 ("binary") or (1 + log f) log(N / n) ("tfidf"), in
    documents as in queries; a query that gives weights has them in place of the 1 and of the 1 + log f. Query terms
    that no document holds are left out.

    Args:
        index: of the documents to rank.
        weights: "binary" or "tfidf".
    """

    def __init__(self, index: InvertedIndex, weights: str = "tfidf") -> None:
        if weights not in WEIGHTS:
            raise UnknownName("weights", weights, WEIGHTS)
        plain = weights == "binary"
        self.weights = weights
        self._idf = _idf(index, plain)
        super().__init__(index, _worth(index, plain, self._idf))

    def bags(self, queries: Sequence[Query], workers: int) -> Bags:  # noqa: ARG002
        """The query's vector at length 1, times what the term weighs in documents beside its frequency."""
        bags = as_bags(queries, self.index.numbers, _one if self.weights == "binary" else _damped)
        vector = bags.weighted(bags.weights * self._idf[bags.terms])
        length = np.sqrt(vector.sums(vector.weights**2))
        return vector.weighted(vector.weights / length * self._idf[vector.terms])


def _idf(index: InvertedIndex, plain: bool) -> npt.NDArray[np.float64]:
    n = index.document_frequencies
    return np.ones(len(n)) if plain else np.log(len(index.lengths) / n)


def _worth(index: InvertedIndex, plain: bool, idf: npt.NDArray[np.float64]) -> Worth:
    """The gain of a term over the length of the document's vector."""
    from fwl.annotate.scoring import squares_of_documents  # the compiler is loaded by those who need it

    frequency = np.maximum(np.arange(FREQUENCIES), 1)
    gain = (np.ones(FREQUENCIES) if plain else 1 + np.log(frequency)).astype(np.float32)
    squares = squares_of_documents(index.postings.arrays, gain, idf, len(index.lengths))
    return Worth(gain, np.zeros_like(gain), np.sqrt(squares).astype(np.float32))


def _one(count: int) -> float:  # noqa: ARG001
    return 1.0


def _damped(count: int) -> float:
    return 1 + math.log(count)
