"""Hyper-parameters by the marginal likelihood: quasi-Newton steps on their logarithms, from several starts.

With few strong labels the likelihood alone sometimes prefers no noise at all, or nothing but noise. A prior holds each
parameter within a factor of a few of its starting value unless the labels say otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from fwl.errors import NumericalTrouble
from fwl.randomness import Chance
from fwl.records import Array
from fwl.teach.algebra import cholesky
from fwl.teach.blocks import Block, log_evidence_of
from fwl.teach.kernels import Kernel, Scalar

# Standard deviations of the log-normal priors around the starting values.
PRIOR_WIDTHS = {"lengthscale": 1.0, "variance": 1.0, "offset": 1.0, "constant": 2.0}
ROOM = math.log(100.0)  # a fit may always move so far from its start, whatever the bounds say
TINY = 1e-12  # labels that do not vary at all hold nothing up
SWEEPS = 200  # of coordinate descent over the factors of a prior mean; two or three are the rule


@dataclass(frozen=True)
class Believed:
    """Factors on the directions of a prior mean that are expected before any strong label.

    Attributes:
        factors: [B].
        rows: as if so many strong samples had said so.
    """

    factors: tuple[float, ...]
    rows: float


def fit_kernel(
    kernel: Kernel,
    blocks: Sequence[Block],
    *,
    with_prior: bool,
    starts: int,
    chance: Chance,
    believed: Believed | None = None,
) -> Kernel:
    """The kernel with the parameter values that make the labels of all blocks most likely.

    Where the blocks have directions of a prior mean, each is shrunk by the factor the evidence prefers.

    Args:
        kernel: gives the form, and the first start; further starts are drawn around it.
        blocks: the strong samples; clusters are independent and share the kernel.
        with_prior: whether the parameters are held near their starting values by `PRIOR_WIDTHS`.
        starts: how many starting points are tried.
        chance: where the further starts are drawn from.
        believed: what is expected of those factors; None for nothing.
    """
    names = list(kernel.parameters())
    first = np.log([kernel.parameters()[name] for name in names])
    low, high = np.log([kernel.bounds()[name] for name in names]).T
    low, high = np.minimum(low, first - ROOM), np.maximum(high, first + ROOM)
    width = np.array([PRIOR_WIDTHS[name.split(".")[-1]] if with_prior else np.inf for name in names])

    def objective(theta: Array) -> tuple[float, Array]:
        value, slope = _negative_evidence(kernel, names, theta, blocks, believed)
        pull = (theta - first) / width
        return value + 0.5 * float(pull @ pull), slope + pull / width

    descents = (
        minimize(objective, start, jac=True, method="L-BFGS-B", bounds=list(zip(low, high, strict=True)))
        for start in _starts(first, low, high, starts, chance)
    )
    best = min(descents, key=lambda descent: float(descent.fun)).x
    return kernel.with_parameters({n: float(v) for n, v in zip(names, np.exp(best), strict=True)})


def shrinkage(blocks: Sequence[Block], factors: Sequence[Tensor], believed: Believed | None = None) -> Tensor:
    """The factors [B] in [0, 1] on the directions of the prior mean that make the labels most likely.

    Generalised least squares under the covariances whose Cholesky factors are given, drawn towards what is believed.
    """
    directions = blocks[0].mean.shape[-1]
    G, t = torch.zeros(directions, directions, dtype=torch.float64), torch.zeros(directions, dtype=torch.float64)
    for block, L in zip(blocks, factors, strict=True):
        solved = torch.cholesky_solve(block.mean.flatten(-2), L).view_as(block.mean)  # K^-1 m
        G += torch.einsum("kncb,kncd->bd", block.mean, solved)
        t += torch.einsum("knc,kncb->b", block.y, solved)
    if believed is not None:
        strength, expected = _strength(blocks, believed), torch.tensor(believed.factors, dtype=torch.float64)
        G, t = G + torch.diag(strength), t + strength * expected
    return _least_squares_in_the_box(G, t)


def _strength(blocks: Sequence[Block], believed: Believed) -> Tensor:
    """How firmly each factor is held, [B]: as by so many more samples whose labels vary as these do, in every place.

    It does not depend on the kernel: what a kernel is worth is judged under one belief.
    """
    labels = sum(float(block.y.square().sum()) for block in blocks) / blocks[0].y.shape[-1]
    towards = torch.stack([block.mean.square().sum(dim=(0, 1, 2)) for block in blocks]).sum(dim=0)  # [B]
    return believed.rows * towards / max(labels, TINY)


def _disbelief(blocks: Sequence[Block], factors: Tensor, believed: Believed | None) -> float:
    """What factors [B] other than those believed cost, on the scale of the negative log evidence."""
    if believed is None:
        return 0.0
    away = factors - torch.tensor(believed.factors, dtype=torch.float64)
    return 0.5 * float(_strength(blocks, believed) @ away.square())


def _least_squares_in_the_box(G: Tensor, t: Tensor) -> Tensor:
    """The minimum of a.G.a/2 - t.a over a in [0, 1]^B, by coordinate descent."""
    a = torch.zeros_like(t)
    for _ in range(SWEEPS):
        before = a.clone()
        for i in range(len(a)):
            others = G[i] @ a - G[i, i] * a[i]
            a[i] = ((t[i] - others) / G[i, i].clamp_min(1e-300)).clamp(0.0, 1.0)
        if torch.equal(a, before):
            break
    return a


def _starts(first: Array, low: Array, high: Array, starts: int, chance: Chance) -> list[Array]:
    draws = chance.numpy().normal(scale=1.0, size=(starts - 1, len(first)))
    return [np.clip(first + move, low, high) for move in (0.0, *draws)]


def _negative_evidence(
    kernel: Kernel, names: list[str], theta: Array, blocks: Sequence[Block], believed: Believed | None
) -> tuple[float, Array]:
    log_values = torch.tensor(theta, dtype=torch.float64, requires_grad=True)
    values: dict[str, Scalar] = dict(zip(names, log_values.exp().unbind(), strict=True))
    tried = kernel.with_parameters(values)
    signals = [tried.of(block.pairs) for block in blocks]
    try:
        lower = [cholesky(b.with_noise(s.detach().clone(), tried)) for b, s in zip(blocks, signals, strict=True)]
    except NumericalTrouble:
        return 1e25, np.zeros_like(theta)
    factors = shrinkage(blocks, lower, believed)  # at their optimum the evidence does not change with them
    evidence = -_disbelief(blocks, factors, believed)
    for block, signal, L in zip(blocks, signals, lower, strict=True):
        residual = block.residual(factors)
        alpha = torch.cholesky_solve(residual, L)
        evidence += float(log_evidence_of(block, L, residual, alpha))
        _descend(block, signal, tried.noise, L, alpha)
    assert log_values.grad is not None
    return -evidence, log_values.grad.numpy()


def _descend(block: Block, signal: Tensor, noise: Scalar, L: Tensor, alpha: Tensor) -> None:
    """Add the slope of the negative log evidence to the gradients of what signal and noise were made from."""
    # R&W eq. 5.9: d log p / d K = (alpha alpha^T - C K^-1) / 2. From K on the way to the parameters is elementwise;
    # going back through the factorisation instead would cost several times as much.
    slope = torch.cholesky_inverse(L).mul_(alpha.shape[-1]).sub_(alpha @ alpha.mT).mul_(0.5)
    diagonal = slope.diagonal(dim1=-2, dim2=-1)
    diagonal *= block.present  # what is absent pulls at nothing
    if signal.requires_grad:
        # A product and a sum: a slope handed to `backward` itself makes torch load a second's worth of modules first.
        (signal * slope).sum().backward(retain_graph=True)  # type: ignore[no-untyped-call]
    if isinstance(noise, Tensor):
        noise.backward(diagonal.sum(), retain_graph=True)  # type: ignore[no-untyped-call]
