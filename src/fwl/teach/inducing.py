"""Inducing points: a few places whose function values stand for the whole function."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from fwl.randomness import Chance
from fwl.teach.kernels import Kernel


def distinct_rows(Z: Tensor) -> Tensor:
    """Z [N, D] without repetitions, in its own order."""
    _, first = np.unique(Z.numpy(), axis=0, return_index=True)
    return Z[np.sort(first)]


def starting_points(Z: Tensor, most: int, chance: Chance) -> Tensor:
    """Where inducing points start: at the distinct rows of Z [N, D], or at `most` centres if there are more."""
    rows = distinct_rows(Z)
    if most >= len(rows):
        return rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # rows that are as good as equal: fewer centres will do
        found = KMeans(most, n_init=1, random_state=chance.integer()).fit(Z.numpy())
    return distinct_rows(torch.from_numpy(found.cluster_centers_))


@dataclass(frozen=True, eq=False)
class Belief:
    """A Gaussian belief about the function at M inducing points: u = L v with v ~ N(mean, root root^T) per column.

    Attributes:
        kernel: of the function and its noise.
        points: the inducing points, [M, D].
        L: the lower factor of their covariance, [M, M].
        mean: [M, C].
        root: [C, M, M], or [1, M, M] if all columns share it.
    """

    kernel: Kernel
    points: Tensor
    L: Tensor
    mean: Tensor
    root: Tensor

    def at(self, Z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Mean, variance and prior variance of the label at Z [n, D], noise included, each [n, C]."""
        a = torch.linalg.solve_triangular(self.L, self.kernel(self.points, Z), upper=False)  # [M, n]
        prior = self.kernel.diag(Z)[:, None]  # [n, 1]
        unexplained = prior - a.square().sum(dim=0)[:, None]  # [n, 1]
        uncertain = (self.root.mT @ a).square().sum(dim=-2).mT  # [n, C] or [n, 1]
        mean, noise = a.mT @ self.mean, float(self.kernel.noise)
        # No label makes the function less certain than it was, nor more than certain: what is outside is rounding, or
        # an ascent that was stopped on its way.
        variance = (unexplained + uncertain).clamp_min(noise).minimum(prior)
        return mean, variance.expand_as(mean), prior.expand_as(mean)
