"""A share of the weak labels, for what is learned from more and more of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fwl.errors import InvalidInput
from fwl.randomness import Chance


def check_share(share: float) -> None:
    """Refuse a share of the weak labels that is none."""
    if not 0.0 < share <= 1.0:
        raise InvalidInput(f"setting weak_share={share}: expected a share above 0, and 1 for all weak labels")


def some_rows(n: int, share: float, chance: Chance) -> npt.NDArray[np.int64]:
    """So many of n rows, at least one, drawn by chance and in their order; what a smaller share has, a larger has."""
    count = max(1, round(share * n))
    rows: npt.NDArray[np.int64] = np.sort(chance.numpy().permutation(n)[:count])
    return rows
