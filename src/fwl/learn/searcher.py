"""Documents that can be asked in every way this package knows: by the annotators, and by vectors where there are any.

What comes out are matrices [queries, documents]: every method of a ranking table, the teacher over (query, document)
and the ranker a user gets read the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from fwl.annotate.bm25 import BM25
from fwl.annotate.index import InvertedIndex
from fwl.annotate.ranking import Ranking
from fwl.annotate.rm3 import RM3
from fwl.annotate.vector_space import VectorSpace
from fwl.errors import InvalidInput, NotFinite, UnknownName, WrongShape
from fwl.text.analyser import Analyser

Matrix = npt.NDArray[np.float32]
Encode = Callable[[Sequence[str]], Matrix]

ANNOTATORS: dict[str, Callable[[InvertedIndex], Ranking]] = {
    "bm25": BM25,
    "rm3": RM3,
    "tfidf": lambda index: VectorSpace(index, "tfidf"),
    "binary": lambda index: VectorSpace(index, "binary"),
}
DENSE = "dense"
TOP = 1000  # documents that each way of searching may bring among the candidates of a query


@dataclass(frozen=True, eq=False)
class Asked:
    """Some queries, and what each way of searching says of every document.

    Attributes:
        texts: the queries.
        scores: [Q, N] by the name of an annotator, or "dense" for the cosine of vectors; annotators give 0 to what they
            do not find.
        vectors: of the queries, [Q, D]; sparse TF-IDF weights where nothing encodes.
        matched: the share of a query's terms, by inverse document frequency, that each document has, [Q, N].
    """

    texts: tuple[str, ...]
    scores: dict[str, Matrix]
    vectors: Any
    matched: Matrix

    def rows(self, rows: npt.NDArray[np.integer[Any]]) -> Asked:
        """Some of the queries."""
        return Asked(
            tuple(self.texts[row] for row in rows.tolist()),
            {name: matrix[rows] for name, matrix in self.scores.items()},
            self.vectors[rows],
            self.matched[rows],
        )


class Searcher:
    """An index, the annotators on it, and vectors of its documents.

    Args:
        index: of the documents; `index.settings["analyser"]` says how they were cut into terms.
        document_vectors: [N, D], from the same `encode`; None to do without.
        encode: texts to vectors, [Q, D].
    """

    def __init__(
        self, index: InvertedIndex, document_vectors: Matrix | None = None, encode: Encode | None = None
    ) -> None:
        if (document_vectors is None) != (encode is None):
            raise InvalidInput("vectors of documents and the encoder of queries come together; give both or neither")
        if document_vectors is not None and len(document_vectors) != len(index.lengths):
            raise WrongShape(
                f"expected a vector for each of {len(index.lengths)} documents, got {len(document_vectors)}"
            )
        if "analyser" not in index.settings:
            raise InvalidInput(
                "the index does not say how its documents were cut into terms; "
                'build it with settings={"analyser": analyser.settings()}'
            )
        self.index, self.encode = index, encode
        self.analyser = Analyser.from_settings(index.settings["analyser"])
        self._made: dict[str, Ranking] = {}
        self.document_vectors = None if document_vectors is None else _unit(document_vectors)

    @property
    def names(self) -> tuple[str, ...]:
        """The ways of searching."""
        return (*ANNOTATORS, *(() if self.encode is None else (DENSE,)))

    def annotator(self, name: str) -> Ranking:
        """An annotator by its name, made once."""
        if name not in ANNOTATORS:
            raise UnknownName("annotator", name, ANNOTATORS)
        if name not in self._made:
            self._made[name] = ANNOTATORS[name](self.index)
        return self._made[name]

    def ask(self, texts: Sequence[str], names: Sequence[str] | None = None) -> Asked:
        """What each way of searching (all by default) says of every document, for each query."""
        wanted = self.names if names is None else names
        unknown = next((name for name in wanted if name not in self.names), None)
        if unknown is not None:
            raise UnknownName("way of searching", unknown, self.names)
        tokens = [self.analyser.tokens(text) for text in texts]
        scores = {name: self._everywhere(name, tokens) for name in wanted if name != DENSE}
        vectors: Any = self._weights(tokens)
        matched = _share(vectors @ (self._terms_of_documents > 0).T, vectors)
        if self.encode is not None and self.document_vectors is not None:
            vectors = _unit(self.encode(list(texts)))
            _check_vectors(vectors, len(texts), self.document_vectors.shape[1])
            if DENSE in wanted:
                scores[DENSE] = vectors @ self.document_vectors.T
        return Asked(tuple(texts), scores, vectors, matched)

    @property
    def documents(self) -> Any:
        """Vectors of the documents as a teacher reads them: the encoder's, else sparse TF-IDF weights."""
        return self._terms_of_documents if self.document_vectors is None else self.document_vectors

    def _everywhere(self, name: str, tokens: list[list[str]]) -> Matrix:
        N = len(self.index.lengths)
        found = np.zeros((len(tokens), N), dtype=np.float32)
        for row, hits in zip(found, self.annotator(name).search(tokens, k=N), strict=True):
            row[hits.documents] = hits.scores
        return found

    @cached_property
    def _idf(self) -> npt.NDArray[np.float64]:
        return np.log1p(len(self.index.lengths) / self.index.document_frequencies)

    @cached_property
    def _terms_of_documents(self) -> sparse.csr_array:
        """(1 + log tf) idf, [N, T]."""
        forward = self.index.forward
        weights = (1.0 + np.log(forward.frequencies.astype(np.float64))) * self._idf[forward.items]
        shape = len(self.index.lengths), len(self.index.terms)
        return sparse.csr_array((weights.astype(np.float32), forward.items, forward.offsets), shape=shape)

    def _weights(self, tokens: list[list[str]]) -> sparse.csr_array:
        """Each query's terms by inverse document frequency, [Q, T]."""
        numbers = self.index.numbers
        known = [sorted({numbers[token] for token in row if token in numbers}) for row in tokens]
        columns = np.array([number for row in known for number in row], dtype=np.int64)
        offsets = np.cumsum([0, *(len(row) for row in known)])
        values = self._idf[columns].astype(np.float32)
        return sparse.csr_array((values, columns, offsets), shape=(len(tokens), len(self.index.terms)))


def standardised(scores: Matrix, among: npt.NDArray[np.bool_]) -> Matrix:
    """Each query's scores with mean 0 and deviation 1 over its candidates; 0 where all are alike, and outside."""
    count = np.maximum(among.sum(axis=1, keepdims=True), 1)
    mean = np.where(among, scores, 0.0).sum(axis=1, keepdims=True) / count
    centred = np.where(among, scores - mean, 0.0)
    deviation = np.sqrt((centred**2).sum(axis=1, keepdims=True) / count)
    return np.asarray(centred / np.where(deviation > 1e-9, deviation, 1.0), dtype=np.float32)


def candidates(asked: Asked, names: Sequence[str], top: int = TOP) -> npt.NDArray[np.bool_]:
    """The documents that any of these ways of searching brings among its first `top`, [Q, N]."""
    if not names or top < 1:
        raise InvalidInput(f"candidates: expected some ways of searching and at least 1 place, got {names} and {top}")
    chosen = [_first(asked.scores[name], top, name != DENSE) for name in names]
    return np.asarray(np.logical_or.reduce(chosen), dtype=bool)


def _first(scores: Matrix, top: int, found_only: bool) -> npt.NDArray[np.bool_]:
    among = np.zeros(scores.shape, dtype=bool)
    top = min(top, scores.shape[1])
    best = np.argpartition(-scores, top - 1, axis=1)[:, :top]
    np.put_along_axis(among, best, True, axis=1)
    return among & (scores > 0) if found_only else among


def _unit(vectors: npt.NDArray[np.floating[Any]]) -> Matrix:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1.0), dtype=np.float32)


def _check_vectors(vectors: Matrix, texts: int, columns: int) -> None:
    if vectors.shape != (texts, columns):
        raise WrongShape(f"encoder: expected vectors of shape {(texts, columns)}, got {vectors.shape}")
    if not np.isfinite(vectors).all():
        raise NotFinite("encoder: NaN or infinity in the vector of a query")


def _share(matched: Any, weights: sparse.csr_array) -> Matrix:
    """What is matched [Q, N] of the sum of each query's weights [Q, T]; none of nothing."""
    whole = weights.sum(axis=1)
    return np.asarray(matched.toarray() / np.where(whole > 0, whole, 1.0)[:, None], dtype=np.float32)
