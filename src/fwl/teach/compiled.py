"""Passes over memory that torch would take several of, compiled on first use.

Compiling takes a second or two in every process, so `passes` takes these for many samples only. NaN stays NaN: no
pass assumes that there is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

Floats = npt.NDArray[np.floating[Any]]
# Sums may be reordered, which is what makes them vectors; nothing else may be assumed.
_FAST = {"reassoc", "contract"}
_AT_ONCE = 2048  # columns of a table whose best rows are held in cache meanwhile


@njit(nogil=True)
def largest_in_columns(table: Floats) -> npt.NDArray[np.int32]:
    """The row of the largest entry of each column of a table [K, M]; the first of equal ones."""
    K, M = table.shape
    found = np.zeros(M, dtype=np.int32)
    for start in range(0, M, _AT_ONCE):
        end = min(M, start + _AT_ONCE)
        best, row = table[0, start:end].copy(), found[start:end]
        for k in range(1, K):
            candidates = table[k, start:end]
            for i in range(end - start):
                better = candidates[i] > best[i]
                best[i] = candidates[i] if better else best[i]
                row[i] = k if better else row[i]
    return found


@njit(nogil=True, fastmath=_FAST)
def gather_centred(Z: Floats, rows: npt.NDArray[np.int64], centre: Floats, out: Floats, squares: Floats) -> None:
    """Some rows of Z [M, D] less the centre [D] into `out`, and their squared lengths into `squares`."""
    for i in range(len(rows)):
        total = Z.dtype.type(0.0)
        row, target = Z[rows[i]], out[i]
        for d in range(Z.shape[1]):
            moved = row[d] - centre[d]
            target[d] = moved
            total += moved * moved
        squares[i] = total


@njit(nogil=True, fastmath=_FAST)
def squared_lengths(rows: Floats, out: Floats) -> None:
    """Of every row of [M, n]."""
    for i in range(rows.shape[0]):
        total = rows.dtype.type(0.0)
        row = rows[i]
        for d in range(rows.shape[1]):
            total += row[d] * row[d]
        out[i] = total
