"""Which samples stand in both sets: their strong label is known, and their weak one says how the annotator errs.

Some texts stand in both but for a word or a mark, such as one sentence with different names marked in it. A student
that has learned a weak label of such a copy knows more of the strong row than it will know of any new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer

from fwl.randomness import Chance

CHUNK = 65536
COINCIDENCE = 3  # where more rows of the pool than so many for each strong one look alike, looking alike means nothing
ALIKE = 0.7  # of the words of two texts together, those that both have: from here on one is a near copy
COMMON = 0.25  # where so large a share of the pool are near copies, new rows will have some too
PAIRS = 5_000_000  # of a text of the pool and a strong one, looked at at a time

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


def near_copies(pool: Sequence[str], strong: Sequence[str]) -> Rows:
    """The rows of the pool with nearly the words of some strong text; none where such copies are common."""
    words = HashingVectorizer(binary=True, norm=None, alternate_sign=False, dtype=np.float32)
    looked_for = words.transform(strong)
    step = max(1, PAIRS // len(strong))
    found = [
        start + _alike(words.transform(pool[start : start + step]), looked_for) for start in range(0, len(pool), step)
    ]
    rows = np.concatenate(found) if found else np.empty(0, dtype=np.int64)
    return rows if len(rows) < COMMON * len(pool) else rows[:0]


def _alike(texts: sparse.csr_matrix, others: sparse.csr_matrix) -> Rows:
    """The rows of texts that share enough of their words with one of the others."""
    both = (texts @ others.T).tocoo()
    either = _counts(texts)[both.row] + _counts(others)[both.col] - both.data
    return np.unique(both.row[both.data >= ALIKE * either]).astype(np.int64)


def _counts(texts: sparse.csr_matrix) -> npt.NDArray[np.float64]:
    """How many different words each has."""
    return np.asarray(texts.sum(axis=1), dtype=np.float64).ravel()


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
