"""Mean and variance of many samples from fitted clusters: sorted by cluster, a cache-sized block at a time.

A block costs two matrix products (distances; the triangular one of the variance) and a few passes over memory that is
still in cache. In single precision, unless the clusters turn out to need double (`clustered.py` tries both). Where
there are many samples those passes are compiled ones, each of which does what torch would take two or three for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from fwl.teach.kernels import RBF, Kernel, Sum, White
from fwl.teach.passes import Passes, passes_for

ROWS = 2560  # of a block: large enough that products, not calls, take the time; larger ones leave the cache
LANE = 16  # products of matrices with other widths are up to a third slower
STEP = 48  # columns of one part of the triangular product, or a multiple


@dataclass(frozen=True, eq=False)
class Expert:
    """One cluster, ready to predict. Its n samples are padded with some that have no weight, to whole lanes.

    Attributes:
        kernel: its covariance function.
        rbf: the one part of the kernel that is not noise, if that is an RBF: its exponent comes out of the product of
            inputs directly, and its variance is in weights and whitening already.
        centre: of its samples, [D]: distances are taken from there, where the numbers are smallest; the origin itself
            for kernels to which it matters.
        inputs: its samples less the centre, transposed, [D, n].
        squares: their squared lengths, [n].
        weights: alpha = K^-1 (y - m), [n, C].
        whitening: L^-1 transposed, upper triangular, in parts of some columns each without the zeros below.
    """

    kernel: Kernel
    rbf: RBF | None
    centre: Tensor
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
    missing, rbf = -len(L) % LANE, _only_rbf(kernel)
    centre = Z.mean(dim=0) if kernel.stationary else torch.zeros_like(Z[0])
    inverse = torch.linalg.solve_triangular(L, torch.eye(len(L), dtype=L.dtype), upper=False)
    factor = float(rbf.variance) if rbf else 1.0
    whitening = factor * pad(inverse.mT, (0, missing, 0, missing))
    parts = tuple(whitening[:end, start:end].to(precision).contiguous() for start, end in _spans(len(whitening)))
    inputs = pad(Z - centre, (0, 0, 0, missing)).to(precision).mT.contiguous()
    weights = factor * pad(alpha, (0, 0, 0, missing))
    return Expert(kernel, rbf, centre.to(precision), inputs, inputs.square().sum(dim=0), weights.to(precision), parts)


def predict_sorted(experts: Sequence[Expert], Z: Tensor, cluster: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Mean [M, C], variance [M] and prior variance [M] of samples Z [M, D], each by its cluster's expert."""
    order = _sorted_by(cluster)
    belief = Z.new_empty(len(Z), experts[0].weights.shape[1] + 2)  # mean, variance, prior variance
    workspace = Z.new_empty(2, ROWS * max(len(e.squares) for e in experts))
    gathered = Z.new_empty(ROWS, Z.shape[1])
    passes = passes_for(Z)
    for k, start, end in _blocks(cluster, len(experts)):
        rows = gathered[: end - start]
        squares = passes.gather_centred(Z, order[start:end], experts[k].centre, rows)
        _judge(experts[k], rows, squares, workspace, belief[start:end], passes)
    in_their_order = torch.empty_like(belief).index_copy_(0, order, belief)
    return in_their_order[:, :-2], in_their_order[:, -2], in_their_order[:, -1]


def _sorted_by(cluster: Tensor) -> Tensor:
    """Rows in the order of their clusters; numpy sorts short integers by radix, six times as fast as torch."""
    keys = cluster.numpy().astype(np.int16 if cluster.max() < np.iinfo(np.int16).max else np.int64)
    return torch.from_numpy(np.argsort(keys, kind="stable"))


def _blocks(cluster: Tensor, clusters: int) -> Iterator[tuple[int, int, int]]:
    """(cluster, start, end) of even pieces of the sorted samples, none longer than `ROWS` and none over a border."""
    start = 0
    for k, count in enumerate(torch.bincount(cluster, minlength=clusters).tolist()):
        pieces = -(-count // ROWS)
        for i in range(pieces):
            yield k, start + count * i // pieces, start + count * (i + 1) // pieces
        start += count


def _judge(expert: Expert, Z: Tensor, squares: Tensor, workspace: Tensor, belief: Tensor, passes: Passes) -> None:
    cross = _covariance(expert, Z, squares, workspace[0])  # [M, n]
    prior = expert.kernel.diag(Z)
    variance = prior - passes.squared_lengths(_whitened(expert, cross, workspace[1]))
    torch.mm(cross, expert.weights, out=belief[:, :-2])
    belief[:, -2] = variance.clamp_min_(float(expert.kernel.noise))
    belief[:, -1] = prior


def _covariance(expert: Expert, Z: Tensor, squares: Tensor, workspace: Tensor) -> Tensor:
    n = len(expert.squares)
    out = workspace[: len(Z) * n].view(len(Z), n)
    if expert.rbf:
        scale = -0.5 / float(expert.rbf.lengthscale) ** 2
        # A distance rounded below zero is a covariance above its variance by the same rounding: not worth a pass.
        return _scaled_distances(expert, Z, squares, scale, out).exp_()
    squared = _scaled_distances(expert, Z, squares, 1.0, out).clamp_min_(0.0)
    return expert.kernel.of(Squares(squared, squares, expert.squares))


def _whitened(expert: Expert, cross: Tensor, workspace: Tensor) -> Tensor:
    """The vectors v = L^-1 k of all samples, [M, n], a part of the triangle at a time."""
    v = workspace[: cross.numel()].view_as(cross)
    end = 0
    for part in expert.whitening:
        start, end = end, len(part)
        torch.mm(cross[:, :end], part, out=v[:, start:end])
    return v


def _scaled_distances(expert: Expert, Z: Tensor, squares: Tensor, scale: float, out: Tensor) -> Tensor:
    """The squared distances |a|^2 + |b|^2 - 2 a.b times `scale`, [M, n]."""
    torch.add((scale * squares)[:, None], scale * expert.squares, out=out)
    return torch.addmm(out, Z, expert.inputs, alpha=-2.0 * scale, out=out)


def _only_rbf(kernel: Kernel) -> RBF | None:
    parts = kernel.parts if isinstance(kernel, Sum) else (kernel,)
    signal = [part for part in parts if not isinstance(part, White)]
    return signal[0] if len(signal) == 1 and isinstance(signal[0], RBF) else None


def _spans(n: int) -> list[tuple[int, int]]:
    """Columns 0 to n in parts that matrix products like; the odd one is the first, which has the fewest rows."""
    width = STEP * max(1, n // (8 * STEP))
    edges = [0, *range(n % width or width, n + 1, width)]
    return list(pairwise(edges))
