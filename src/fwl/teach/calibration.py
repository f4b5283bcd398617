"""From a teacher's mean to class probabilities that can be believed.

Regression on one-hot labels gives means that are near probabilities and not quite: shrunk towards the class prior, and
now and then below zero. A few numbers bring them onto the simplex,

    p_c  ∝  exp(b_c) s(m_c)^(1/T),    s(m) = m + sqrt(m^2 + 4 floor^2),

where s(m) is 2m well above the floor and small but never zero below it. With a large floor this is the softmax at a
temperature; with a small one it is a power of the mean. The numbers are those that make strong labels most likely
under what the teacher says of each without its own label, which costs no further fit (DECISIONS.md, D22).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from fwl.errors import InvalidInput, WrongShape
from fwl.records import Array, Posterior, as_matrix, as_vector

# Where the fit starts, and how far labels must speak to move it: Gaussian priors on log T, log floor and the bias.
# They are wide against what 100 labels say; fewer, or labels of one class, must not send T to zero.
START = {"temperature": 0.5, "floor": 0.1}
PRIOR_WIDTHS = {"temperature": 1.0, "floor": 1.0, "bias": 0.5}
REACH = 7.0  # no number moves further than this many e-folds from its start


@dataclass(frozen=True)
class Calibration:
    """A link from posterior means [N, C] to class probabilities [N, C].

    A single column [N, 1] is the second of two classes: it comes back as its probability, in one column.

    Attributes:
        temperature: T, below 1 where means are too timid.
        floor: below it a mean counts as little but not nothing.
        bias: b, one number a class (two for a single column).
    """

    temperature: float
    floor: float
    bias: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("temperature", "floor"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise InvalidInput(f"{name}={getattr(self, name)}: expected a number above 0")

    def __call__(self, mean: Array) -> Array:
        """The probabilities of classes whose posterior means are [N, C]."""
        mean = as_matrix(mean, "posterior mean")
        both = _at_least_two(mean)
        if both.shape[1] != len(self.bias):
            raise WrongShape(f"posterior mean: expected {len(self.bias)} classes as calibrated, got shape {mean.shape}")
        probabilities: Array = softmax(_log_s(both, self.floor) / self.temperature + np.array(self.bias), axis=1)
        return probabilities[:, 1:] if mean.shape[1] == 1 else probabilities


def fit_calibration(loo: Posterior, labels: Array) -> Calibration:
    """The calibration under which strong labels are most likely, each judged by a teacher that has not seen it.

    Args:
        loo: a teacher's `leave_one_out()`.
        labels: the strong labels it was taught, one-hot or distributions, [N, C]; or [N, 1] in [0, 1].
    """
    labels = as_matrix(labels, "strong labels")
    if labels.shape != loo.mean.shape:
        raise WrongShape(f"strong labels have shape {labels.shape} and the means {loo.mean.shape}; expected the same")
    if labels.min() < 0 or labels.max() > 1:
        raise InvalidInput(
            f"strong labels: expected one-hot rows or distributions, got {labels.min():.3g} to {labels.max():.3g}"
        )
    mean, labels = _at_least_two(loo.mean), _at_least_two(labels)
    start, width = _start(mean.shape[1])
    bounds = list(zip(start - REACH, start + REACH, strict=True))
    found = minimize(_loss, start, (mean, labels, start, width), method="L-BFGS-B", jac=True, bounds=bounds).x
    temperature, floor = np.exp(found[:2])
    return Calibration(float(temperature), float(floor), tuple(found[2:].tolist()))


def with_class_prior(probabilities: Array, prior: Array, target: Array) -> Array:
    """The same evidence under another class prior: p * target / prior, brought back to sum 1.

    A uniform target keeps a rare class from being starved where all classes count alike (macro-F1); the result is then
    no longer calibrated for the samples as they come.

    Args:
        probabilities: [N, C], or [N, 1] for the second of two classes.
        prior: the class prior they were learned under, [C] (or [1]).
        target: the class prior wanted, [C] (or [1]).
    """
    probabilities = as_matrix(probabilities, "probabilities")
    ratio = _prior(target, "target", probabilities) / _prior(prior, "prior", probabilities)
    moved = _at_least_two(probabilities) * ratio
    moved /= moved.sum(axis=1, keepdims=True)
    return moved[:, 1:] if probabilities.shape[1] == 1 else moved


def rebalanced(probabilities: Array, shares: Array, how_far: float) -> Array:
    """Probabilities with the class shares [C] (or [1]) moved towards equal ones: 0 not at all, 1 all the way."""
    if how_far == 0:
        return probabilities
    both = _at_least_two(np.atleast_2d(shares))[0] ** (1.0 - how_far)
    target = both / both.sum()
    return with_class_prior(probabilities, shares, target[1:] if probabilities.shape[1] == 1 else target)


def _loss(numbers: Array, mean: Array, labels: Array, start: Array, width: Array) -> tuple[float, Array]:
    """Negative log posterior of (log T, log floor, b) and its slope."""
    sharpness, floor, bias = np.exp(-numbers[0]), np.exp(numbers[1]), numbers[2:]
    scores = sharpness * _log_s(mean, floor)
    logs = log_softmax(scores + bias, axis=1)
    surplus = labels.sum(axis=1, keepdims=True) * np.exp(logs) - labels  # the slope by each score
    by_floor = -sharpness * mean / np.hypot(mean, 2 * floor)
    pull = (numbers - start) / width
    slope = np.array([-(surplus * scores).sum(), (surplus * by_floor).sum(), *surplus.sum(axis=0)])
    return float(-(labels * logs).sum() + 0.5 * pull @ pull), slope + pull / width


def _log_s(mean: Array, floor: float) -> Array:
    """The log of s(m), up to a constant; as an inverse sine it neither cancels nor overflows."""
    return np.arcsinh(mean / (2 * floor))


def _start(classes: int) -> tuple[Array, Array]:
    start = np.array([np.log(START["temperature"]), np.log(START["floor"]), *np.zeros(classes)])
    width = np.array([PRIOR_WIDTHS["temperature"], PRIOR_WIDTHS["floor"], *np.full(classes, PRIOR_WIDTHS["bias"])])
    return start, width


def _at_least_two(columns: Array) -> Array:
    """A single column is the second of two classes."""
    return np.hstack([1 - columns, columns]) if columns.shape[1] == 1 else columns


def _prior(prior: Array, name: str, probabilities: Array) -> Array:
    shares = as_vector(prior, name)
    if len(shares) != probabilities.shape[1]:
        raise WrongShape(f"{name} has {len(shares)} classes and probabilities have shape {probabilities.shape}")
    shares = _at_least_two(shares[None]).ravel()
    if shares.min() <= 0:
        raise InvalidInput(f"{name}: expected every share above 0, got {shares.min():.3g}; add 1 to each class's count")
    return shares
