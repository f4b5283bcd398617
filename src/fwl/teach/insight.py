"""What an exact Gaussian process knows beyond its posterior: how two samples hang together, and who speaks for one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from fwl.errors import NoClosedForm
from fwl.records import Array
from fwl.teach.algebra import cholesky
from fwl.teach.clustered import ClusteredGP
from fwl.teach.exact import ExactGP
from fwl.teach.kernels import Kernel
from fwl.teach.partition import nearest
from fwl.teach.reduced import Reduced
from fwl.threads import one_thread

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Region:
    """One exact process.

    Attributes:
        rows: its strong samples, [n], of all N.
        kernel: fitted.
        Z: their inputs, [n, D].
        L: the lower factor of their labels' covariance, [n, n].
        residual: their labels less the prior mean, [n, C].
    """

    rows: Rows
    kernel: Kernel
    Z: Tensor
    L: Tensor
    residual: Tensor

    def whitened(self, A: Tensor) -> Tensor:
        """V = L^-1 k(Z, A), [n, M]: what the strong samples explain of each row is the length of its column."""
        V: Tensor = torch.linalg.solve_triangular(self.L, self.kernel(self.Z, A), upper=False)
        return V


@dataclass(frozen=True, eq=False)
class Insight:
    """A fitted teacher, seen from inside.

    Attributes:
        regions: its processes; samples in different ones do not hang together.
        route: the region of each row of inputs.
        strong: how many strong samples there are, N.
        project: from a teacher's inputs to those of its processes.
    """

    regions: tuple[Region, ...]
    route: Callable[[Array], Rows]
    strong: int
    project: Callable[[Array], Array] = np.ascontiguousarray

    @property
    def noise(self) -> float:
        """The variance of a label that no other label explains."""
        return min(float(region.kernel.noise) for region in self.regions)

    def covariance(self, A: Array, B: Array) -> Array:
        """Between the function's values at A [M, D] and B [K, D], given the strong labels: [M, K]."""
        A, B = self.project(A), self.project(B)
        found = np.zeros((len(A), len(B)))
        for region, of_A, of_B in self._shared(A, B):
            a, b = torch.from_numpy(A[of_A]), torch.from_numpy(B[of_B])
            with one_thread():
                explained = region.whitened(a).mT @ region.whitened(b)
                found[np.ix_(of_A, of_B)] = (region.kernel(a, b) - explained).numpy()
        return found

    def variance(self, A: Array) -> Array:
        """Of the function's value at each row, given the strong labels, without the labels' noise: [M]."""
        A = self.project(A)
        found = np.zeros(len(A))
        for region, of_A, _ in self._shared(A, A[:0]):
            a = torch.from_numpy(A[of_A])
            with one_thread():
                left = region.kernel.diag(a) - float(region.kernel.noise) - region.whitened(a).square().sum(dim=0)
            found[of_A] = left.clamp_min(0.0).numpy()
        return found

    def weights(self, A: Array) -> Array:
        """How much each strong label counts for the belief at each row, W = k(A, Z) K^-1, [M, N].

        The mean is the prior mean plus W times what the strong labels are above theirs.
        """
        A = self.project(A)
        found = np.zeros((len(A), self.strong))
        for region, of_A, _ in self._shared(A, A[:0]):
            a = torch.from_numpy(A[of_A])
            with one_thread():
                half = region.whitened(a)
                found[np.ix_(of_A, region.rows)] = torch.linalg.solve_triangular(region.L.mT, half, upper=True).mT
        return found

    def residual(self) -> Array:
        """What the strong labels are above their prior mean, [N, C]."""
        found = np.zeros((self.strong, self.regions[0].residual.shape[1]))
        for region in self.regions:
            found[region.rows] = region.residual.numpy()
        return found

    def _shared(self, A: Array, B: Array) -> list[tuple[Region, Rows, Rows]]:
        """Every region with the rows of A and of B that belong to it."""
        at_A, at_B = self.route(A), self.route(B)
        return [(region, np.flatnonzero(at_A == k), np.flatnonzero(at_B == k)) for k, region in enumerate(self.regions)]


def insight(teacher: Any) -> Insight:
    """Look inside a fitted teacher; only exact processes, of one cluster or several, can be looked into."""
    if isinstance(teacher, Reduced):
        centre, directions = teacher.centre_, teacher.directions_
        return replace(insight(teacher.teacher_), project=lambda A: np.ascontiguousarray((A - centre) @ directions.T))
    if isinstance(teacher, ExactGP):
        rows = np.arange(len(teacher._Z))
        region = Region(rows, teacher.kernel_, teacher._Z, teacher._L, teacher._residual)
        return Insight((region,), lambda A: np.zeros(len(A), dtype=np.int64), len(rows))
    if isinstance(teacher, ClusteredGP):
        return _clustered(teacher)
    raise NoClosedForm(
        f"a {type(teacher).__name__} has no closed form for how samples hang together; choose an exact or clustered one"
    )


def far_reaching(inside: Insight, reach: float, noise_share: float) -> Insight:
    """The same strong samples under a kernel that varies over a distance of `reach` at least, and has noise enough.

    Where labels are classes and few, the lengthscale that was fitted is a guess, often a short one, under which a label
    tells of its nearest neighbours alone. A class is a noisy reading of its probability: at least `noise_share` of a
    label's variance is noise (DECISIONS.md, D23 and D63). Residuals are left as they were.
    """
    return replace(inside, regions=tuple(_far_reaching(region, reach, noise_share) for region in inside.regions))


def _far_reaching(region: Region, reach: float, noise_share: float) -> Region:
    with one_thread():
        signal = float((region.kernel.diag(region.Z) - float(region.kernel.noise)).mean())
        least = {"lengthscale": reach, "constant": signal * noise_share / (1.0 - noise_share)}
        values = {k: max(float(v), least.get(k.split(".")[-1], 0.0)) for k, v in region.kernel.parameters().items()}
        kernel = region.kernel.with_parameters(dict(values))
        return replace(region, kernel=kernel, L=_factor(kernel, region.Z))


def _factor(kernel: Kernel, Z: Tensor) -> Tensor:
    return cholesky(kernel(Z, Z) + float(kernel.noise) * torch.eye(len(Z), dtype=Z.dtype))


def _clustered(teacher: ClusteredGP) -> Insight:
    Z, y, mean = teacher._lesson
    regions = []
    for k, kernel in enumerate(teacher.kernels_):
        rows = np.flatnonzero(teacher.cluster_ == k)
        inputs = Z[rows]
        with one_thread():
            L = _factor(kernel, inputs)
        regions.append(Region(rows, kernel, inputs, L, y[rows] - mean[rows] @ teacher._factors))
    where = teacher.partition_
    return Insight(tuple(regions), lambda A: where.cluster_of[nearest(A, where.centroids)], len(Z))
