"""Cross-validation folds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from fwl.errors import InvalidInput
from fwl.randomness import Chance

Rows = npt.NDArray[np.int64]


def folds(n: int, k: int, chance: Chance) -> Iterator[tuple[Rows, Rows]]:
    """(training rows, left-out rows) of k folds over n samples, as equal as can be; at most n folds.

    >>> [left_out.size for _, left_out in folds(10, 3, Chance(0))]
    [4, 3, 3]
    """
    if n < 2 or k < 2:
        raise InvalidInput(f"cross-validation needs at least 2 samples and 2 folds, got {n} and {k}")
    order = chance.numpy().permutation(n)
    for left_out in np.array_split(order, min(k, n)):
        yield np.setdiff1d(order, left_out), np.sort(left_out)


def stratified_folds(classes: Rows, k: int, chance: Chance) -> Iterator[tuple[Rows, Rows]]:
    """The same, each fold with about the same share of every class.

    >>> [np.bincount(np.array([0, 0, 0, 1, 1, 1])[left_out]).tolist()
    ...  for _, left_out in stratified_folds(np.array([0, 0, 0, 1, 1, 1]), 3, Chance(0))]
    [[1, 1], [1, 1], [1, 1]]
    """
    n = len(classes)
    if n < 2 or k < 2:
        raise InvalidInput(f"cross-validation needs at least 2 samples and 2 folds, got {n} and {k}")
    order = chance.numpy().permutation(n)
    order = order[np.argsort(classes[order], kind="stable")]  # class by class, each in an order that is drawn
    for fold in range(min(k, n)):
        left_out = order[fold :: min(k, n)]
        yield np.setdiff1d(order, left_out), np.sort(left_out)
