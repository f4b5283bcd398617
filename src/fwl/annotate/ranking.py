"""What the ranking annotators share: queries as weighted terms, hits, and the loops over many queries on all cores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs

from fwl.annotate.index import InvertedIndex
from fwl.annotate.postings import Int32s, Int64s, Postings, offsets_of
from fwl.errors import InvalidInput, WrongShape

Query = Sequence[str] | Mapping[str, float]
Scores = npt.NDArray[np.float32]
FREQUENCIES = 65536  # that are told apart
BATCH = 32  # queries answered between two copies
LARGEST = 1e30  # sum of a query's weights: far below what single precision overflows at

_Result = TypeVar("_Result")


class Hits(NamedTuple):
    """What a query found, best first; of equal scores the first document. Both are empty if nothing was found.

    Attributes:
        documents: their numbers in the index, [n].
        scores: all above 0, [n].
    """

    documents: Int32s
    scores: Scores


@dataclass(frozen=True, eq=False)
class Bags:
    """Weighted terms of many queries, end to end.

    Attributes:
        starts: where each query starts and the last one ends, [Q + 1].
        terms: their numbers, each once in a query, [T].
        weights: above 0, [T].
    """

    starts: Int64s
    terms: Int32s
    weights: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def of(self, query: int) -> slice:
        """Where a query's terms are."""
        return slice(int(self.starts[query]), int(self.starts[query + 1]))

    def sums(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """For each of the terms [T] the sum of the values [T] over its query."""
        query = np.repeat(np.arange(len(self)), np.diff(self.starts))
        return np.asarray(np.bincount(query, values, len(self))[query], dtype=np.float64)

    def weighted(self, weights: npt.NDArray[np.float64]) -> Bags:
        """The same terms with other weights; terms that weigh nothing are gone."""
        kept = weights > 0
        kept_before = offsets_of(kept.astype(np.int64))
        return Bags(kept_before[self.starts], self.terms[kept], weights[kept])

    def heaviest_first(self, largest: Scores) -> Bags:
        """The same terms, those of each query first that may add most to a score: their weight times `largest` [T]."""
        query = np.repeat(np.arange(len(self)), np.diff(self.starts))
        order = np.lexsort((-self.weights * largest[self.terms], query))
        return Bags(self.starts, self.terms[order], self.weights[order])


@dataclass(frozen=True, eq=False)
class Worth:
    """A posting is worth weight * gain[f] / (rise[f] + spread[d]) for a term that document d holds f times.

    Attributes:
        gain: by frequency, [65536].
        rise: by frequency, [65536].
        spread: by document, [N].
    """

    gain: Scores
    rise: Scores
    spread: Scores

    @property
    def arrays(self) -> tuple[Scores, Scores, Scores]:
        """As the compiled loops take them."""
        return self.gain, self.rise, self.spread


class Ranking(ABC):
    """Ranks the documents of an index; what a query's terms weigh is its own.

    Attributes:
        index: of the documents to rank.
        worth: of a posting.
    """

    def __init__(self, index: InvertedIndex, worth: Worth) -> None:
        self.index, self.worth = index, worth

    def search(self, queries: Sequence[Query], k: int = 1000, workers: int = -1) -> list[Hits]:
        """The best k documents of every query; fewer where fewer match.

        Args:
            queries: tokens, or weights by token.
            k: the most hits of a query.
            workers: threads; -1 for one per core. The numbers do not depend on it.
        """
        _check_k(k)
        bags = self.bags(queries, workers).heaviest_first(self._largest)
        return rank(self.index.postings, self.worth, bags, k, workers, self._largest)

    def score(self, queries: Sequence[Query], documents: Sequence[npt.ArrayLike], workers: int = -1) -> list[Scores]:
        """What `search` would give documents by their numbers, for each query its own; 0 where nothing matches."""
        bags = self.bags(queries, workers).heaviest_first(self._largest)
        return score(self.index.postings, self.worth, bags, documents, workers)

    @cached_property
    def _largest(self) -> Scores:
        """The most that a posting of each term is worth at a weight of 1, [T]; a pass over all when first asked."""
        from fwl.annotate.scoring import largest_worths  # the compiler is loaded by those who need it

        return largest_worths(self.index.postings.arrays, self.worth.arrays)

    @abstractmethod
    def bags(self, queries: Sequence[Query], workers: int) -> Bags:
        """The terms of every query and what each weighs."""


def as_bags(queries: Iterable[Query], numbers: Mapping[str, int], weigh: Callable[[int], float] = float) -> Bags:
    """Queries as weighted terms; those that the index does not know are left out.

    Args:
        queries: tokens, or weights by token.
        numbers: of the terms that the index knows.
        weigh: the weight of a token by how often it comes.
    """
    lengths, terms, weights = [], [], []
    for query in queries:
        bag = _weights_of(query, weigh)
        known = [(numbers[term], weight) for term, weight in bag.items() if weight and term in numbers]
        lengths.append(len(known))
        terms += [term for term, _ in known]
        weights += [weight for _, weight in known]
    starts = offsets_of(np.array(lengths, dtype=np.int64))
    return Bags(starts, np.array(terms, dtype=np.int32), np.array(weights, dtype=np.float64))


def rank(
    postings: Postings, worth: Worth, bags: Bags, k: int, workers: int = 1, largest: Scores | None = None
) -> list[Hits]:
    """The best k documents of every query; with the `largest` worth of each term's postings [T] it is found sooner."""
    _check_weights(bags)
    batches = [range(start, min(start + BATCH, len(bags))) for start in range(0, len(bags), BATCH)]
    count = max(1, min(effective_n_jobs(workers), len(batches)))
    weights = bags.weights.astype(np.float32)
    most = np.full_like(weights, np.inf) if largest is None else weights * largest[bags.terms]

    def answer(worker: int) -> list[list[Hits]]:
        ranker = _Ranker(postings, worth, min(k, max(1, postings.range)))
        return [ranker.answer(bags, weights, most, batch) for batch in batches[worker::count]]

    answers = _on_threads(answer, count)
    return [hits for number in range(len(batches)) for hits in answers[number % count][number // count]]


def score(
    postings: Postings, worth: Worth, bags: Bags, asked: Sequence[npt.ArrayLike], workers: int = 1
) -> list[Scores]:
    """The scores of given documents, for each query its own; 0 where nothing matches."""
    from fwl.annotate.scoring import score_each  # the compiler is loaded by those who need it

    _check_weights(bags)
    documents, starts = _as_documents(asked, len(bags), postings.range)
    found = np.empty(len(documents), dtype=np.float32)
    count = max(1, min(effective_n_jobs(workers), len(bags)))
    weights = bags.weights.astype(np.float32)

    def answer(worker: int) -> None:
        first, end = (len(bags) * place // count for place in (worker, worker + 1))
        some = bags.starts[first : end + 1], bags.terms, weights
        score_each(some, postings.arrays, worth.arrays, (starts[first : end + 1], documents), found)

    _on_threads(answer, count)
    return np.split(found, starts[1:-1]) if len(bags) else []


class _Ranker:
    """One thread's room to work in, used for query after query."""

    def __init__(self, postings: Postings, worth: Worth, k: int) -> None:
        N = postings.range
        self._index = postings.arrays, worth.arrays
        self._room = (
            np.zeros(N, dtype=np.float32),
            np.empty(N + 1, dtype=np.int32),
            np.empty(N + 1, dtype=np.float32),
            np.empty(N, dtype=np.uint64),
        )
        self._out = np.empty((BATCH, k), np.int32), np.empty((BATCH, k), np.float32), np.empty(BATCH, np.int64)

    def answer(self, bags: Bags, weights: Scores, most: Scores, batch: range) -> list[Hits]:
        from fwl.annotate.scoring import best_of_each  # the compiler is loaded by those who need it

        queries = bags.starts[batch.start : batch.stop + 1], bags.terms, weights, most
        best_of_each(queries, *self._index, self._room, self._out)
        documents, scores, counts = self._out
        return [Hits(documents[i, :n].copy(), scores[i, :n].copy()) for i, n in enumerate(counts[: len(batch)])]


def _on_threads(work: Callable[[int], _Result], count: int) -> list[_Result]:
    """Work numbered from 0, each on a thread of its own; the compiled loops let go of the interpreter."""
    if count == 1:
        return [work(0)]
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))


def _check_k(k: int) -> None:
    if k < 1:
        raise InvalidInput(f"k: expected at least 1 document to look for, got {k}")


def _weights_of(query: Query, weigh: Callable[[int], float]) -> Mapping[str, float]:
    if isinstance(query, str):
        raise InvalidInput(f"query {query!r}: expected its tokens, or weights by token, got a text; tokenise it first")
    if not isinstance(query, Mapping):
        return {term: weigh(count) for term, count in Counter(query).items()}
    for term, weight in query.items():
        if not 0 <= weight <= LARGEST:
            raise InvalidInput(f"query: expected weights from 0 to {LARGEST:g}, got {weight} for {term!r}")
    return query


def _check_weights(bags: Bags) -> None:
    if bags.weights.size and not bags.sums(bags.weights).max() <= LARGEST:
        raise InvalidInput(f"query: expected weights of a sum up to {LARGEST:g} in single precision; divide them")


def _as_documents(asked: Sequence[npt.ArrayLike], queries: int, documents: int) -> tuple[Int32s, Int64s]:
    """Document numbers of all queries end to end, and where each query's start."""
    if len(asked) != queries:
        raise WrongShape(f"documents: expected some for each of {queries} queries, got {len(asked)}")
    arrays: list[npt.NDArray[Any]] = [np.asarray(numbers).reshape(-1) for numbers in asked]
    strange = next((array.dtype for array in arrays if array.size and array.dtype.kind not in "iu"), None)
    if strange is not None:
        raise InvalidInput(f"documents: expected their whole numbers, got {strange}")
    flat = np.concatenate([np.empty(0, dtype=np.int64), *(array.astype(np.int64) for array in arrays)])
    if flat.size and not 0 <= flat.min() <= flat.max() < documents:
        raise InvalidInput(f"documents: expected numbers from 0 to {documents - 1}, got {flat.min()} to {flat.max()}")
    return flat.astype(np.int32), offsets_of(np.array([len(array) for array in arrays], dtype=np.int64))
