"""Sparse regression in closed form: what Titsias (2009) proves best to believe, given inducing points and labels.

GPyTorch fits this model but predicts from another: either its means are FITC's (`sgpr_diagonal_correction`, on by
default), or its variances lack what the inducing points leave unexplained.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from fwl.teach.algebra import cholesky
from fwl.teach.inducing import Belief
from fwl.teach.kernels import Kernel


def collapse(kernel: Kernel, points: Tensor, Z: Tensor, y: Tensor) -> Belief:
    """Titsias' best belief about inducing points [M, D] given labels y [N, C] at Z [N, D] (2009, eq. 10)."""
    L, A, LB = _factors(kernel, points, Z)
    root = torch.linalg.solve_triangular(LB, torch.eye(len(LB), dtype=Z.dtype), upper=False).mT  # B^-1 = root root^T
    mean = torch.cholesky_solve(A @ y, LB) / math.sqrt(float(kernel.noise))  # [M, C]
    return Belief(kernel, points, L, mean, root[None])


def leave_one_out(kernel: Kernel, points: Tensor, Z: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Mean [N, C] and variance [N, 1] at each sample from all the others: R&W eq. 5.12 for the covariance Q + noise I.

    Q = Kfu Kuu^-1 Kuf is what the inducing points explain. By Woodbury (Q + noise I)^-1 = (I - V^T V) / noise.
    """
    noise = float(kernel.noise)
    _, A, LB = _factors(kernel, points, Z)
    V = torch.linalg.solve_triangular(LB, A, upper=False)  # [M, N]
    explained = noise * A.square().sum(dim=0)[:, None]  # diag Q, [N, 1]
    precision = (1.0 - V.square().sum(dim=0)[:, None]) / noise  # [N, 1]
    precision = precision.maximum(1.0 / (explained + noise))  # so it is, but for rounding
    mean = y - (y - V.mT @ (V @ y)) / (noise * precision)
    unexplained = (kernel.diag(Z)[:, None] - noise - explained).clamp_min(0.0)
    return mean, 1.0 / precision + unexplained


def _factors(kernel: Kernel, points: Tensor, Z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    # Kuu = L L^T [M, M]; A = L^-1 Kuf / sigma [M, N]; I + A A^T = LB LB^T [M, M], whose eigenvalues start at 1.
    L = cholesky(kernel(points, points))
    A = torch.linalg.solve_triangular(L, kernel(points, Z), upper=False) / math.sqrt(float(kernel.noise))
    return L, A, cholesky(torch.eye(len(A), dtype=Z.dtype) + A @ A.mT)
