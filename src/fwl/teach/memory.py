"""The control for the teacher over (query, document): a memory of judged pairs, weighted by likeness."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from fwl.errors import NotFitted
from fwl.records import Array
from fwl.teach.cosines import Seen, as_judgments, as_new, as_seen, check_positive, covariance, gram, pieces

AT_ONCE = 1024  # judged documents whose covariance with all others is held at a time


class KernelMemory:
    """Scores a document for a query by the judged pairs that are like it: sum of k_q(q, q') k_d(d, d') label(q', d').

    No judgment is weighed against another, as a Gaussian process does; what that is worth shows beside this one.

    Args:
        query_lengthscale: l of k(a, b) = exp(-(1 - cos(a, b)) / l²) between queries.
        document_lengthscale: the same between documents.
    """

    def __init__(self, query_lengthscale: float = 0.8, document_lengthscale: float = 0.35) -> None:
        self.query_lengthscale, self.document_lengthscale = query_lengthscale, document_lengthscale

    def fit(self, queries: Any, documents: Any, labels: Any) -> Self:
        """Remember labels [Q, N] of documents for queries, which come as in `QueryDocumentGP`; most labels are 0."""
        check_positive(self.query_lengthscale, "query_lengthscale")
        check_positive(self.document_lengthscale, "document_lengthscale")
        seen_queries, seen_documents = as_seen(queries, "queries"), as_seen(documents, "documents")
        Y = as_judgments(labels, (len(seen_queries), len(seen_documents)), "labels")
        self._smoothed = _smoothed(Y, seen_documents, self.document_lengthscale)
        self._queries = seen_queries
        return self

    def residual(self, queries: Any) -> Array:
        """The score of every document for new queries, [M, N]."""
        self._check_fitted()
        cosines = self._queries.with_new(as_new(queries, self._queries))
        return (covariance(cosines, self.query_lengthscale) @ self._smoothed).numpy()

    def leave_one_query_out(self) -> Array:
        """The scores of each judged query by the judgments of all others, [Q, N]."""
        self._check_fitted()
        return (gram(self._queries, self.query_lengthscale).fill_diagonal_(0.0) @ self._smoothed).numpy()

    def described(self) -> dict[str, float]:
        """The settings that matter to what it says."""
        return {name: float(getattr(self, name)) for name in ("query_lengthscale", "document_lengthscale")}

    def _check_fitted(self) -> None:
        if not hasattr(self, "_smoothed"):
            raise NotFitted("this memory is empty; call fit(queries, documents, labels) first")


def _smoothed(Y: Array, documents: Seen, lengthscale: float) -> Tensor:
    """Y K_d, [Q, N], of K_d only the rows that any label asks for."""
    everyone, judged = np.arange(len(documents)), np.flatnonzero(Y.any(axis=0))
    smoothed = torch.zeros(Y.shape, dtype=torch.float64)
    for rows in pieces(len(judged), AT_ONCE):
        K = covariance(documents.among(judged[rows], everyone), lengthscale)
        smoothed.addmm_(torch.from_numpy(Y[:, judged[rows]]), K)
    return smoothed
