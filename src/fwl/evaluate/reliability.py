"""What a model says of samples beside what turned out to be true: the points of a calibration plot."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from fwl.errors import WrongShape
from fwl.records import Array

MOST = 10  # bins
EACH = 10  # samples of a bin, at the least: the truth of fewer is mostly luck
Z = float(norm.ppf(0.975))


@dataclass(frozen=True)
class Bin:
    """Samples of which a model says about the same.

    Attributes:
        count: how many.
        said: what the model says of them, on average.
        was: what is true of them, on average.
        low: the lower end of the 95 % interval of that.
        high: its upper end.
    """

    count: int
    said: float
    was: float
    low: float
    high: float

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def reliability_bins(said: Array, was: Array, *, shares: bool) -> tuple[Bin, ...]:
    """Samples in bins of one size, by what is said of them; none, of a single sample.

    Args:
        said: the probability that each is of the class it is taken for, or the number that is predicted, [N].
        was: 1 or 0 as it is of that class, or the true number, [N].
        shares: whether these are classes: the interval of a share is Wilson's, that of a mean the normal one.

    >>> [(bin.said, bin.was) for bin in reliability_bins(np.full(10, 0.8), np.arange(10) < 9.0, shares=True)]
    [(0.8, 0.9)]
    """
    if said.shape != was.shape or said.ndim != 1:
        raise WrongShape(f"said has shape {said.shape} and was {was.shape}; expected one number for each sample")
    if len(said) < 2:
        return ()  # one sample says nothing of an average
    order = np.argsort(said, kind="stable")
    bins = max(1, min(MOST, len(said) // EACH))
    interval = _share if shares else _mean
    return tuple(_bin(said[rows], np.asarray(was[rows], np.float64), interval) for rows in np.array_split(order, bins))


def _bin(said: Array, was: Array, interval: Any) -> Bin:
    low, high = interval(was)
    return Bin(len(said), round(float(said.mean()), 12), float(was.mean()), low, high)


def _share(was: Array) -> tuple[float, float]:
    """Wilson's interval of a share."""
    n, p = len(was), float(was.mean())
    middle = (p + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * math.sqrt(p * (1 - p) / n + Z**2 / (4 * n**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def _mean(was: Array) -> tuple[float, float]:
    half = Z * float(was.std(ddof=1)) / math.sqrt(len(was))
    return float(was.mean()) - half, float(was.mean()) + half
