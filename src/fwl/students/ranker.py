"""The ranking student of the paper: which of two documents answers a query better.

Queries and documents are known by number, and their words lie in tables (`Bags`) that every copy of a student shares.
A sample is then three whole numbers, (query, document+, document-), so a million of them take 12 MB whatever the length
of the texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from fwl.errors import InvalidInput, NotFinite, UnknownName, WrongShape
from fwl.randomness import Chance
from fwl.records import Array
from fwl.students.contract import Student
from fwl.students.perceptron import INITIALISATIONS, bare_layer

TEXTS = 1024  # whose vectors are computed together where no gradient is needed
PAIRS = 8192  # of documents that go through a ranker's upper layers together
OPPONENTS = 32  # that every candidate of a ranking is compared with

Integers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Bags:
    """The words of many texts and how often each occurs, text after text, as a column-compressed table.

    >>> bags = Bags.of([[3, 1, 3], []])
    >>> bags.offsets.tolist(), bags.ids.tolist(), bags.counts.tolist()
    ([0, 2, 2], [1, 3], [1.0, 2.0])

    Attributes:
        offsets: where each text begins, and the end of the last, [N + 1].
        ids: word ids, ascending within a text, each once.
        counts: how often that word occurs in that text; above 0.
    """

    offsets: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int32]
    counts: npt.NDArray[np.float32]

    def __post_init__(self) -> None:
        for name, dtype in (("offsets", np.int64), ("ids", np.int32), ("counts", np.float32)):
            object.__setattr__(self, name, _as_column(getattr(self, name), name, dtype))
        starts, ends, size = self.offsets[:-1], self.offsets[1:], len(self.ids)
        if not len(self.offsets) or self.offsets[0] != 0 or self.offsets[-1] != size or (starts > ends).any():
            raise InvalidInput(f"offsets of bags of words rise from 0 to the number of their ids ({size})")
        if len(self.counts) != size:
            raise WrongShape(f"bags of words: expected a count for each of {size} ids, got {len(self.counts)}")
        if not ((self.counts > 0) & np.isfinite(self.counts)).all():
            raise InvalidInput("bags of words: counts are finite and above 0; leave out words that do not occur")
        rises = np.diff(self.ids) > 0
        rises[starts[(starts > 0) & (starts < size)] - 1] = True  # a text's first id may be anything
        if not rises.all() or (size and self.ids.min() < 0):
            raise InvalidInput("bags of words: the ids of a text rise from 0 up, each named once; see Bags.of")

    @classmethod
    def of(cls, texts: Iterable[Sequence[int] | Integers]) -> Self:
        """Count the word ids of each text; a text without any is an empty bag."""
        found = [np.unique(np.asarray(text, dtype=np.int32), return_counts=True) for text in texts]
        nothing = np.empty(0, dtype=np.int32)
        offsets = np.cumsum([0, *(len(ids) for ids, _ in found)])
        ids, counts = (
            np.concatenate([nothing, *columns]) for columns in ([i for i, _ in found], [c for _, c in found])
        )
        return cls(offsets, ids, counts)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # nobody changes it, and it may be larger than the student whose copy is made

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many different words each text has, [N]."""
        return np.diff(self.offsets)

    @property
    def owners(self) -> npt.NDArray[np.int64]:
        """The place of the text that each id belongs to."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, numbers: Integers) -> Bags:
        """The bags of some texts, in that order."""
        starts, ends = self.offsets[:-1][numbers], self.offsets[1:][numbers]
        lengths = ends - starts
        offsets = np.append(0, np.cumsum(lengths))
        entries = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        return Bags(offsets, self.ids[entries], self.counts[entries])

    def parts(self, size: int) -> Iterator[Bags]:
        """The same texts, so many at a time; no text is one empty part."""
        for start in range(0, max(1, len(self)), size):
            edges = self.offsets[start : start + size + 1]
            yield Bags(edges - edges[0], self.ids[edges[0] : edges[-1]], self.counts[edges[0] : edges[-1]])

    def followed_by(self, other: Bags) -> Bags:
        """Both tables as one."""
        offsets = np.append(self.offsets, self.offsets[-1] + other.offsets[1:])
        return Bags(offsets, np.append(self.ids, other.ids), np.append(self.counts, other.counts))


class WordMeans(nn.Module):
    """A text's vector: the mean of its words' vectors, each weighted by exp(omega) and by how often it occurs.

    Both the vectors and omega are learned, with gradients for the words that a batch has. A text without words is zero.

    Args:
        vectors: where the words' vectors start, [V, m].
        importance: where omega starts, [V]: the log of an inverse document frequency. (The frequency itself, under exp,
            would leave little of a text but its rarest word.)
    """

    def __init__(self, vectors: npt.NDArray[np.floating[Any]], importance: npt.NDArray[np.floating[Any]]) -> None:
        super().__init__()
        _check_words(vectors, importance)
        n, m = vectors.shape
        # Made from values, because torch would draw them from its global generator otherwise.
        self.words = nn.Embedding(n, m, sparse=True, _weight=_single(vectors))
        self.importance = nn.Embedding(n, 1, sparse=True, _weight=_single(importance[:, None]))

    def forward(self, bags: Bags) -> torch.Tensor:
        """The vector of each text, [N, m]."""
        if torch.is_grad_enabled():
            return self._means(bags)
        return torch.cat([self._means(part) for part in bags.parts(TEXTS)])

    def _means(self, bags: Bags) -> torch.Tensor:
        places, vectors, omega = self._look_up(bags.ids)
        weights, totals = _weights(omega.index_select(0, places), bags)
        offsets = torch.from_numpy(bags.offsets[:-1])
        sums = functional.embedding_bag(places, vectors, offsets, mode="sum", per_sample_weights=weights)
        return sums / totals[:, None]

    def _look_up(self, ids: npt.NDArray[np.int32]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The place of each id in a table of vectors and in a list of omegas, and both of these."""
        if not torch.is_grad_enabled():
            return torch.from_numpy(ids.astype(np.int64)), self.words.weight, self.importance.weight[:, 0]
        # A gradient row for every different word, and not for each of its occurrences, is a third of them and needs
        # no sorting in the optimiser.
        size = self.words.num_embeddings
        present = np.zeros(size, dtype=bool)
        present[ids] = True
        distinct = np.flatnonzero(present)
        places = np.empty(size, dtype=np.int64)
        places[distinct] = np.arange(len(distinct))
        rows = torch.from_numpy(distinct)
        return torch.from_numpy(places[ids]), self.words(rows), self.importance(rows)[:, 0]


class Ranker(Student):
    """What ranking students share: texts known by number, and the vectors of those that a batch names.

    Args:
        queries: the words of every query.
        documents: the words of every document.
        vectors: where the words' vectors start, [V, m].
        importance: where the words' weights omega start, [V]; the log of an inverse document frequency.
    """

    reads = "pair"

    def __init__(
        self,
        queries: Bags,
        documents: Bags,
        vectors: npt.NDArray[np.floating[Any]],
        importance: npt.NDArray[np.floating[Any]],
    ) -> None:
        super().__init__()
        self.texts = WordMeans(vectors, importance)
        self.show(queries, documents)

    def show(self, queries: Bags, documents: Bags) -> None:
        """Know these texts by their numbers from now on: other queries, say, than it was trained on."""
        size = self.texts.words.num_embeddings
        for name, bags in (("queries", queries), ("documents", documents)):
            if len(bags.ids) and bags.ids.max() >= size:
                raise InvalidInput(
                    f"{name}: word id {bags.ids.max()} is outside the vocabulary of {size} (0 to {size - 1}); "
                    "encode texts with the vocabulary this student was made for"
                )
        self.queries, self.documents = queries, documents

    def named(self, x: torch.Tensor) -> tuple[Bags, torch.Tensor]:
        """The different texts that samples [N, 3] name, and the place of each sample's three among them, [N, 3]."""
        self._check(x)
        numbers = x.numpy()
        queries, query = np.unique(numbers[:, 0], return_inverse=True)
        documents, document = np.unique(numbers[:, 1:], return_inverse=True)
        places = np.column_stack([query, len(queries) + document.reshape(-1, 2)])
        return self._bags(queries, documents), torch.from_numpy(places)

    def candidates(self, query: int, documents: Integers) -> Bags:
        """The texts of one query and of documents, in that order."""
        numbers = np.asarray(documents)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise WrongShape(
                f"candidates: expected whole numbers of documents, [N], got {numbers.dtype} of shape {numbers.shape}"
            )
        _check_range("query", np.array([query]), len(self.queries))
        _check_range("document", numbers, len(self.documents))
        return self._bags(np.array([query]), numbers)

    def _bags(self, queries: Integers, documents: Integers) -> Bags:
        return self.queries.take(queries).followed_by(self.documents.take(documents))

    def _check(self, x: torch.Tensor) -> None:
        if x.ndim != 2 or x.shape[1] != 3:
            raise WrongShape(
                f"pairs: expected rows of three numbers (query, document+, document-), got shape {tuple(x.shape)}"
            )
        if x.dtype not in (torch.int32, torch.int64):
            raise InvalidInput(
                "a ranking student reads numbers of queries and documents, expected whole numbers of 32 or 64 bits, "
                f"got {x.dtype}"
            )
        _check_range("query", x[:, 0].numpy(), len(self.queries))
        _check_range("document", x[:, 1:].numpy(), len(self.documents))


class PairRanker(Ranker):
    """The paper's ranker: the vectors of query and both documents side by side, feed-forward layers, one logit.

    The logit's sigmoid is the probability that document+ is preferred. psi is the last hidden layer's activation. Its
    two orders of one pair need not agree: P(d, d') and 1 - P(d', d) are only as near as training brings them, and
    `rank_scores` takes both.

    Args:
        queries: the words of every query.
        documents: the words of every document.
        vectors: where the words' vectors start, [V, m].
        importance: where the words' weights omega start, [V]; the log of an inverse document frequency.
        hidden: width of each feed-forward layer, of which there is at least one.
        dropout: the share of each hidden layer that is dropped in training.
        initialisation: a name in `INITIALISATIONS`, for the layers.
        chance: where the layers' initial weights are drawn from.
    """

    def __init__(
        self,
        queries: Bags,
        documents: Bags,
        vectors: npt.NDArray[np.floating[Any]],
        importance: npt.NDArray[np.floating[Any]],
        hidden: Sequence[int] = (256, 128),
        dropout: float = 0.2,
        initialisation: str = "glorot",
        *,
        chance: Chance,
    ) -> None:
        super().__init__(queries, documents, vectors, importance)
        layers = drawn_layers([3 * vectors.shape[1], *hidden, 1], dropout, initialisation, chance)
        *dense, self.output = layers
        self.hidden = nn.Sequential(*(part for layer in dense for part in (layer, nn.ReLU(), nn.Dropout(dropout))))

    def represent(self, x: torch.Tensor) -> torch.Tensor:
        """The last hidden layer: (query, document+, document-) [N, 3] -> [N, hidden[-1]]."""
        bags, places = self.named(x)
        hidden: torch.Tensor = self.hidden(functional.embedding(places, self.texts(bags)).flatten(1))
        return hidden

    def predict_from(self, psi: torch.Tensor) -> torch.Tensor:
        """The output layer: [N, hidden[-1]] -> one logit each, [N, 1]."""
        output: torch.Tensor = self.output(psi)
        return output

    def rank_scores(
        self, query: int, candidates: Integers, *, opponents: int | None = OPPONENTS, chance: Chance
    ) -> Array:
        """How much each candidate is preferred to others on average, over both orders of a pair, [N] in [0, 1].

        Args:
            query: the query's number.
            candidates: the documents' numbers, [N].
            opponents: so many of the candidates are drawn, and all are compared with these; None for all with all.
            chance: where the opponents are drawn from.
        """
        if opponents is not None and opponents < 1:
            raise InvalidInput(f"opponents: expected at least 1, or None for all candidates, got {opponents}")
        sides = self._sides(query, candidates)
        everybody = np.arange(len(sides.plus))
        return self._preferred(sides, everybody, _drawn(len(everybody), opponents, chance))

    def opponents_error(
        self, query: int, candidates: Integers, *, opponents: int = OPPONENTS, sample: int = 100, chance: Chance
    ) -> OpponentsError:
        """How far the scores against drawn opponents are from those against all, on a sample of the candidates."""
        sides = self._sides(query, candidates)
        n = len(sides.plus)
        if n < 2:
            raise InvalidInput(f"candidates: expected at least 2 to compare, got {n}")
        asked = _drawn(n, sample, chance.child("sample"))
        whole = self._preferred(sides, asked, np.arange(n))
        short = self._preferred(sides, asked, _drawn(n, opponents, chance))
        apart = np.abs(whole - short)
        opposed = (whole[:, None] - whole) * (short[:, None] - short) < 0
        pairs = max(1, len(asked) * (len(asked) - 1))
        return OpponentsError(float(apart.mean()), float(apart.max()), float(opposed.sum() / pairs))

    def _sides(self, query: int, candidates: Integers) -> _Sides:
        """What the first layer makes of each candidate as document+ (the query and the bias with it) and as document-.

        The layer is linear before its ReLU, so that each pair's is the sum of two: products with vectors are needed
        once for each document and not for each pair.
        """
        first = self.hidden[0]
        assert isinstance(first, nn.Linear)
        with asking(self):
            vectors = self.texts(self.candidates(query, candidates))
            as_query, as_plus, as_minus = first.weight.reshape(len(first.weight), 3, -1).unbind(1)
            common = functional.linear(vectors[0], as_query, first.bias)
            return _Sides(functional.linear(vectors[1:], as_plus) + common, functional.linear(vectors[1:], as_minus))

    def _preferred(self, sides: _Sides, asked: Integers, opponents: Integers) -> Array:
        """The mean preference of the asked ones to the opponents, themselves left out; one half if none is left."""
        size = max(1, PAIRS // max(1, len(opponents)))
        scores = np.full(len(asked), 0.5)
        with asking(self):
            for start in range(0, len(asked), size):
                part = asked[start : start + size]
                preferred = self._both_orders(sides, torch.from_numpy(part), torch.from_numpy(opponents))
                others = part[:, None] != opponents
                counts = others.sum(axis=1)
                means = (preferred * others).sum(axis=1) / np.maximum(counts, 1)
                scores[start : start + size] = np.where(counts > 0, means, 0.5)
        return scores

    def _both_orders(self, sides: _Sides, asked: torch.Tensor, opponents: torch.Tensor) -> Array:
        """The mean of P(d, o) and 1 - P(o, d) for each asked d and each opponent o, [A, O]."""
        ahead = self._above_first(sides.plus[asked][:, None] + sides.minus[opponents])
        behind = self._above_first(sides.minus[asked][:, None] + sides.plus[opponents])
        both: Array = (0.5 + (ahead - behind) / 2).double().numpy()
        return both

    def _above_first(self, sums: torch.Tensor) -> torch.Tensor:
        """The probability that document+ is preferred, from the first layer's sums: [A, O, hidden[0]] -> [A, O]."""
        return torch.sigmoid(self.output(self.hidden[1:](sums))).squeeze(2)


@dataclass(frozen=True)
class OpponentsError:
    """What it costs a ranking to compare candidates with some and not with all.

    Attributes:
        mean: absolute difference between the scores.
        largest: such difference.
        swapped: the share of pairs that the two put in opposite orders.
    """

    mean: float
    largest: float
    swapped: float


@dataclass(frozen=True, eq=False)
class _Sides:
    plus: torch.Tensor
    minus: torch.Tensor


def drawn_layers(widths: Sequence[int], dropout: float, initialisation: str, chance: Chance) -> list[nn.Linear]:
    """Linear layers from each width to the next, their weights drawn."""
    if len(widths) < 3 or min(widths) < 1:
        raise InvalidInput(f"hidden: expected at least one layer, of a width of at least 1, got {tuple(widths[1:-1])}")
    if not 0 <= dropout < 1:
        raise InvalidInput(f"dropout is a share from 0 to below 1, got {dropout}")
    if initialisation not in INITIALISATIONS:
        raise UnknownName("initialisation", initialisation, INITIALISATIONS)
    layers, generator = [bare_layer(i, o) for i, o in pairwise(widths)], chance.torch()
    for layer in layers:
        INITIALISATIONS[initialisation](layer, generator)
    return layers


@contextmanager
def asking(student: Student) -> Iterator[None]:
    """No dropout and no gradients inside; the student's mode is left as it was."""
    was_training = student.training
    student.eval()
    try:
        with torch.inference_mode():
            yield
    finally:
        student.train(was_training)


def _weights(omega: torch.Tensor, bags: Bags) -> tuple[torch.Tensor, torch.Tensor]:
    """The weight of every word of every text from its omega, and each text's sum of weights (one if it has no word).

    The largest omega of a text is subtracted from all of it, which changes no mean and keeps exp in its range.
    """
    owners, lengths = torch.from_numpy(bags.owners), torch.from_numpy(bags.lengths)
    # Bags have checked their lengths; torch's own check cannot do with no text at all.
    largest = torch.segment_reduce(omega.detach(), "max", lengths=lengths, unsafe=True)
    weights = torch.from_numpy(bags.counts) * torch.exp(omega - largest.index_select(0, owners))
    totals = weights.new_zeros(len(bags)).index_add(0, owners, weights)
    return weights, totals.masked_fill(lengths == 0, 1.0)


def _drawn(n: int, wanted: int | None, chance: Chance) -> npt.NDArray[np.int64]:
    """Some of the numbers below n in ascending order, all of them if no more are there."""
    if wanted is None or wanted >= n:
        return np.arange(n)
    return np.sort(chance.numpy().choice(n, wanted, replace=False))


def _single(values: npt.NDArray[np.floating[Any]]) -> torch.Tensor:
    return torch.from_numpy(values.astype(np.float32))


def _as_column(values: npt.NDArray[Any], name: str, dtype: type[np.generic]) -> npt.NDArray[Any]:
    column = np.asarray(values)
    kinds = "iuf" if name == "counts" else "iu"
    if column.ndim != 1 or (column.dtype.kind not in kinds and len(column)):
        raise WrongShape(
            f"bags of words: expected {name} as one column of {'numbers' if 'f' in kinds else 'whole numbers'}, "
            f"got {column.dtype} of shape {column.shape}"
        )
    return np.asarray(column, dtype=dtype)


def _check_words(vectors: npt.NDArray[Any], importance: npt.NDArray[Any]) -> None:
    if vectors.ndim != 2 or min(vectors.shape) < 1 or vectors.dtype.kind != "f":
        raise WrongShape(
            f"word vectors: expected a matrix of numbers [V, m], got {vectors.dtype} of shape {vectors.shape}"
        )
    if importance.shape != vectors.shape[:1] or importance.dtype.kind != "f":
        raise WrongShape(
            f"importance: expected a number for each of {len(vectors)} words, "
            f"got {importance.dtype} of shape {importance.shape}"
        )
    if not np.isfinite(vectors).all():
        raise NotFinite("word vectors: NaN or infinity among them; leave such words out of the vocabulary")
    if not np.isfinite(importance).all():
        raise NotFinite(
            "importance: NaN or infinity among the logs of inverse document frequencies; keep frequencies above 0"
        )


def _check_range(name: str, numbers: Integers, size: int) -> None:
    if not numbers.size:
        return
    least, most = int(numbers.min()), int(numbers.max())
    if least < 0 or most >= size:
        known = f"0 to {size - 1}" if size else "none"
        raise InvalidInput(
            f"{name} {least if least < 0 else most} is unknown to this student: it has a text for {size} ({known}); "
            "show it the texts that samples name"
        )
