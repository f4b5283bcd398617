"""Step 2, second half: a teacher's posterior becomes soft labels, uncertainties and fidelities."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fwl.learn.task import Task
from fwl.records import Array, Posterior, SoftSet


def soften(X: npt.NDArray[Any], posterior: Posterior, task: Task, beta: float, uncertainty: str = "raw") -> SoftSet:
    """The soft dataset D_sw of samples X.

    Args:
        X: samples, [N, ...].
        posterior: the teacher's belief about them.
        task: names the link g and the aggregate h.
        beta: how strongly uncertainty lowers fidelity.
        uncertainty: "raw" or "relative" (see `Recipe`).
    """
    variance = posterior.variance if uncertainty == "raw" else unexplained_share(posterior)
    sigma = task.aggregate(variance)  # Sigma(x) = h(K_post(x, x))
    return SoftSet(X, label=task.link(posterior.mean), uncertainty=sigma, fidelity=fidelity(sigma, beta))


def fidelity(sigma: Array, beta: float) -> Array:
    """Eq. 1: eta2(x) = exp(-beta Sigma(x)), kept above zero where it would vanish in double precision."""
    return np.maximum(np.exp(-beta * sigma), np.finfo(np.float64).tiny)


def unexplained_share(posterior: Posterior) -> Array:
    """The signal's variance that is left, relative to what it was before any strong label: [N, C], in [0, 1]."""
    left = posterior.variance - posterior.noise
    before = posterior.prior - posterior.noise
    return np.clip(left / np.maximum(before, np.finfo(np.float64).tiny), 0.0, 1.0)
