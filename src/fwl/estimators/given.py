"""What estimators are given, validated as scikit-learn asks for it, and texts and frames beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from fwl.errors import InvalidInput, UnknownName, WrongShape
from fwl.estimators.inputs import ARRAY, PARTS, SPARSE, TABLE, TEXTS, kind_of
from fwl.estimators.text_inputs import as_text_list
from fwl.records import as_vector
from fwl.tables.frames import as_table


def read_strong(estimator: Any, X: Any, y: Any, numeric: bool) -> tuple[Any, Any]:
    """Strong samples and labels; the estimator remembers how many columns there are, and their names."""
    kind = kind_of(X)
    if kind in (ARRAY, SPARSE) or y is None:
        checked: tuple[Any, Any] = validate_data(
            estimator, X, y, y_numeric=numeric, dtype=np.float64, accept_sparse="csr"
        )
        return checked
    samples = read_new(estimator, X, reset=True)
    labels = column_or_1d(_array(y), warn=True)
    if numeric:
        labels = as_vector(labels, "strong labels")
    check_consistent_length(_countable(samples), labels)
    return samples, labels


def read_new(estimator: Any, X: Any, reset: bool = False) -> Any:
    """Samples: an array, a sparse matrix, an Arrow table, a list of texts, or an array with named parts."""
    kind = kind_of(X)
    if kind == TEXTS:
        return as_text_list(X)
    if kind == PARTS:
        return X
    if kind == TABLE:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return as_table(X)
    return validate_data(estimator, X, reset=reset, dtype=np.float64, accept_sparse="csr")


def read_pool(X: Any, strong: Any) -> Any:
    """The weak set's samples, of the same kind and columns as the strong ones."""
    kind, expected = kind_of(X), TEXTS if isinstance(strong, list) else kind_of(strong)
    if {kind, expected} == {ARRAY, SPARSE}:
        kind = expected
    if kind != expected:
        raise InvalidInput(f"the weak samples are of another kind ({kind}) than the strong ones ({expected})")
    if kind == TEXTS:
        return as_text_list(X)
    if kind == TABLE:
        return _columns_of(as_table(X), strong)
    return _numbers_like(X, strong) if kind != PARTS else X


def check_same_kind(fitted: str, X: Any) -> None:
    """Refuse samples of another kind than the model was fitted on."""
    kind = TEXTS if isinstance(X, list) else kind_of(X)
    interchangeable = {ARRAY, SPARSE, TABLE}
    if kind != fitted and not {kind, fitted} <= interchangeable:
        raise InvalidInput(f"this model was fitted on samples of another kind ({fitted}) than these ({kind})")


def _columns_of(pool: pa.Table, strong: pa.Table) -> pa.Table:
    for name in strong.column_names:
        if name not in pool.column_names:
            raise UnknownName("column of the weak samples", name, pool.column_names)
    return pool.select(strong.column_names)


def _numbers_like(X: Any, strong: Any) -> Any:
    if np.shape(X)[1:] != strong.shape[1:]:
        raise WrongShape(
            f"weak samples have shape {np.shape(X)} and strong samples {strong.shape}; "
            "expected the same columns in both"
        )
    if hasattr(strong, "toarray"):
        return X
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def _countable(samples: Any) -> Any:
    return np.empty(samples.num_rows) if isinstance(samples, pa.Table) else samples


def _array(y: Any) -> Any:
    """Labels as an array; a column of a frame or of Arrow becomes one."""
    if isinstance(y, pa.Array | pa.ChunkedArray):
        return np.array(y.to_pylist(), dtype=object)
    return np.asarray(y)
