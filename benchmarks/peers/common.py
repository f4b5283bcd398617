"""What all peers share: the lesson, the same clusters for everybody, and samples handed out to their clusters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

Array = npt.NDArray[Any]
Belief = tuple[Array, Array]  # mean and variance of the label, noise included, [M] each
Work = tuple[int, Array]  # centroids looked at to find the cluster; samples or inducing points looked at there, [M]


@dataclass(frozen=True, eq=False)
class Lesson:
    """What every peer is given.

    Attributes:
        Z: strong samples, [N, D], in double precision.
        y: their labels, [N], of mean zero.
        clusters: the paper's K.
        seed: of k-means.
        lengthscale: where the fit of the kernel starts.
        variance: of the function, likewise.
        noise: its variance, likewise.
        inducing: inducing points of a sparse process in each cluster.
        inducing_whole: inducing points of a sparse process over all samples.
        steps: of Adam, where a process is fitted by it.
    """

    Z: Array
    y: Array
    clusters: int
    seed: int
    lengthscale: float
    variance: float
    noise: float
    inducing: int
    inducing_whole: int
    steps: int


class Peer(Protocol):
    """A teacher under measurement."""

    def fit(self, lesson: Lesson) -> None:
        """Find the clusters, fit the hyper-parameters and whatever prediction will need."""

    def predict(self, Z: Array) -> Belief:
        """Mean and variance at each row of Z [M, D], given in single precision."""

    def work(self, Z: Array) -> Work:
        """What an answer at each row of Z [M, D] cannot do without."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Space cut by the nearest centroid.

    Attributes:
        centroids: [K, D], in single precision.
        members: the strong samples of each cluster.
    """

    centroids: Array
    members: tuple[Array, ...]

    def of(self, Z: Array) -> Array:
        """The cluster of each row of Z [M, D]."""
        lead = Z @ self.centroids.T
        lead -= 0.5 * (self.centroids**2).sum(axis=1)
        return np.asarray(lead.argmax(axis=1))

    def work(self, Z: Array, points: Array) -> Work:
        """With so many points in each cluster."""
        return len(self.centroids), points[self.of(Z)]

    def sizes(self) -> Array:
        """How many strong samples each cluster has."""
        return np.array([len(rows) for rows in self.members])

    def each_its_own(self, Z: Array, judge: Callable[[int, Array], Belief]) -> Belief:
        """What the clusters say, each of its own samples: `judge(k, rows)` answers for cluster k."""
        cluster = self.of(Z)
        order = np.argsort(cluster, kind="stable")
        edges = np.cumsum(np.bincount(cluster, minlength=len(self.members)))[:-1]
        mean, variance = np.empty(len(Z)), np.empty(len(Z))
        for k, rows in enumerate(np.split(order, edges)):
            if len(rows):
                mean[rows], variance[rows] = judge(k, Z[rows])
        return mean, variance


def find_cells(lesson: Lesson) -> Cells:
    """The call of k-means that `ClusteredGP` makes, with its seed: the same clusters for everybody."""
    found = KMeans(lesson.clusters, n_init=1, random_state=lesson.seed).fit(lesson.Z)
    members = tuple(np.flatnonzero(found.labels_ == k) for k in range(lesson.clusters))
    return Cells(found.cluster_centers_.astype(np.float32), members)


def in_pieces(judge: Callable[[Array], Belief], Z: Array, most: int) -> Belief:
    """A long set a piece at a time."""
    parts = [judge(Z[i : i + most]) for i in range(0, len(Z), most)]
    mean, variance = zip(*parts, strict=True)
    return np.concatenate(mean), np.concatenate(variance)
