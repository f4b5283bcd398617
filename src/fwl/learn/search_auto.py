"""FWL_auto for rankings: scores fused on judged queries, and a teacher over (query, document) as the ranker itself.

The teacher corrects the fused scores where judged queries are near. Nothing is distilled into a student: the correction
is a memory of judged regions, and a student that has to learn it from weak queries loses it (DECISIONS.md, D46).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

from fwl.errors import InvalidInput, WrongShape
from fwl.learn.searcher import DENSE, TOP, Asked, Matrix, Searcher, candidates, standardised
from fwl.randomness import Chance
from fwl.records import Array
from fwl.teach.correction import Choice, choose_correction
from fwl.teach.memory import KernelMemory
from fwl.teach.query_document import QueryDocumentGP

Mask = npt.NDArray[np.bool_]
DEPTH = 1000  # places of a ranking that count
FEW_QUERIES = 50  # below, a weight fitted to them is worse than none
FUSED = ("bm25", "rm3")  # annotators that may carry a fusion
FUSIONS = (0.5, 1.0, 2.0, 4.0, 8.0)  # of the dense scores beside an annotator's
AT_ONCE = 2_000_000  # pairs of a query and a document whose features are held at a time
OTHERS = 200  # documents of a query that stand for all it has no judgment of, where the prior mean is fitted
MEMORY_WEIGHTS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


@dataclass(frozen=True, eq=False)
class Judged:
    """Queries that somebody judged: what was asked, and which documents are relevant, [Q, N]."""

    asked: Asked
    relevant: Mask

    def __post_init__(self) -> None:
        if self.relevant.shape != self.asked.matched.shape:
            raise WrongShape(f"relevance: expected shape {self.asked.matched.shape}, got {self.relevant.shape}")
        if not self.relevant.any():
            raise InvalidInput("none of the judged queries has a relevant document; judge some that have")


@dataclass(frozen=True)
class Fusion:
    """An annotator's scores and, where there are vectors, so many times the dense ones, both standardised per query."""

    annotator: str
    dense: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        """The ways of searching that it reads."""
        return (self.annotator, DENSE) if self.dense else (self.annotator,)

    def __call__(self, asked: Asked, top: int = TOP) -> tuple[Matrix, Mask]:
        """The fused scores [Q, N] and the candidates [Q, N] over which they were standardised."""
        among = candidates(asked, self.names, top)
        fused = standardised(asked.scores[self.annotator], among)
        if self.dense:
            fused = fused + np.float32(self.dense) * standardised(asked.scores[DENSE], among)
        return fused, among


@dataclass(frozen=True, eq=False)
class SearchModel:
    """A ranker: fused scores, corrected by a teacher where that pays.

    Attributes:
        fusion: the scores it starts from.
        teacher: over (query, document), or None where there was none to use.
        choice: what was tried, and in a sentence whether the teacher is used.
        tried: the mean average precision of each fusion on the judged queries.
    """

    fusion: Fusion
    teacher: QueryDocumentGP | KernelMemory | None
    choice: Choice | None
    tried: dict[Fusion, float] = field(default_factory=dict)

    def scores(self, asked: Asked) -> tuple[Matrix, Mask]:
        """Of every document for each query [Q, N], and which of them are candidates."""
        fused, among = self.fusion(asked)
        if self.teacher is None or self.choice is None or not self.choice.weight:
            return fused, among
        correction = self.choice.weight * self.teacher.residual(asked.vectors)
        return (fused + correction).astype(np.float32), among


def choose_fusion(judged: Judged, searcher: Searcher, annotators: Sequence[str] = FUSED) -> SearchModel:
    """The fusion with one of these annotators that is best on the judged queries; nothing corrects it."""
    tried = _fusions(judged, searcher.names, annotators)
    return SearchModel(max(tried, key=lambda one: tried[one]), None, None, tried)


def fit_search(judged: Judged, searcher: Searcher, chance: Chance, annotators: Sequence[str] = FUSED) -> SearchModel:
    """Choose the fusion on the judged queries, then the teacher's settings with one of them left out in turn."""
    base = choose_fusion(judged, searcher, annotators)
    teacher = QueryDocumentGP(random_state=chance.child("landmarks").integer())
    prior = _PriorMean(judged, chance.child("prior mean"))
    teacher.fit(judged.asked.vectors, searcher.documents, judged.relevant - prior(judged.asked))
    best, choice = choose_correction(teacher.alternatives(), _Gain(judged, base.fusion))
    return replace(base, teacher=best, choice=choice)


def fit_memory(judged: Judged, searcher: Searcher, fusion: Fusion) -> SearchModel:
    """The control: the same fusion, corrected by nothing but a memory of what was judged near by."""
    memory = KernelMemory().fit(judged.asked.vectors, searcher.documents, judged.relevant)
    best, choice = choose_correction([memory], _Gain(judged, fusion), MEMORY_WEIGHTS)
    return SearchModel(fusion, best, choice)


def ranking_of(scores: Matrix, among: Mask, depth: int = DEPTH) -> list[npt.NDArray[np.int64]]:
    """The candidates of each query, the best first; of equal scores the first document."""
    return [_best_first(row, np.flatnonzero(mask))[:depth] for row, mask in zip(scores, among, strict=True)]


def average_precision(scores: Matrix, among: Mask, relevant: Mask, depth: int = DEPTH) -> Array:
    """Of each query [Q]; 0 for one that finds nothing, and for one that has nothing to find."""
    found = np.zeros(len(scores))
    for q, ranked in enumerate(ranking_of(scores, among, depth)):
        hits = relevant[q, ranked]
        precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
        found[q] = (precision * hits).sum() / max(1, int(relevant[q].sum()))
    return found


@dataclass(frozen=True, eq=False)
class _Gain:
    """What a correction [Q, N] adds to the average precision of each judged query under a fusion."""

    judged: Judged
    fusion: Fusion

    def __call__(self, correction: npt.NDArray[np.floating[Any]]) -> Array:
        fused, among, before = self._base
        return average_precision((fused + correction).astype(np.float32), among, self.judged.relevant) - before

    @cached_property
    def _base(self) -> tuple[Matrix, Mask, Array]:
        fused, among = self.fusion(self.judged.asked)
        return fused, among, average_precision(fused, among, self.judged.relevant)


class _PriorMean:
    """The chance that a document is relevant by its scores alone: a logistic regression on the judged queries."""

    def __init__(self, judged: Judged, chance: Chance) -> None:
        shown, weight = _sample(judged.relevant, chance)
        features = np.concatenate([_features(part)[shown[rows]] for rows, part in _parts(judged.asked)])
        self._model = LogisticRegression(max_iter=1000)
        with np.errstate(invalid="ignore"):  # some processors raise the flag for lanes that a product does not use
            self._model.fit(features, judged.relevant[shown], weight[shown])

    def __call__(self, asked: Asked) -> Array:
        return np.concatenate([self._chances(_features(part)) for _, part in _parts(asked)])

    def _chances(self, features: Matrix) -> Array:
        flat = features.reshape(-1, features.shape[-1])
        chances: Array = self._model.predict_proba(flat)[:, 1].reshape(features.shape[:-1])
        return chances


def _parts(asked: Asked) -> Iterator[tuple[npt.NDArray[np.int64], Asked]]:
    """Some queries at a time, with their rows: features of all would take several times the room of the scores."""
    Q, N = asked.matched.shape
    size = max(1, AT_ONCE // N)
    for start in range(0, Q, size):
        rows = np.arange(start, min(Q, start + size))
        yield rows, asked.rows(rows)


def _features(asked: Asked) -> Matrix:
    """[Q, N, F]: every score standardised over all documents, the cosine as it is, the share of matched terms."""
    everywhere = np.ones(asked.matched.shape, dtype=bool)
    columns = [standardised(matrix, everywhere) for matrix in asked.scores.values()]
    plain = [asked.scores[DENSE]] if DENSE in asked.scores else []
    return np.stack([*columns, *plain, asked.matched], axis=-1)


def _sample(relevant: Mask, chance: Chance) -> tuple[Mask, Array]:
    """All relevant documents and some others of each query, these weighted to stand for all of them."""
    share = np.minimum(1.0, OTHERS / np.maximum(1, (~relevant).sum(axis=1, keepdims=True)))
    drawn = chance.numpy().random(relevant.shape) < share
    return relevant | drawn, np.where(relevant, 1.0, 1.0 / share)


def _fusions(judged: Judged, names: Sequence[str], annotators: Sequence[str]) -> dict[Fusion, float]:
    """Each fusion's mean average precision on the judged queries; its weight is fitted only where there are enough."""
    few = len(judged.relevant) < FEW_QUERIES
    weights = () if DENSE not in names else (1.0,) if few else FUSIONS
    options = [Fusion(name) for name in annotators] + [Fusion(*both) for both in product(annotators, weights)]
    return {one: float(average_precision(*one(judged.asked), judged.relevant).mean()) for one in options}


def _best_first(scores: Matrix, documents: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return documents[np.argsort(-scores[documents], kind="stable")]
