"""Latent semantic analysis: wide sparse rows, such as counts of words, as a few columns that hold most of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.utils.extmath import randomized_svd

from fwl.learn.view import VECTOR
from fwl.randomness import Chance
from fwl.records import Array
from fwl.text.vocabulary import FIRST, PADDING
from fwl.threads import one_thread

Samples = npt.NDArray[Any]

COLUMNS = 128
ROWS = 50_000  # the most rows that the directions are found on


@dataclass(frozen=True, eq=False)
class Latent:
    """From sparse rows [N, V] to a vector each [N, k].

    Attributes:
        directions: [V, k], of length one; times one scale, so that the vectors' columns have variance 1 on average.
    """

    directions: Array

    def __call__(self, rows: scipy.sparse.csr_matrix) -> Array:
        """The vectors of rows."""
        vectors: Array = rows @ self.directions
        return vectors


def fit_latent(rows: scipy.sparse.csr_matrix, chance: Chance, columns: int = COLUMNS) -> Latent:
    """The directions that hold most of the rows' variation; on some of them where they are very many."""
    if rows.shape[0] > ROWS:
        rows = rows[chance.child("latent rows").numpy().permutation(rows.shape[0])[:ROWS]]
    k = max(1, min(columns, min(rows.shape) - 1))
    with one_thread():
        _, _, found = randomized_svd(rows, k, random_state=chance.child("latent").integer())
        vectors = rows @ found.T
    scale = float(np.sqrt(vectors.var(axis=0).mean())) or 1.0
    return Latent(np.ascontiguousarray(found.T) / scale)


def as_vectors(vectors: npt.NDArray[np.floating[Any]]) -> Samples:
    """Vectors as samples with one part, named `vector`."""
    samples = np.zeros(len(vectors), dtype=[(VECTOR, np.float32, (vectors.shape[1],))])
    samples[VECTOR] = vectors
    return samples


def with_vectors(samples: Samples, vectors: npt.NDArray[np.floating[Any]]) -> Samples:
    """The samples with other vectors; all else of them stays."""
    dtype = [
        (VECTOR, np.float32, (vectors.shape[1],)) if name == VECTOR else (name, samples.dtype[name])
        for name in samples.dtype.names or ()
    ]
    changed = np.zeros(len(samples), dtype=dtype)
    for name in changed.dtype.names or ():
        changed[name] = vectors if name == VECTOR else samples[name]
    return changed


def inverse_frequency(ids: list[npt.NDArray[np.int32]], words: int) -> Array:
    """How much a word says by being rare: 1 + log((1 + texts) / (1 + texts with it)); nothing of unknown words."""
    seen = np.bincount(np.concatenate([np.unique(row) for row in ids]), minlength=words)
    idf = 1.0 + np.log((1.0 + len(ids)) / (1.0 + seen))
    idf[PADDING:FIRST] = 0.0
    return np.asarray(idf)


def tf_idf(ids: list[npt.NDArray[np.int32]], idf: Array) -> scipy.sparse.csr_matrix:
    """Rows of length one: 1 + log(times) for each word of a text, times its idf."""
    found = [np.unique(row, return_counts=True) for row in ids]
    columns = np.concatenate([words for words, _ in found]).astype(np.int64)
    ends = np.concatenate([[0], np.cumsum([len(words) for words, _ in found])])
    values = (1.0 + np.log(np.concatenate([times for _, times in found]))) * idf[columns]
    rows = scipy.sparse.csr_matrix((values, columns, ends), shape=(len(ids), len(idf)))
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return scipy.sparse.csr_matrix(scipy.sparse.diags(1.0 / np.maximum(norms, 1e-12)) @ rows)
