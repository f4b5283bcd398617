"""Mean and variance of many samples from fitted clusters: sorted by cluster, a cache-sized block at a time.

A block costs two matrix products (distances; the triangular one of the variance) and a few passes over memory that is
still in cache. In single precision, unless the clusters turn out to need double (`clustered.py` tries both).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from fwl.teach.kernels import Kernel

ROWS = 1024  # of a block: its covariances with a cluster of some hundred samples stay in the second-level cache
STEP = 96  # columns of one part of the triangular product, about


@dataclass(frozen=True, eq=False)
class Expert:
    """One cluster, ready to predict.

    Attributes:
        kernel: its covariance function.
        inputs: its samples, moved by the predictor's origin and transposed, [D, n].
        squares: their squared lengths, [n].
        weights: alpha = K^-1 (y - m), [n, C].
        whitening: L^-1 transposed, in parts of some columns each: (rows that count, part [rows, columns]).
    """

    kernel: Kernel
    inputs: Tensor
    squares: Tensor
    weights: Tensor
    whitening: tuple[Tensor, ...]


@dataclass(frozen=True, eq=False)
class Squares:
    """Pairs of samples known by their squared distances and squared lengths."""

    squared: Tensor
    a: Tensor
    b: Tensor

    @property
    def dot(self) -> Tensor:
        """Dot products."""
        return 0.5 * (self.a[:, None] + self.b - self.squared)


def new_expert(kernel: Kernel, Z: Tensor, L: Tensor, alpha: Tensor, precision: torch.dtype) -> Expert:
    """An expert for samples Z [n, D] with Cholesky factor L [n, n] and weights alpha [n, C]."""
    eye = torch.eye(len(L), dtype=L.dtype)
    whitening = torch.linalg.solve_triangular(L, eye, upper=False).mT  # [n, n], upper triangular
    parts = tuple(whitening[:end, start:end].to(precision).contiguous() for start, end in _spans(len(L)))
    inputs = Z.to(precision).mT.contiguous()
    return Expert(kernel, inputs, inputs.square().sum(dim=0), alpha.to(precision), parts)


def predict_sorted(
    experts: Sequence[Expert], Z: Tensor, squares: Tensor, cluster: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Mean [M, C], variance [M] and prior variance [M] of samples Z [M, D] (squared lengths [M]), by their clusters."""
    order = cluster.argsort(stable=True)
    mean = torch.empty(len(Z), experts[0].weights.shape[1], dtype=Z.dtype)
    variance, prior = torch.empty(len(Z), dtype=Z.dtype), torch.empty(len(Z), dtype=Z.dtype)
    workspace = Z.new_empty(ROWS * max(len(e.squares) for e in experts))
    gathered = Z.new_empty(ROWS, Z.shape[1])
    for k, start, end in _blocks(cluster, len(experts)):
        rows = order[start:end]
        block = torch.index_select(Z, 0, rows, out=gathered[: end - start])
        mean[start:end], variance[start:end], prior[start:end] = _judge(experts[k], block, squares[rows], workspace)
    back = torch.empty_like(order)
    back[order] = torch.arange(len(order))
    return mean[back], variance[back], prior[back]


def _blocks(cluster: Tensor, clusters: int) -> Iterator[tuple[int, int, int]]:
    """(cluster, start, end) of even pieces of the sorted samples, none longer than `ROWS` and none over a border."""
    start = 0
    for k, count in enumerate(torch.bincount(cluster, minlength=clusters).tolist()):
        pieces = -(-count // ROWS)
        for i in range(pieces):
            yield k, start + count * i // pieces, start + count * (i + 1) // pieces
        start += count


def _judge(expert: Expert, Z: Tensor, squares: Tensor, workspace: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    n = len(expert.squares)
    squared = workspace[: len(Z) * n].view(len(Z), n)
    torch.add(squares[:, None], expert.squares, out=squared)
    torch.addmm(squared, Z, expert.inputs, alpha=-2.0, out=squared)  # |a|^2 + |b|^2 - 2 a.b
    squared.clamp_min_(0.0)
    cross = expert.kernel.of(Squares(squared, squares, expert.squares))  # [M, n]
    prior = expert.kernel.diag(Z)
    explained = [_squared_length(cross[:, : len(part)] @ part) for part in expert.whitening]
    variance = prior - torch.stack(explained).sum(dim=0)
    return cross @ expert.weights, variance.clamp_min(float(expert.kernel.noise)), prior


def _squared_length(rows: Tensor) -> Tensor:
    lengths: Tensor = torch.linalg.vector_norm(rows, dim=1)
    return lengths.square_()


def _spans(n: int) -> list[tuple[int, int]]:
    """Columns 0 to n in even parts, their edges on multiples of 8."""
    parts = max(1, n // STEP)
    edges = [8 * (n * i // parts // 8) for i in range(parts)] + [n]
    return list(pairwise(edges))
