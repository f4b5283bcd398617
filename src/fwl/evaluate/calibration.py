"""How far stated probabilities and intervals can be believed.

Classes come as [N, C]: labels one-hot or distributions, probabilities on the simplex. A single column [N, 1] is the
probability of the second of two classes. Numbers come as y, mean and variance of one shape.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from fwl.errors import InvalidInput, WrongShape
from fwl.records import Array, as_matrix

LEVELS = tuple(np.arange(1, 10) / 10)
LEAST_PROBABILITY = 1e-12  # one impossible label should not outweigh all others
ROUNDING = 1e-6  # how far a distribution in single precision may be from summing to one


def expected_calibration_error(labels: Array, probabilities: Array, bins: int = 15) -> float:
    """How far confidence is from accuracy, over equally wide bins of the confidence in the most likely class.

    >>> expected_calibration_error(np.array([1.0, 1.0, 1.0, 0.0]), np.array([0.75, 0.75, 0.75, 0.75]))
    0.0
    """
    if bins < 1:
        raise InvalidInput(f"bins={bins}: expected at least 1; 15 is usual")
    labels, probabilities = _as_distributions(labels, probabilities)
    surplus = probabilities.max(axis=1) - _mass_on_guess(labels, probabilities)
    # Bins are ((i - 1) / bins, i / bins], so that certainty lies in the last one.
    bin_of = np.ceil(probabilities.max(axis=1) * bins).astype(int).clip(1, bins) - 1
    return float(np.abs(np.bincount(bin_of, weights=surplus)).sum() / len(labels))


def negative_log_likelihood(labels: Array, probabilities: Array) -> float:
    """The mean of -log p(label); a probability below 1e-12 counts as 1e-12."""
    labels, probabilities = _as_distributions(labels, probabilities)
    logs = np.log(np.maximum(probabilities, LEAST_PROBABILITY))
    return float(-(labels * logs).sum(axis=1).mean())


def accuracy(labels: Array, probabilities: Array) -> float:
    """How often the most likely class is the label; a label that is a distribution counts by its mass there.

    >>> accuracy(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.6, 0.4], [0.7, 0.3]]))
    0.5
    """
    labels, probabilities = _as_distributions(labels, probabilities)
    return float(_mass_on_guess(labels, probabilities).mean())


def set_coverage(labels: Array, probabilities: Array, level: float = 0.9) -> float:
    """How often the label lies in the smallest set of classes that holds at least `level` of the probability."""
    _check_level(level)
    labels, probabilities = _as_distributions(labels, probabilities)
    order = np.argsort(-probabilities, axis=1, kind="stable")
    ranked = np.take_along_axis(probabilities, order, axis=1)
    inside = np.cumsum(ranked, axis=1) - ranked < level - 1e-12  # what likelier classes hold is not yet enough
    return float((np.take_along_axis(labels, order, axis=1) * inside).sum(axis=1).mean())


def gaussian_nll(y: Array, mean: Array, variance: Array) -> float:
    """The mean of -log N(y; mean, variance) over samples and outputs."""
    y, mean, variance = _as_beliefs(y, mean, variance)
    if (variance == 0).any():
        raise InvalidInput("got a variance of 0, expected above 0: no density there; include the noise of a label")
    return float(np.mean(0.5 * np.log(2 * np.pi * variance) + (y - mean) ** 2 / (2 * variance)))


def interval_coverage(y: Array, mean: Array, variance: Array, level: float = 0.95) -> float:
    """How often y lies in the central interval of N(mean, variance) that should hold it `level` of the time."""
    _check_level(level)
    y, mean, variance = _as_beliefs(y, mean, variance)
    return float(np.mean(np.abs(y - mean) <= norm.ppf((1 + level) / 2) * np.sqrt(variance)))


def interval_calibration_error(y: Array, mean: Array, variance: Array) -> float:
    """How far the coverage of central intervals is from their level, averaged over the levels .1, .2, ... .9."""
    return float(np.mean([abs(interval_coverage(y, mean, variance, level) - level) for level in LEVELS]))


def _mass_on_guess(labels: Array, probabilities: Array) -> Array:
    guess = probabilities.argmax(axis=1)[:, None]
    mass: Array = np.take_along_axis(labels, guess, axis=1)[:, 0]
    return mass


def _as_distributions(labels: Array, probabilities: Array) -> tuple[Array, Array]:
    labels, probabilities = as_matrix(labels, "labels"), as_matrix(probabilities, "probabilities")
    if labels.shape != probabilities.shape:
        raise WrongShape(
            f"labels have shape {labels.shape} and probabilities {probabilities.shape}; expected the same, with "
            "labels one-hot or as distributions"
        )
    return _distributions(labels, "labels"), _distributions(probabilities, "probabilities")


def _distributions(p: Array, name: str) -> Array:
    if p.min() < 0 or p.max() > 1 + ROUNDING:
        raise InvalidInput(f"{name}: expected numbers in [0, 1], got {p.min():.3g} to {p.max():.3g}")
    if p.shape[1] == 1:
        return np.hstack([1 - p, p])
    sums = p.sum(axis=1)
    worst = np.abs(sums - 1).argmax()
    if abs(sums[worst] - 1) > ROUNDING:
        raise InvalidInput(f"{name}: expected rows that sum to 1, got {sums[worst]:.3g} in row {worst}; normalise them")
    return p


def _as_beliefs(y: Array, mean: Array, variance: Array) -> tuple[Array, Array, Array]:
    y, mean, variance = as_matrix(y, "y"), as_matrix(mean, "mean"), as_matrix(variance, "variance")
    if not y.shape == mean.shape == variance.shape:
        raise WrongShape(
            f"y has shape {y.shape}, mean {mean.shape} and variance {variance.shape}; expected the same for all"
        )
    if variance.min() < 0:
        raise InvalidInput(f"a variance is never negative, got {variance.min():.3g}")
    return y, mean, variance


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InvalidInput(f"level={level}: expected a share between 0 and 1, such as 0.9")
