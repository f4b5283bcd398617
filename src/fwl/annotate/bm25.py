"""BM25: terms count by how rare they are, and less the more often they came already or the longer the document is."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fwl.annotate.index import InvertedIndex
from fwl.annotate.ranking import FREQUENCIES, Bags, Query, Ranking, Worth, as_bags
from fwl.errors import InvalidInput


class BM25(Ranking):
    """Robertson's formula, with an idf that is never negative, as Lucene has it.

    The sum over a query's terms of

        log(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 (1 - b + b length / mean length)) * (k3 + 1) q / (k3 + q)

    for a term in n of N documents that comes f times in the document and q times in the query.

    >>> index = InvertedIndex.of([("one", ["good", "day", "good"]), ("two", ["day"]), ("three", [])])
    >>> hits, nothing = BM25(index).search([["good", "day"], ["night"]])
    >>> [index.documents[number] for number in hits.documents], len(nothing.documents)
    (['one', 'two'], 0)

    Args:
        index: of the documents to rank.
        k1: how soon further occurrences of a term stop counting.
        b: how much the length of a document counts, from 0 to 1.
        k3: how soon further occurrences in the query stop counting.
    """

    def __init__(self, index: InvertedIndex, k1: float = 1.2, b: float = 0.75, k3: float = 1000.0) -> None:
        _check_settings(k1, b, k3)
        super().__init__(index, _worth(index, k1, b))
        self.k1, self.b, self.k3 = k1, b, k3
        self.idf = _idf(index)

    def bags(self, queries: Sequence[Query], workers: int) -> Bags:  # noqa: ARG002
        """Idf times what a term's occurrences in the query count."""
        bags = as_bags(queries, self.index.numbers)
        factor = (self.k3 + 1) / (self.k3 + bags.weights) * bags.weights
        return bags.weighted(self.idf[bags.terms] * factor)


def _idf(index: InvertedIndex) -> npt.NDArray[np.float64]:
    N, n = len(index.lengths), index.document_frequencies
    return np.log1p((N - n + 0.5) / (n + 0.5))


def _worth(index: InvertedIndex, k1: float, b: float) -> Worth:
    frequency = np.arange(FREQUENCIES, dtype=np.float32)
    mean = index.lengths.mean() or 1.0  # all of them empty: nothing is ever found
    spread = k1 * (1 - b + b * index.lengths / mean)
    return Worth(frequency, frequency, spread.astype(np.float32))


def _check_settings(k1: float, b: float, k3: float) -> None:
    if not (0 <= k1 < math.inf and 0 <= k3 < math.inf):
        raise InvalidInput(f"k1 and k3: expected finite numbers from 0 up, got {k1} and {k3}")
    if not 0 <= b <= 1:
        raise InvalidInput(f"b: expected a number from 0 to 1, got {b}")
