"""Pairs of documents and which one is preferred: weak ones from an annotator's rankings, strong ones from judgments.

A ranking of 1,000 documents holds half a million pairs, so weak pairs are drawn when they are needed and never listed.
A sample is (query, document+, document-), three whole numbers, and its label the probability that document+ is
preferred. Either document may be the better one: a student that reads both side by side would otherwise learn to say
yes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from fwl.errors import InvalidInput, NotFinite, UnknownName, WrongShape
from fwl.randomness import Chance
from fwl.records import Array, WeakSet

Integers = npt.NDArray[np.integer[Any]]
Pairs = npt.NDArray[np.int32]
Ranked = tuple[Integers, npt.NDArray[np.floating[Any]]]


def ratio(plus: Array, minus: Array) -> Array:
    """The paper's: document+'s share of both scores, which are not negative; one half if both are 0."""
    both = plus + minus
    return np.where(both > 0, plus / np.where(both > 0, both, 1.0), 0.5)


def sigmoid(plus: Array, minus: Array) -> Array:
    """By the difference of the scores alone: 0.73 where document+'s is higher by 1."""
    return np.asarray(expit(plus - minus))


def hard(plus: Array, minus: Array) -> Array:
    """One for the higher score, none for the lower, one half for equal ones."""
    return (1.0 + np.sign(plus - minus)) / 2.0


TARGETS: dict[str, Callable[[Array, Array], Array]] = {"ratio": ratio, "sigmoid": sigmoid, "hard": hard}


class WeakPairs:
    """Pairs of documents that an annotator scored differently, drawn whenever they are asked for.

    Queries come up equally often; of one, any two retrieved documents of different scores may meet, in either order.
    What is held are the rankings. Queries with fewer than two different scores prefer nothing and are left out.

    >>> rankings = [(np.array([7, 3, 5]), np.array([6.0, 2.0, 2.0])), (np.array([1]), np.array([4.0]))]
    >>> weak = WeakPairs(rankings, chance=Chance(0))
    >>> weak.skipped
    1
    >>> pairs, label = weak.draw(1000)
    >>> np.unique(np.column_stack([pairs, label]), axis=0)
    array([[0.  , 3.  , 7.  , 0.25],
           [0.  , 5.  , 7.  , 0.25],
           [0.  , 7.  , 3.  , 0.75],
           [0.  , 7.  , 5.  , 0.75]])

    Attributes:
        skipped: how many queries were left out.

    Args:
        rankings: for each query, the numbers of the documents that it retrieves and their scores, in any order. Scores
            of a query with a negative one are raised by as much, so that its lowest is 0.
        queries: the number of each query; their places by default.
        target: a name in `TARGETS`: how two scores become a label.
        scale: scores are divided by it, which matters to "sigmoid" alone.
        unretrieved: the share of pairs in which one document is any that its query does not retrieve, with a score
            of 0.
        documents: how many there are in all, from which the unretrieved are drawn.
        chance: where pairs are drawn from.
    """

    def __init__(
        self,
        rankings: Iterable[Ranked],
        queries: Integers | None = None,
        target: str = "ratio",
        scale: float = 1.0,
        unretrieved: float = 0.0,
        documents: int | None = None,
        *,
        chance: Chance,
    ) -> None:
        _check_settings(target, scale, unretrieved, documents)
        self.target, self.scale, self.unretrieved, self.chance = TARGETS[target], scale, unretrieved, chance
        rows = list(rankings)
        numbers = _as_queries(np.arange(len(rows)) if queries is None else queries, len(rows))
        sorted_ = {int(q): _sorted(int(q), ranked, documents) for q, ranked in zip(numbers, rows, strict=True)}
        kept = {query: row for query, row in sorted_.items() if row is not None}
        self.skipped = len(rows) - len(kept)
        if not kept:
            raise InvalidInput(
                f"weak pairs: none of {len(rows)} queries has two documents of different scores; "
                "ask the annotator for more of each, or other queries"
            )
        self._table = _as_table(kept, documents if unretrieved else None)

    def draw(self, n: int, step: int = 0) -> tuple[Pairs, Array]:
        """Pairs [n, 3] and their labels [n, 1]; the same step gives the same ones again."""
        if n < 1:
            raise InvalidInput(f"pairs: expected to draw at least 1, got {n}")
        table, rng = self._table, self.chance.child("pairs", step).numpy()
        query = rng.integers(len(table.queries), size=n)
        alone = (rng.random(n) < self.unretrieved) & (table.missing[query] > 0)
        one = rng.integers(np.where(alone, table.positive[query], table.lengths[query]))
        entries = np.stack([table.offsets[query] + one, table.unequal(query, one, rng)])
        documents, scores = table.documents[entries], table.scores[entries].astype(np.float64) / self.scale
        documents[1, alone], scores[1, alone] = table.unretrieved(query[alone], rng), 0.0
        turned = rng.random(n) < 0.5
        documents[:, turned], scores[:, turned] = documents[::-1, turned], scores[::-1, turned]
        return np.column_stack([table.queries[query], *documents]), self.target(*scores)[:, None]

    def weak_set(self, n: int, step: int = 0) -> WeakSet:
        """Drawn pairs with their labels, as the rest of the package takes them."""
        return WeakSet(*self.draw(n, step))

    def weak_sets(self, n: int, start: int = 0) -> Iterator[WeakSet]:
        """One set of n pairs after the other, without end, for trainings that shall see more pairs than memory holds.

        Args:
            n: pairs of a set; a million take 20 MB.
            start: the step of the first set, for a training that goes on where it was interrupted.
        """
        return (self.weak_set(n, step) for step in count(start))


def strong_pairs(
    queries: Integers,
    relevant: Sequence[Integers],
    others: Sequence[Integers],
    *,
    most: int | None = None,
    both_orders: bool = True,
    chance: Chance,
) -> tuple[Pairs, Array]:
    """Pairs [M, 3] and their labels [M, 1] from judgments, as in the paper.

    All documents that are judged relevant to a query meet as many that are judged not to be, each each. A query
    without either gives none.

    Args:
        queries: the number of each judged query.
        relevant: the numbers of the documents that are relevant to it.
        others: the numbers of those that were judged and are not.
        most: pairs of a query, at the most, drawn from all of it; None for all.
        both_orders: each pair a second time with its documents exchanged and the label 0. Without it all labels are 1,
            which serves a student that turns round with the pair, and no other.
        chance: where documents that are not relevant, and pairs, are drawn from.
    """
    if most is not None and most < 1:
        raise InvalidInput(f"most: expected at least 1 pair of a query, or None for all, got {most}")
    numbers = _as_queries(queries, len(relevant))
    if len(others) != len(relevant):
        raise WrongShape(f"judgments: {len(relevant)} lists of relevant documents and {len(others)} of others")
    blocks = [
        _pairs_of(int(query), yes, no, most, chance.child("query", int(query)))
        for query, yes, no in zip(numbers, relevant, others, strict=True)
    ]
    pairs = np.concatenate([np.empty((0, 3), dtype=np.int32), *blocks])
    if not len(pairs):
        raise InvalidInput(
            f"strong pairs: none of {len(numbers)} queries has a relevant document and another; "
            "judge some documents as not relevant too"
        )
    label = np.ones((len(pairs), 1))
    if not both_orders:
        return pairs, label
    return np.concatenate([pairs, pairs[:, [0, 2, 1]]]), np.concatenate([label, 1.0 - label])


def _pairs_of(query: int, relevant: Integers, others: Integers, most: int | None, chance: Chance) -> Pairs:
    """One query's pairs, the relevant document first."""
    yes, no = (_as_documents(numbers, f"judgments of query {query}") for numbers in (relevant, others))
    twice = np.intersect1d(yes, no)
    if len(twice):
        raise InvalidInput(f"judgments of query {query}: document {twice[0]} is both relevant and not")
    rng = chance.numpy()
    met = rng.choice(no, min(len(yes), len(no)), replace=False)
    combinations = np.arange(len(yes) * len(met))
    if most is not None and most < len(combinations):
        combinations = np.sort(rng.choice(combinations, most, replace=False))
    first, second = np.divmod(combinations, max(1, len(met)))
    return np.column_stack([np.full(len(combinations), query), yes[first], met[second]]).astype(np.int32)


def _check_settings(target: str, scale: float, unretrieved: float, documents: int | None) -> None:
    if target not in TARGETS:
        raise UnknownName("target", target, TARGETS)
    if not 0 < scale < np.inf:
        raise InvalidInput(f"scale: expected a number above 0, got {scale}")
    if not 0 <= unretrieved <= 1:
        raise InvalidInput(f"unretrieved: expected a share from 0 to 1, got {unretrieved}")
    if unretrieved and documents is None:
        raise InvalidInput("unretrieved documents can only be drawn if `documents` says how many there are in all")


@dataclass(frozen=True, eq=False)
class _Row:
    """One query's ranking, the best document first."""

    documents: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class _Table:
    """All rankings, one after the other, and what drawing from them needs.

    Attributes:
        queries: their numbers, [Q].
        offsets: where each query's entries begin, and the end of the last's, [Q + 1].
        documents: the document of each entry, [E].
        scores: its score, [E].
        first: the place in its ranking of the first entry with that score, [E].
        equal: how many entries have that score, [E].
        positive: how many entries of a query have a score above 0, [Q].
        missing: how many documents a query does not retrieve, [Q]; 0 where that is not asked.
        gaps: a number for each entry that ascends: its query's, and how many documents with smaller numbers than the
            entry's are missing, the retrieved ones ordered by number, [E].
        width: a query's share of the range of `gaps`.
    """

    queries: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float32]
    first: npt.NDArray[np.int32]
    equal: npt.NDArray[np.int32]
    positive: npt.NDArray[np.int64]
    missing: npt.NDArray[np.int64]
    gaps: npt.NDArray[np.int64]
    width: int

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        return np.diff(self.offsets)

    def unequal(self, query: Integers, place: Integers, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """For each place in a query's ranking, any entry of that ranking with another score."""
        start = self.offsets[query]
        first, equal = self.first[start + place], self.equal[start + place]
        other = rng.integers(self.offsets[query + 1] - start - equal)
        return np.asarray(start + other + np.where(other >= first, equal, 0))  # over those of the same score

    def unretrieved(self, query: Integers, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """For each query, any document that it does not retrieve: the missing one of a drawn rank."""
        rank = rng.integers(self.missing[query])
        retrieved_before = np.searchsorted(self.gaps, query * self.width + rank, side="right") - self.offsets[query]
        return np.asarray(rank + retrieved_before)


def _as_table(rows: dict[int, _Row], documents: int | None) -> _Table:
    """The rankings by the numbers of their queries; `documents` where unretrieved ones shall be drawn."""
    lengths = np.array([len(row.documents) for row in rows.values()])
    offsets = np.append(0, np.cumsum(lengths))
    scores = np.concatenate([row.scores for row in rows.values()])
    begins = np.append(True, scores[1:] != scores[:-1])
    begins[offsets[:-1]] = True
    starts = np.flatnonzero(begins)
    sizes = np.diff(starts, append=len(scores))
    width = 0 if documents is None else documents + 1
    gaps = [place * width + _gaps(row) for place, row in enumerate(rows.values())] if width else [np.empty(0, int)]
    return _Table(
        queries=np.array(list(rows), dtype=np.int32),
        offsets=offsets,
        documents=np.concatenate([row.documents for row in rows.values()]),
        scores=scores,
        first=(np.repeat(starts, sizes) - np.repeat(offsets[:-1], lengths)).astype(np.int32),
        equal=np.repeat(sizes, sizes).astype(np.int32),
        positive=np.add.reduceat((scores > 0).astype(np.int64), offsets[:-1]),
        missing=np.zeros_like(lengths) if documents is None else documents - lengths,
        gaps=np.concatenate(gaps),
        width=width,
    )


def _gaps(row: _Row) -> npt.NDArray[np.int64]:
    """How many documents are missing before each retrieved one, by number."""
    return np.sort(row.documents) - np.arange(len(row.documents))


def _sorted(query: int, ranked: Ranked, documents: int | None) -> _Row | None:
    """A query's ranking from the best document down, no score below 0; None if all scores are equal."""
    what = f"ranking of query {query}"
    numbers, scores = _as_documents(ranked[0], what), np.asarray(ranked[1], dtype=np.float32)
    if scores.shape != numbers.shape:
        raise WrongShape(f"{what}: expected a score for each of {len(numbers)} documents, got shape {scores.shape}")
    if not np.isfinite(scores).all():
        raise NotFinite(f"{what}: NaN or infinity among its scores; leave such documents out")
    if documents is not None and len(numbers) and numbers.max() >= documents:
        raise InvalidInput(f"{what}: document {numbers.max()} is not among {documents} (0 to {documents - 1})")
    raised = scores - min(0.0, scores.min(initial=0.0))
    if len(np.unique(raised)) < 2:
        return None
    order = np.lexsort((numbers, -raised))
    return _Row(numbers[order], raised[order])


def _as_documents(numbers: Integers, what: str) -> npt.NDArray[np.int32]:
    """Document numbers of one query: whole, not negative, each once."""
    given = np.asarray(numbers)
    if given.ndim != 1 or (given.dtype.kind not in "iu" and given.size):
        raise WrongShape(f"{what}: expected whole numbers of documents, got {given.dtype} of shape {given.shape}")
    ordered = np.sort(given)
    if given.size and (ordered[0] < 0 or ordered[-1] > np.iinfo(np.int32).max):
        raise InvalidInput(f"{what}: documents are numbered from 0 up to 2**31 - 1, got {ordered[0]} to {ordered[-1]}")
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    if len(repeated):
        raise InvalidInput(f"{what}: document {repeated[0]} is named twice")
    return given.astype(np.int32)


def _as_queries(numbers: Integers, expected: int) -> npt.NDArray[np.int32]:
    """Query numbers, one for each of so many lists, each once."""
    given = np.asarray(numbers)
    if given.shape != (expected,) or (given.dtype.kind not in "iu" and given.size):
        raise WrongShape(
            f"queries: expected a whole number for each of {expected} lists, got {given.dtype} of shape {given.shape}"
        )
    if given.size and (given.min() < 0 or len(np.unique(given)) < len(given)):
        raise InvalidInput("queries: expected numbers from 0 up, each once")
    return given.astype(np.int32)
