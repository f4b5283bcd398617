"""The teacher over (query, document): what judged queries say of documents that nobody judged for a new query.

A Gaussian process on the residuals of judgments, R = label - prior mean, with the covariance k_q(q, q') k_d(d, d').
Every document of a judged query counts as judged (one that nobody looked at is as good as not relevant, which is also
what evaluation assumes), so that the covariance of all residuals is a Kronecker product and inference is exact:
`kronecker.py` has the algebra. It knows only the documents it was fitted on; queries may be new.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from fwl.errors import InvalidInput, NotFitted, OutputTrouble, WrongShape
from fwl.randomness import chance_from
from fwl.records import Array
from fwl.storage import Stored, read_folder, write_folder
from fwl.teach.cosines import (
    Rows,
    Seen,
    as_judgments,
    as_new,
    as_seen,
    as_state,
    check_positive,
    covariance,
    from_state,
    pieces,
)
from fwl.teach.kronecker import Basis, Conditioned, approximated, decomposed
from fwl.teach.state import State

AT_ONCE = 2048  # documents whose values are worked out at a time
KIND = "query-document teacher"
Matrix = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class _Lesson:
    """What does not change with the queries' lengthscale and the noise."""

    queries: Seen
    documents: Basis
    projected: Tensor
    squares: float


class QueryDocumentGP:
    """An exact Gaussian process over pairs of a query and a document.

    Queries and documents are vectors, dense or sparse, of which only directions matter; or `Cosines`; or a tuple of
    such views, whose cosines are averaged. Matrices [queries, documents] come out in double precision where the
    documents' side is exact and in single where it is not.

    Args:
        query_lengthscale: l of k(a, b) = exp(-(1 - cos(a, b)) / l²) between queries.
        document_lengthscale: the same between documents.
        noise: the variance of a judgment around what the process can explain.
        exact_documents: up to so many documents nothing is approximated.
        landmarks: documents that span the covariance of more than that.
        random_state: where landmarks are drawn from.

    Attributes:
        log_evidence_: the log marginal likelihood of the residuals.
        document_error_: what is missing of the documents' covariance, relative Frobenius norm on a sample; 0 if exact.
        missing_: the share of the residuals' squares at documents that no landmark stands for; 0 if exact.
    """

    def __init__(
        self,
        query_lengthscale: float = 0.8,
        document_lengthscale: float = 0.35,
        noise: float = 0.1,
        exact_documents: int = 5000,
        landmarks: int = 2048,
        random_state: int = 0,
    ) -> None:
        self.query_lengthscale, self.document_lengthscale, self.noise = query_lengthscale, document_lengthscale, noise
        self.exact_documents, self.landmarks, self.random_state = exact_documents, landmarks, random_state

    def fit(self, queries: Any, documents: Any, residuals: Matrix) -> Self:
        """Condition on residuals [Q, N] of the judgments of every document (row of `documents`) for every query."""
        self._check_settings()
        seen_queries, seen_documents = as_seen(queries, "queries"), as_seen(documents, "documents")
        R = as_judgments(residuals, (len(seen_queries), len(seen_documents)), "residuals")
        basis = self._basis(seen_documents, R)
        projected = (torch.from_numpy(R).to(basis.vectors.dtype) @ basis.vectors).double()
        self._condition(_Lesson(seen_queries, basis, projected, float(np.vdot(R, R))))
        return self

    def refitted(self, query_lengthscale: float, noise: float) -> Self:
        """A teacher on the same residuals with another lengthscale or noise; documents are not decomposed anew."""
        self._fitted()
        other = type(self)(**{**self._settings(), "query_lengthscale": query_lengthscale, "noise": noise})
        other._check_settings()
        other._condition(self._lesson)
        return other

    def alternatives(
        self, query_lengthscales: Sequence[float] = (0.5, 0.8), noises: Sequence[float] = (0.1, 1.0)
    ) -> Iterator[Self]:
        """Teachers on the same residuals to choose from; one at a time, as each is large."""
        return (self.refitted(*settings) for settings in product(query_lengthscales, noises))

    def residual(self, queries: Any) -> Matrix:
        """The expected residual of every document for new queries, [M, N]."""
        coefficients = self._fitted().mean(self._cross(queries))
        return self._everywhere(coefficients)

    def residual_at(self, queries: Any, documents: Sequence[Rows]) -> list[Matrix]:
        """The same for some documents of each query alone: one array of rows of documents for each query."""
        coefficients = self._fitted().mean(self._cross(queries))
        return self._somewhere(coefficients, documents)

    def variance(self, queries: Any) -> Matrix:
        """The variance of the residual of every document for new queries, noise not included; 1 before any judgment."""
        explained = self._fitted().explained(self._cross(queries))
        return _as_variance(self._everywhere(explained, squared=True))

    def variance_at(self, queries: Any, documents: Sequence[Rows]) -> list[Matrix]:
        """The same for some documents of each query alone."""
        explained = self._fitted().explained(self._cross(queries))
        return [_as_variance(part) for part in self._somewhere(explained, documents, squared=True)]

    def mean_variance(self, queries: Any) -> Array:
        """The variance of each new query's residuals, averaged over all documents, [M]: how near judged queries are."""
        explained = self._fitted().explained(self._cross(queries))
        return np.asarray((1.0 - explained.sum(dim=1) / len(self._documents.vectors)).clamp(0.0, 1.0).numpy())

    def leave_one_query_out(self) -> Matrix:
        """What it would have said of each judged query without its judgments, [Q, N]; landmarks keep their places."""
        return self._everywhere(self._fitted().left_out_mean())

    def leave_one_query_out_variance(self) -> Matrix:
        """How sure it would have been of that, [Q, N]."""
        return _as_variance(self._everywhere(self._fitted().left_out_explained(), squared=True))

    def described(self) -> dict[str, float]:
        """The settings that matter to what it says."""
        return {name: float(getattr(self, name)) for name in ("query_lengthscale", "document_lengthscale", "noise")}

    def state(self) -> State:
        """What it takes to be the same teacher again."""
        process = self._fitted()
        basis, queries = process.columns, as_state(self._lesson.queries)
        arrays = {
            "values": basis.values.numpy(),
            "vectors": basis.vectors.numpy(),
            "projected": process.projected.numpy(),
            **{f"queries.{name}": array for name, array in queries.arrays.items()},
        }
        learned = {"squares": process.squares, "error": basis.error, "missing": basis.missing}
        return State({**self._settings(), **learned, "queries": queries.settings}, arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The teacher that `state` was taken from; documents are not decomposed anew."""
        settings, arrays = state.settings, state.arrays
        teacher = cls(**{name: settings[name] for name in _PLAIN})
        of_queries = {name: array for name, array in arrays.items() if name.startswith("queries.")}
        queries = State(settings["queries"], {name.removeprefix("queries."): a for name, a in of_queries.items()})
        values, vectors, projected = (torch.from_numpy(arrays[name]) for name in ("values", "vectors", "projected"))
        basis = Basis(values, vectors, settings["error"], settings["missing"])
        teacher._condition(_Lesson(from_state(queries), basis, projected, settings["squares"]))
        return teacher

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the fitted teacher to a folder (safetensors and a JSON manifest)."""
        state = self.state()
        return write_folder(folder, Stored(KIND, state.settings, state.arrays))

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """The teacher that was saved there."""
        stored = read_folder(folder)
        if stored.kind != KIND:
            raise OutputTrouble(f"{folder} holds a {stored.kind}, expected a {KIND}")
        return cls.from_state(State(stored.settings, stored.arrays))

    def _basis(self, documents: Seen, R: Array) -> Basis:
        if len(documents) <= self.exact_documents:
            return decomposed(documents, self.document_lengthscale)
        landmarks = min(self.landmarks, len(documents))
        chance, weights = chance_from(self.random_state), np.einsum("qn,qn->n", R, R)
        return approximated(documents, self.document_lengthscale, landmarks, weights, chance)

    def _condition(self, lesson: _Lesson) -> None:
        rows = decomposed(lesson.queries, self.query_lengthscale)
        self._lesson, self._documents = lesson, lesson.documents
        self._process = Conditioned(rows, lesson.documents, lesson.projected, lesson.squares, float(self.noise))
        self.log_evidence_ = self._process.log_evidence()
        self.document_error_, self.missing_ = lesson.documents.error, lesson.documents.missing

    def _cross(self, queries: Any) -> Tensor:
        """The covariance of new queries with the judged ones, [M, Q]."""
        judged = self._lesson.queries
        return covariance(judged.with_new(as_new(queries, judged)), self.query_lengthscale)

    def _everywhere(self, coefficients: Tensor, squared: bool = False) -> Matrix:
        """Coefficients [M, r] in the documents' basis, or in its squares, as values at all documents, [M, N]."""
        vectors = self._documents.vectors
        coefficients = coefficients.to(vectors.dtype)
        values = vectors.new_empty(len(coefficients), len(vectors))
        for rows in pieces(len(vectors), AT_ONCE):
            of_these = vectors[rows].square() if squared else vectors[rows]
            values[:, rows] = coefficients @ of_these.mT
        return values.numpy()

    def _somewhere(self, coefficients: Tensor, documents: Sequence[Rows], squared: bool = False) -> list[Matrix]:
        vectors, found = self._documents.vectors, []
        chosen = as_candidates(documents, (len(coefficients), len(vectors)))
        for row, rows in zip(coefficients.to(vectors.dtype), chosen, strict=True):
            of_these = vectors[torch.from_numpy(rows)]
            found.append(((of_these.square() if squared else of_these) @ row).numpy())
        return found

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _PLAIN}

    def _check_settings(self) -> None:
        check_positive(self.query_lengthscale, "query_lengthscale")
        check_positive(self.document_lengthscale, "document_lengthscale")
        check_positive(self.noise, "noise")
        if self.landmarks < 1:
            raise InvalidInput(f"landmarks is at least 1, got {self.landmarks}")

    def _fitted(self) -> Conditioned:
        if not hasattr(self, "_process"):
            raise NotFitted("this teacher has not been fitted; call fit(queries, documents, residuals) first")
        return self._process


# What the constructor takes.
_PLAIN = ("query_lengthscale", "document_lengthscale", "noise", "exact_documents", "landmarks", "random_state")


def as_candidates(documents: Sequence[Rows], shape: tuple[int, int]) -> list[Rows]:
    """Some documents for each of M queries out of N documents, checked; `shape` is (M, N)."""
    queries, there = shape
    if len(documents) != queries:
        raise WrongShape(f"candidates: expected rows of documents for each of {queries} queries, got {len(documents)}")
    chosen = [np.asarray(rows) for rows in documents]
    for i, rows in enumerate(chosen):
        if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
            raise InvalidInput(f"candidates of query {i}: expected a list of whole numbers, the rows of documents")
        if rows.size and not (rows.min() >= 0 and rows.max() < there):
            raise InvalidInput(
                f"candidates of query {i}: expected rows of documents from 0 to {there - 1}, "
                f"got {rows.min()} to {rows.max()}"
            )
    return [rows.astype(np.int64) for rows in chosen]


def _as_variance(explained: Matrix) -> Matrix:
    variance: Matrix = np.clip(1.0 - explained, 0.0, 1.0)
    return variance
