"""Which samples stand in both sets: their strong label is known, and their weak one says how the annotator errs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fwl.randomness import Chance

CHUNK = 65536
COINCIDENCE = 3  # where more rows of the pool than so many for each strong one look alike, looking alike means nothing

Rows = npt.NDArray[np.int64]


def twins(pool: npt.NDArray[Any], strong: npt.NDArray[Any]) -> dict[int, int]:
    """The rows of the pool that equal a strong sample bit by bit, each with that strong row.

    None where so many do that they cannot all be the same samples: two columns of categories have few different rows.
    """
    known: dict[bytes, int] = {row.tobytes(): place for place, row in reversed(list(enumerate(_rows(strong))))}
    marks = np.sort(_marks(_rows(strong)))
    found: dict[int, int] = {}
    for start in range(0, len(pool), CHUNK):
        rows = _rows(pool[start : start + CHUNK])
        for place in np.flatnonzero(_is_among(_marks(rows), marks)).tolist():
            twin = known.get(rows[place].tobytes())
            if twin is not None:
                found[start + place] = twin
    return found if len(found) <= COINCIDENCE * len(strong) else {}


def _rows(samples: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """The bytes of every sample, [N, B]."""
    packed = np.ascontiguousarray(samples)
    return packed.view(np.uint8).reshape(len(packed), -1)


def _marks(rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """A number for each row by which nearly all others are told from it at once."""
    factors = Chance(0).child("marks").numpy().integers(2**63, size=rows.shape[1], dtype=np.uint64)
    marks = np.zeros(len(rows), dtype=np.uint64)
    for column, factor in enumerate(
        np.atleast_1d(factors)
    ):  # a column at a time: all at once would take eight times the memory
        marks += rows[:, column] * factor
    return marks


def _is_among(marks: npt.NDArray[np.uint64], sorted_: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    place = np.minimum(np.searchsorted(sorted_, marks), len(sorted_) - 1)
    return np.asarray(sorted_[place] == marks)
