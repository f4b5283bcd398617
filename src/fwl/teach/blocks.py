"""Strong samples in blocks: clusters of about one size, padded to it, so that all are factored together.

Padding changes nothing: an absent sample has variance 1, no covariance with any other, and label 0, so it adds nothing
to determinant, quadratic form or mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from fwl.teach.algebra import cholesky
from fwl.teach.kernels import Between, Kernel, Pairs, Scalar

WASTE = 1.15  # a cluster joins a block if padding makes it at most so many times longer
MOST_ENTRIES = 2**24  # of a block's covariance matrices: 128 MiB


@dataclass(frozen=True, eq=False)
class Block:
    """K clusters of up to n samples.

    Attributes:
        clusters: which cluster each is, [K].
        rows: which strong sample each is, [K, n]; anything where absent.
        present: which places hold a sample, [K, n].
        Z: inputs, [K, n, D].
        y: labels, or what a prior mean leaves of them, [K, n, C]; 0 where absent.
        mean: directions a prior mean may take, [K, n, C, B]; 0 where absent; B = 0 for a zero mean.
    """

    clusters: Tensor
    rows: Tensor
    present: Tensor
    Z: Tensor
    y: Tensor
    mean: Tensor

    @cached_property
    def pairs(self) -> Pairs:
        """How the samples of each cluster lie to each other; computed once, whatever kernels are tried."""
        return Between(self.Z, self.Z)

    @cached_property
    def padded(self) -> bool:
        """Whether any place is empty."""
        return not bool(self.present.all())

    @property
    def samples(self) -> int:
        """How many there are."""
        return int(self.present.sum())

    def covariance(self, kernel: Kernel) -> Tensor:
        """Of the labels, noise included, [K, n, n]."""
        return self.with_noise(kernel.of(self.pairs), kernel)

    def with_noise(self, signal: Tensor, kernel: Kernel) -> Tensor:
        """The covariance [K, n, n] of the labels from that of the function, which is overwritten."""
        if self.padded:
            signal *= self.present[..., :, None] & self.present[..., None, :]
        own = torch.ones(self.present.shape, dtype=signal.dtype).masked_fill_(self.present, _plain(kernel.noise))
        signal.diagonal(dim1=-2, dim2=-1).add_(own)
        return signal

    def residual(self, factors: Tensor) -> Tensor:
        """The labels less the prior mean with these factors [B] on its directions, [K, n, C]."""
        return self.y - self.mean @ factors


def pack(Z: Tensor, y: Tensor, mean: Tensor, groups: Sequence[Tensor]) -> list[Block]:
    """Groups of rows as few blocks, each of clusters of about one size."""
    return [_block(Z, y, mean, groups, members) for members in _of_like_size([len(rows) for rows in groups])]


def one_block(Z: Tensor, y: Tensor, mean: Tensor) -> Block:
    """All samples as one cluster."""
    return pack(Z, y, mean, [torch.arange(len(Z))])[0]


def factor(block: Block, kernel: Kernel) -> Tensor:
    """The lower Cholesky factors, [K, n, n]."""
    return cholesky(block.covariance(kernel))


def log_evidence_of(block: Block, L: Tensor, residual: Tensor, alpha: Tensor) -> Tensor:
    """The log density of all its labels, a scalar: R&W eq. 2.30 summed over clusters and columns."""
    C = residual.shape[-1]
    quadratic = -0.5 * (residual * alpha).sum()
    log_determinant = -C * L.diagonal(dim1=-2, dim2=-1).log().sum()
    constant = -0.5 * block.samples * C * math.log(2.0 * math.pi)
    return quadratic + log_determinant + constant


def _plain(value: Scalar) -> float:
    return value.item() if isinstance(value, Tensor) else value


def _of_like_size(sizes: list[int]) -> Iterator[list[int]]:
    """Indices by falling size, cut where padding would waste too much or a block would grow too large."""
    order = sorted(range(len(sizes)), key=lambda i: (-sizes[i], i))
    members: list[int] = []
    for i in order:
        longest = sizes[members[0]] if members else sizes[i]
        if members and (longest > WASTE * sizes[i] or (len(members) + 1) * longest**2 > MOST_ENTRIES):
            yield members
            members = []
        members.append(i)
    yield members


def _block(Z: Tensor, y: Tensor, mean: Tensor, groups: Sequence[Tensor], members: list[int]) -> Block:
    n = len(groups[members[0]])
    rows = torch.stack([torch.nn.functional.pad(groups[i], (0, n - len(groups[i]))) for i in members])
    lengths = torch.tensor([len(groups[i]) for i in members])
    present = torch.arange(n) < lengths[:, None]
    return Block(
        clusters=torch.tensor(members),
        rows=rows,
        present=present,
        Z=Z[rows],
        y=y[rows] * present[..., None],
        mean=mean[rows] * present[..., None, None],
    )
