"""The linear algebra of Gaussian processes, in double precision (Rasmussen & Williams, chapters 2 and 5).

Everything takes stacks: matrices in the last two dimensions, any number of them before.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from fwl.errors import NumericalTrouble

# Added to the diagonal, relative to its mean, until the matrix is positive definite; the first that works is taken.
JITTER_LADDER = (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4)


def cholesky(K: Tensor) -> Tensor:
    """The lower factor L of K + jitter I = L L^T, [..., N, N], each with the least jitter of the ladder that works."""
    L, failed = torch.linalg.cholesky_ex(K)
    for jitter in JITTER_LADDER[1:]:
        if not failed.any():
            break
        troubled = failed > 0  # a sound matrix stays as it was, whatever stands beside it
        again, failed_again = torch.linalg.cholesky_ex(_with_jitter(K[troubled], jitter))
        L = L.masked_scatter(troubled[..., None, None], again)
        failed = failed.masked_scatter(troubled, failed_again)
    if failed.any():
        raise NumericalTrouble(
            f"a kernel matrix of {K.shape[-1]} samples is not positive definite even with {JITTER_LADDER[-1]:g} of its "
            "diagonal added; give the kernel some White noise, or look for NaN and huge values among its inputs"
        )
    lower: Tensor = L
    return lower


def log_evidence(L: Tensor, y: Tensor) -> Tensor:
    """The log density of y [N, C] under N(0, L L^T), summed over independent columns."""
    N, C = y.shape[-2:]
    alpha = torch.cholesky_solve(y, L)
    quadratic = -0.5 * (y * alpha).sum(dim=(-2, -1))
    log_determinant = -C * L.diagonal(dim1=-2, dim2=-1).log().sum(dim=-1)
    constant = -0.5 * N * C * math.log(2.0 * math.pi)
    return quadratic + log_determinant + constant


def leave_one_out(L: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Mean [N, C] and variance [N, 1] at each point from all the others (R&W eq. 5.12)."""
    inverse = torch.cholesky_inverse(L)
    precision = inverse.diagonal(dim1=-2, dim2=-1)[..., None]
    return y - (inverse @ y) / precision, 1.0 / precision


def _with_jitter(K: Tensor, jitter: float) -> Tensor:
    scale = K.diagonal(dim1=-2, dim2=-1).mean(dim=-1)[..., None, None]
    return K + jitter * scale * torch.eye(K.shape[-1], dtype=K.dtype)
