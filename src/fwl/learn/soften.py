"""Step 2, second half: a teacher's posterior becomes soft labels, uncertainties and fidelities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fwl.learn.fitted import FittedTeacher
from fwl.records import Array, Posterior, SoftSet


@dataclass(frozen=True, eq=False)
class Softener:
    """From samples to the soft dataset D_sw.

    Attributes:
        teacher: who says what the labels should be.
        beta: how strongly uncertainty lowers fidelity.
        uncertainty: "raw" or "relative" (see `Recipe`).
    """

    teacher: FittedTeacher
    beta: float = 1.0
    uncertainty: str = "raw"

    def __call__(self, X: npt.NDArray[Any], weak: Array | None = None) -> SoftSet:
        """The soft dataset of samples X, of which the annotator says `weak` [N, C]."""
        return self.of(X, self.teacher.posterior(X, weak))

    def of(self, X: npt.NDArray[Any], posterior: Posterior) -> SoftSet:
        """The soft dataset of samples X, of which the teacher's belief is known already."""
        variance = posterior.variance if self.uncertainty == "raw" else unexplained_share(posterior)
        sigma = self.teacher.task.aggregate(variance)  # Sigma(x) = h(K_post(x, x))
        return SoftSet(X, self.teacher.label(posterior), uncertainty=sigma, fidelity=fidelity(sigma, self.beta))


def fidelity(sigma: Array, beta: float) -> Array:
    """Eq. 1: eta2(x) = exp(-beta Sigma(x)), kept above zero where it would vanish in double precision."""
    return np.maximum(np.exp(-beta * sigma), np.finfo(np.float64).tiny)


def unexplained_share(posterior: Posterior) -> Array:
    """The signal's variance that is left, relative to what it was before any strong label: [N, C], in [0, 1]."""
    left = posterior.variance - posterior.noise
    before = posterior.prior - posterior.noise
    return np.clip(left / np.maximum(before, np.finfo(np.float64).tiny), 0.0, 1.0)
