"""Choosing between teachers: a kernel to start from, and a score that does not reward freedom."""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.distance import pdist

from fwl.records import Array
from fwl.teach.contract import Teacher
from fwl.teach.kernels import RBF, Kernel, White

MOST_ROWS = 1000  # enough for a median distance, few enough to take all pairs


def starting_kernel(Z: Array, y: Array) -> Kernel:
    """An RBF + White to start fitting from, on the scale of inputs Z [M, D] and labels y [N, C].

    The lengthscale starts at half the median distance: few strong samples lie further apart than the function varies.
    """
    rows = Z[:: max(1, len(Z) // MOST_ROWS)]
    distance = float(np.median(pdist(rows))) if len(rows) > 1 else 1.0
    variance = float(y.var()) or 1.0
    low, high = RBF.BOUNDS["lengthscale"]
    return RBF(min(max(0.5 * distance, low), high), variance) + White(0.02 * variance)


def score(teacher: Teacher, n: int) -> float:
    """The log evidence of n strong samples, less half a log n if a factor on the prior mean was fitted (BIC)."""
    fitted_factor = getattr(teacher, "shrink_mean", False) and getattr(teacher, "shrinkage_", 0.0) > 0.0
    return teacher.log_evidence_ - 0.5 * math.log(n) * fitted_factor
