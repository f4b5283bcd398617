"""Classes whose true probabilities are known: what a calibrated label can be measured against.

Both tasks are frozen values: whoever holds the same fields and the same `chance` has the same task, and samples are
drawn from a `Chance` of their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax, softmax

from fwl.errors import InvalidInput, WrongShape
from fwl.randomness import Chance
from fwl.records import Array, as_matrix

FIRST = Chance(0)


@dataclass(frozen=True)
class SyntheticClasses(ABC):
    """A task of classes with a known posterior.

    Attributes:
        columns: of x.
        classes: how many there are.
        imbalance: how many times as common the first class is as the last, before x is seen; those between follow
            in equal ratios.
        chance: where the task itself is drawn from.
    """

    columns: int = 10
    classes: int = 3
    imbalance: float = 1.0
    chance: Chance = FIRST

    def __post_init__(self) -> None:
        _check_at_least("columns", self.columns, 1)
        _check_at_least("classes", self.classes, 2)
        _check_at_least("imbalance", self.imbalance, 1)

    @abstractmethod
    def draw(self, n: int, chance: Chance) -> Array:
        """Samples x, [n, D]."""

    @abstractmethod
    def logits(self, X: Array) -> Array:
        """The true log-probabilities of the classes at X [N, D], up to a constant a row: [N, C]."""

    def posterior(self, X: Array) -> Array:
        """The true probabilities of the classes at X [N, D]: [N, C]."""
        probabilities: Array = softmax(self.logits(X), axis=1)
        return probabilities

    def label(self, X: Array, chance: Chance) -> Array:
        """A strong label of each row of X, drawn from the posterior: one-hot [N, C]."""
        return _one_hot(_draw_classes(self.posterior(X), chance), self.classes)

    @property
    def log_prior(self) -> Array:
        """The log-probability of each class before x is seen, [C]."""
        steps: Array = log_softmax(-np.log(self.imbalance) * np.linspace(0, 1, self.classes))
        return steps

    def _checked(self, X: Array) -> Array:
        X = as_matrix(X, "samples")
        if X.shape[1] != self.columns:
            raise WrongShape(f"samples: expected [N, {self.columns}], got shape {X.shape}")
        return X


@dataclass(frozen=True)
class SmoothClasses(SyntheticClasses):
    """Logits that are smooth random functions of a few columns, and an annotator of planted quality.

    Attributes:
        informative: how many columns the logits depend on.
        sharpness: standard deviation of each logit over x; 0 leaves nothing to learn, 10 hardly any noise.
        lengthscale: over which distance the logits vary, before it is stretched by the root of `informative`.
        distortion: share of the annotator's logits that are another function than the true ones: 0 has them right.
        flips: share of the annotator's labels that are replaced by a class at random.
    """

    informative: int = 4
    sharpness: float = 3.0
    lengthscale: float = 1.0
    distortion: float = 0.2
    flips: float = 0.1

    FEATURES: ClassVar[int] = 256  # Fourier features: enough to look like a draw from a Gaussian process
    REFERENCE: ClassVar[int] = 4096  # samples over which functions are standardised and classes balanced

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_at_least("informative", self.informative, 1)
        if self.informative > self.columns:
            raise InvalidInput(f"informative={self.informative}: expected at most the {self.columns} columns of x")
        _check_at_least("sharpness", self.sharpness, 0)
        if not (np.isfinite(self.lengthscale) and self.lengthscale > 0):
            raise InvalidInput(f"lengthscale={self.lengthscale}: expected a number above 0")
        for name in ("distortion", "flips"):
            if not 0 <= getattr(self, name) <= 1:
                raise InvalidInput(f"{name}={getattr(self, name)}: expected a share from 0 to 1")

    def draw(self, n: int, chance: Chance) -> Array:
        """Samples x from N(0, I), [n, D]."""
        return chance.child("x").numpy().standard_normal((n, self.columns))

    def logits(self, X: Array) -> Array:
        """The true log-probabilities of the classes at X [N, D], up to a constant a row: [N, C]."""
        logits: Array = self._offset + self.sharpness * self._functions(self._checked(X), "true logits")
        return logits

    def annotate(self, X: Array, chance: Chance) -> Array:
        """A weak label of each row of X, one-hot [N, C]: the likeliest class as the annotator sees it, some flipped."""
        likeliest = self._as_seen_by_annotator(self._checked(X)).argmax(axis=1)
        anything = chance.child("flipped labels").numpy().integers(self.classes, size=len(likeliest))
        flipped = chance.child("who is flipped").numpy().random(len(likeliest)) < self.flips
        return _one_hot(np.where(flipped, anything, likeliest), self.classes)

    def _as_seen_by_annotator(self, X: Array) -> Array:
        right, wrong = self._functions(X, "true logits"), self._functions(X, "the annotator's own logits")
        mixed = np.sqrt(1 - self.distortion) * right + np.sqrt(self.distortion) * wrong
        logits: Array = self._offset + self.sharpness * mixed
        return logits

    def _functions(self, X: Array, purpose: str) -> Array:
        """One smooth random function a class, of mean 0 and deviation 1 over x: [N, C]."""
        over_x = self._raw_functions(self._reference, purpose)
        standardised: Array = (self._raw_functions(X, purpose) - over_x.mean(axis=0)) / over_x.std(axis=0)
        return standardised

    def _raw_functions(self, X: Array, purpose: str) -> Array:
        # Random Fourier features: cos(w x + b) with w from the spectrum of an RBF kernel.
        rng = self.chance.child(purpose).numpy()
        scale = self.lengthscale * np.sqrt(self.informative)
        frequencies = rng.standard_normal((self.informative, self.FEATURES)) / scale
        phases, weights = rng.uniform(0, 2 * np.pi, self.FEATURES), rng.standard_normal((self.FEATURES, self.classes))
        raw: Array = np.cos(X[:, : self.informative] @ frequencies + phases) @ weights
        return raw

    @cached_property
    def _reference(self) -> Array:
        return self.draw(self.REFERENCE, self.chance.child("reference"))

    @cached_property
    def _offset(self) -> Array:
        """What is added to the functions, [C], so that each class is as common as `imbalance` says."""
        functions, offset = self.sharpness * self._functions(self._reference, "true logits"), self.log_prior
        for _ in range(100):
            offset = offset + self.log_prior - np.log(softmax(offset + functions, axis=1).mean(axis=0))
        return offset


@dataclass(frozen=True)
class GaussianClasses(SyntheticClasses):
    """Every class a cloud of its own, each with its own width.

    Attributes:
        distance: standard deviation of the clouds' centres, over all columns together.
    """

    distance: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_at_least("distance", self.distance, 0)

    def draw(self, n: int, chance: Chance) -> Array:
        """Samples x from the mixture of all clouds, [n, D]."""
        centres, widths = self._clouds()
        which = _draw_classes(np.tile(np.exp(self.log_prior), (n, 1)), chance.child("cloud"))
        noise = chance.child("x").numpy().standard_normal((n, self.columns))
        return centres[which] + widths[which, None] * noise

    def logits(self, X: Array) -> Array:
        """The true log-probabilities of the classes at X [N, D], up to a constant a row: [N, C]."""
        centres, widths = self._clouds()
        squared = np.square(self._checked(X)[:, None] - centres).sum(axis=2)
        logits: Array = self.log_prior - 0.5 * squared / widths**2 - self.columns * np.log(widths)
        return logits

    def _clouds(self) -> tuple[Array, Array]:
        """Centres [C, D] and widths [C]."""
        rng = self.chance.child("clouds").numpy()
        centres = self.distance / np.sqrt(self.columns) * rng.standard_normal((self.classes, self.columns))
        # In many columns even a small difference in width tells the classes apart: log-densities differ by D log w.
        return centres, np.exp(rng.uniform(-0.5, 0.5, self.classes) / np.sqrt(self.columns))


def _draw_classes(probabilities: Array, chance: Chance) -> npt.NDArray[np.int64]:
    """A class for each row of probabilities [N, C]."""
    threshold = chance.child("class").numpy().random((len(probabilities), 1))
    classes: npt.NDArray[np.int64] = (np.cumsum(probabilities[:, :-1], axis=1) <= threshold).sum(axis=1)
    return classes


def _one_hot(classes: npt.NDArray[Any], count: int) -> Array:
    rows: Array = np.eye(count)[classes]
    return rows


def _check_at_least(name: str, value: float, least: float) -> None:
    if not (np.isfinite(value) and value >= least):
        raise InvalidInput(f"{name}={value}: expected at least {least}")
