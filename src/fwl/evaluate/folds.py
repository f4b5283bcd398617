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
