"""Choosing between teachers: kernels to start from, and scores that do not reward freedom."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import pdist

from fwl.records import Array, Posterior
from fwl.teach.contract import Teacher
from fwl.teach.kernels import RBF, Kernel, Linear, Matern32, White

MOST_ROWS = 1000  # enough for a median distance, few enough to take all pairs
# Where fitting starts: the lengthscale as a share of the median distance, and the noise as one of the labels' variance.
# Few strong samples of a number lie further apart than it varies. A class is a noisy reading of its probability: a fit
# that starts without noise can end in a function that wiggles through every label (DECISIONS.md, D23).
START_FOR_NUMBERS = (0.5, 0.02)
START_FOR_CLASSES = (1.0, 0.5)

# By name: from a lengthscale and a variance to the part of a kernel that is not noise.
KERNELS: dict[str, Callable[[float, float, int], Kernel]] = {
    "rbf": lambda scale, variance, _: RBF(scale, variance),
    "matern32": lambda scale, variance, _: Matern32(scale, variance),
    "rbf+linear": lambda scale, variance, columns: RBF(scale, variance) + Linear(0.0, 0.1 * variance / columns),
    "matern32+linear": lambda scale, variance, columns: (
        Matern32(scale, variance) + Linear(0.0, 0.1 * variance / columns)
    ),
}


def starting_kernel(Z: Array, y: Array, name: str = "rbf", classes: bool = False) -> Kernel:
    """A kernel of that name and White noise to start fitting from, on the scale of Z [M, D] and labels y [N, C].

    Args:
        Z: inputs.
        y: labels; of classes, less the classes' shares.
        name: in `KERNELS`.
        classes: whether the labels are classes.
    """
    reach, noise = START_FOR_CLASSES if classes else START_FOR_NUMBERS
    variance = float(y.var()) or 1.0
    signal = (1.0 - noise) * variance if classes else variance
    return KERNELS[name](reach * median_distance(Z) or 1.0, signal, Z.shape[1]) + White(noise * variance)


def median_distance(Z: Array) -> float:
    """Between two rows of Z [M, D]; 1 where there is only one row."""
    rows = Z[:: max(1, len(Z) // MOST_ROWS)]
    return float(np.median(pdist(rows))) if len(rows) > 1 else 1.0


def evidence_score(teacher: Teacher, n: int) -> float:
    """The log evidence of n strong samples, less half a log n for each fitted factor on the prior mean (BIC)."""
    factors: tuple[float, ...] = getattr(teacher, "shrinkage_", ())
    fitted = sum(factor > 0.0 for factor in factors)
    return teacher.log_evidence_ - 0.5 * math.log(n) * fitted * bool(getattr(teacher, "shrink_mean", False))


def left_out_score(left_out: Posterior, y: Array) -> float:
    """The summed log density of strong labels y [N, C] under beliefs that were formed without them."""
    error = (y - left_out.mean) ** 2
    return float(-0.5 * (np.log(2 * math.pi * left_out.variance) + error / left_out.variance).sum())
