"""Samples as users have them (arrays, sparse matrices, frames, texts) to samples as students and teachers read them.

What is standardised or counted is decided once, on the samples of both sets. Samples whose numbers belong together
(principal directions, a sentence's vector) have them in a part named `vector`, whose columns keep their proportions.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import scipy.sparse
from sklearn.preprocessing import StandardScaler

from fwl.errors import InvalidInput, UnknownName
from fwl.estimators.latent import Samples, fit_latent
from fwl.estimators.number_inputs import ArrayInputs, PlainInputs, SparseInputs, TableInputs, as_dense
from fwl.estimators.text_inputs import SentenceInputs, TextInputs, fit_texts
from fwl.progress import Progress
from fwl.randomness import Chance
from fwl.tables.encoding import fit_encoding
from fwl.tables.frames import is_frame
from fwl.teach.state import State

ARRAY, SPARSE, TABLE, TEXTS, PARTS = "array", "sparse", "table", "texts", "parts"
DENSE_UP_TO = 1000  # columns of a sparse matrix that are taken as they are


def kind_of(X: Any) -> str:
    """What kind of samples these are."""
    if scipy.sparse.issparse(X):
        return SPARSE
    if is_frame(X):
        return TABLE
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        return PARTS
    return TEXTS if _are_texts(X) else ARRAY


class Inputs(Protocol):
    """A way to encode samples, fitted."""

    def of(self, X: Any) -> Samples:
        """The samples, one row each."""

    def described(self) -> dict[str, Any]:
        """What a report says of them."""

    def state(self) -> State:
        """What it takes to encode the same way again."""


KINDS: dict[str, Any] = {
    kind.__name__: kind for kind in (ArrayInputs, SparseInputs, TableInputs, TextInputs, SentenceInputs, PlainInputs)
}


def fit_inputs(
    strong: Any,
    pool: Any,
    chance: Chance,
    encoder: str | None = None,
    layers: int = 1,
    progress: Progress | None = None,
) -> tuple[Inputs, Samples, Samples]:
    """The encoding that suits the samples of both sets, the strong ones and the pool, encoded.

    Args:
        strong: validated samples: an array, a sparse matrix, an Arrow table, texts or samples with named parts.
        pool: the weak set's, of the same kind; the same object where there is no weak set.
        chance: where draws come from.
        encoder: the folder of a sentence encoder, for texts.
        layers: of the encoder, so many upper ones are read.
        progress: hears of every text that is encoded.
    """
    kind = TEXTS if isinstance(strong, list) else kind_of(strong)
    if encoder is not None and kind != TEXTS:
        raise InvalidInput(f"encoder: a sentence encoder reads texts, got samples of another kind ({kind})")
    both = strong if pool is strong else _together(strong, pool, kind)
    if kind == TABLE:
        return _fit_table(strong, pool, both)
    inputs = fit_texts(both, chance, encoder, layers, progress) if kind == TEXTS else _fit_numbers(both, kind, chance)
    samples = inputs.of(strong)
    return inputs, samples, samples if pool is strong else inputs.of(pool)


def revive_inputs(kind: str, state: State, encoder: str | None = None) -> Inputs:
    """The encoding of that kind and state; a sentence encoder may have moved."""
    if kind not in KINDS:
        raise UnknownName("kind of inputs", kind, KINDS)
    revived: Inputs
    revived = SentenceInputs.from_state(state, encoder) if kind == "SentenceInputs" else KINDS[kind].from_state(state)
    return revived


def _are_texts(X: Any) -> bool:
    if isinstance(X, pa.Array | pa.ChunkedArray):
        return bool(pa.types.is_string(X.type) or pa.types.is_large_string(X.type))
    if isinstance(X, list | tuple):
        return bool(X) and any(isinstance(x, str) for x in X) and all(x is None or isinstance(x, str) for x in X)
    if not hasattr(X, "__array__") or getattr(X, "ndim", 1) != 1:
        return False
    values = np.asarray(X)
    if values.dtype.kind in "UT":
        return True
    return values.dtype.kind == "O" and any(isinstance(x, str) for x in values)


def _fit_numbers(both: Any, kind: str, chance: Chance) -> Inputs:
    if kind == PARTS:
        return PlainInputs(both.dtype.names)
    if kind == SPARSE and both.shape[1] > DENSE_UP_TO:
        return SparseInputs(fit_latent(scipy.sparse.csr_matrix(both), chance))
    scaler = StandardScaler().fit(as_dense(both))
    return ArrayInputs(scaler.mean_, scaler.scale_)


def _fit_table(strong: pa.Table, pool: pa.Table, both: pa.Table) -> tuple[Inputs, Samples, Samples]:
    encoding = fit_encoding(both)
    samples, missing = encoding.matrix(strong)
    if pool is strong:
        return TableInputs(encoding, encoding.described(missing)), samples, samples
    pooled, more = encoding.matrix(pool)
    total = [a + b for a, b in zip(missing, more, strict=True)]
    return TableInputs(encoding, encoding.described(total)), samples, pooled


def _together(strong: Any, pool: Any, kind: str) -> Any:
    """The samples of both sets, the weak ones first."""
    if kind == TEXTS:
        return [*pool, *strong]
    if kind == SPARSE:
        return scipy.sparse.vstack([scipy.sparse.csr_matrix(pool), scipy.sparse.csr_matrix(strong)])
    if kind == TABLE:
        return _stacked(pool, strong)
    return np.concatenate([pool, strong])


def _stacked(pool: pa.Table, strong: pa.Table) -> pa.Table:
    columns = {}
    for name in strong.column_names:
        both = [table.select([name]) for table in (pool, strong)]
        try:
            columns[name] = pa.concat_tables(both, promote_options="permissive")[name]
        except pa.ArrowException as error:
            raise InvalidInput(
                f"column {name!r} holds {strong[name].type} in the strong set and {pool[name].type} in the weak one; "
                "expected the same kind in both"
            ) from error
    return pa.table(columns)
