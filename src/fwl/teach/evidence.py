"""Hyper-parameters by the marginal likelihood: quasi-Newton steps on their logarithms, from several starts.

With few strong labels the likelihood alone sometimes prefers no noise at all, or nothing but noise. A prior holds each
parameter within a factor of a few of its starting value unless the labels say otherwise.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from fwl.errors import NumericalTrouble
from fwl.randomness import Chance
from fwl.records import Array
from fwl.teach.algebra import cholesky, log_evidence
from fwl.teach.kernels import Kernel, Scalar

# Standard deviations of the log-normal priors around the starting values.
PRIOR_WIDTHS = {"lengthscale": 1.0, "variance": 1.0, "offset": 1.0, "constant": 2.0}


def fit_kernel(
    kernel: Kernel,
    Z: Tensor,
    y: Tensor,
    mean: Tensor | None,
    *,
    with_prior: bool,
    starts: int,
    chance: Chance,
) -> Kernel:
    """The kernel with the parameter values that make y [N, C] at Z [N, D] most likely.

    Args:
        kernel: gives the form, and the first start; further starts are drawn around it.
        Z: inputs.
        y: labels.
        mean: a prior mean [N, C] to be shrunk by the factor the evidence prefers, or None for zero.
        with_prior: whether the parameters are held near their starting values by `PRIOR_WIDTHS`.
        starts: how many starting points are tried.
        chance: where the further starts are drawn from.
    """
    names = list(kernel.parameters())
    first = np.log([kernel.parameters()[name] for name in names])
    low, high = np.log([kernel.bounds()[name] for name in names]).T
    width = np.array([PRIOR_WIDTHS[name.split(".")[-1]] if with_prior else np.inf for name in names])

    def objective(theta: Array) -> tuple[float, Array]:
        value, slope = _negative_evidence(kernel, names, theta, Z, y, mean)
        pull = (theta - first) / width
        return value + 0.5 * float(pull @ pull), slope + pull / width

    descents = (
        minimize(objective, start, jac=True, method="L-BFGS-B", bounds=list(zip(low, high, strict=True)))
        for start in _starts(first, low, high, starts, chance)
    )
    best = min(descents, key=lambda descent: float(descent.fun)).x
    return kernel.with_parameters({n: float(v) for n, v in zip(names, np.exp(best), strict=True)})


def shrinkage(L: Tensor, y: Tensor, mean: Tensor) -> Tensor:
    """The factor a in [0, 1] for which y - a mean is most likely under N(0, L L^T): generalised least squares."""
    alpha = torch.cholesky_solve(mean, L)
    explained = (mean * alpha).sum()
    return ((y * alpha).sum() / explained.clamp_min(1e-300)).clamp(0.0, 1.0)


def _starts(first: Array, low: Array, high: Array, starts: int, chance: Chance) -> list[Array]:
    draws = chance.numpy().normal(scale=1.0, size=(starts - 1, len(first)))
    return [np.clip(first + move, low, high) for move in (0.0, *draws)]


def _negative_evidence(
    kernel: Kernel, names: list[str], theta: Array, Z: Tensor, y: Tensor, mean: Tensor | None
) -> tuple[float, Array]:
    log_values = torch.tensor(theta, dtype=torch.float64, requires_grad=True)
    values: dict[str, Scalar] = dict(zip(names, log_values.exp().unbind(), strict=True))
    try:
        L = cholesky(kernel.with_parameters(values).gram(Z))
    except NumericalTrouble:
        return 1e25, np.zeros_like(theta)
    residual = y if mean is None else y - shrinkage(L, y, mean) * mean
    loss = -log_evidence(L, residual)
    loss.backward()  # type: ignore[no-untyped-call]
    assert log_values.grad is not None
    return loss.item(), log_values.grad.numpy()
