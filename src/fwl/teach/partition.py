"""Algorithm 2, lines 1 and 2: strong samples in clusters, and new samples routed to them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from fwl.errors import InvalidInput
from fwl.randomness import Chance
from fwl.records import Array

Rows = npt.NDArray[np.int64]
ROUNDS = 10  # of splitting clusters that are too large; rows that are all the same cannot be split


@dataclass(frozen=True, eq=False)
class Partition:
    """Space cut into cells, and cells gathered into clusters.

    Attributes:
        centroids: of the cells, [cells, D]; a sample belongs to the nearest.
        cluster_of: the cluster that each cell belongs to, [cells]: one too small to stand alone joins a neighbour's.
    """

    centroids: Array
    cluster_of: Rows

    @property
    def clusters(self) -> int:
        """How many there are."""
        return int(self.cluster_of.max()) + 1


def partition(
    Z: Array, y: Array, clusters: int | None, largest: int, smallest: int, chance: Chance
) -> tuple[Partition, Rows]:
    """Cut the strong samples Z [N, D] into clusters by k-means; also the cluster of each, [N].

    Args:
        Z: inputs.
        y: labels [N, C]; a cluster that has seen one class only cannot tell classes apart.
        clusters: how many (the paper's K), or None for as many as `largest` asks for (its K = N / n).
        largest: the most samples a cluster may hold when `clusters` is None.
        smallest: clusters of fewer samples, or of one class, are merged into their neighbour if `largest` allows.
        chance: where k-means starts.
    """
    for name, value in (
        ("clusters", 1 if clusters is None else clusters),
        ("largest", largest),
        ("smallest", smallest),
    ):
        if value < 1:
            raise InvalidInput(f"{name} is at least 1, got {value}")
    cells = min(len(Z), clusters if clusters is not None else -(-len(Z) // largest))
    centroids = _centroids(Z, cells, chance)
    if clusters is None:
        centroids = _split_large(Z, centroids, largest, chance)
    cell = nearest(Z, centroids)
    kept, cell = np.unique(cell, return_inverse=True)
    centroids = centroids[kept]
    most = max(largest, 0 if clusters is None else int(np.bincount(cell).max()))
    cluster_of = _merge_small(centroids, cell, classes_of(y), smallest, most)
    return Partition(centroids, cluster_of), cluster_of[cell]


def nearest(Z: Array, centroids: Array) -> Rows:
    """The nearest centroid of each sample, [N]."""
    centre = centroids.mean(axis=0)  # far from the origin the differences would drown
    moved = centroids - centre
    scores = (Z - centre) @ moved.T - 0.5 * (moved**2).sum(axis=1)
    return np.asarray(scores.argmax(axis=1))


def two_nearest(squared: Tensor, centroids: Tensor) -> tuple[Tensor, Tensor]:
    """The two nearest cells [N, 2] and their weights [N, 2], from squared distances [N, cells] to the centroids.

    The weights are the squared distances' head start over the third: equal on the border between two cells, and the
    second's is zero where it gives way to the third, so what is combined by them never jumps at a border. With two
    cells the third lies as far as the second does from the first's centroid.
    """
    k = min(3, squared.shape[1])
    distance, cell = squared.topk(k, dim=1, largest=False, sorted=True)
    apart = (centroids[cell[:, 0]] - centroids[cell[:, 1]]).square().sum(dim=1)
    third = distance[:, 0] + apart
    if k == 3:
        third = torch.minimum(third, distance[:, 2])
    lead = (third[:, None] - distance[:, :2]).clamp_min(0.0)
    lead = torch.where(lead.sum(dim=1, keepdim=True) > 0, lead, 1.0)  # three at one distance share alike
    return cell[:, :2], lead / lead.sum(dim=1, keepdim=True)


def classes_of(y: Array) -> Rows | None:
    """The class of each label [N, C], or None where labels are numbers."""
    if not np.isin(y, (0.0, 1.0)).all():
        return None
    if y.shape[1] == 1:
        return y[:, 0].astype(np.int64)
    return np.asarray(y.argmax(axis=1)) if (y.sum(axis=1) == 1.0).all() else None


def _centroids(Z: Array, cells: int, chance: Chance) -> Array:
    if cells == 1:
        return np.asarray(Z.mean(axis=0, keepdims=True))
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # fewer distinct rows than cells: the empty ones are dropped
        found = KMeans(cells, n_init=1, random_state=chance.child("k-means").integer()).fit(Z)
    centroids: Array = found.cluster_centers_
    return centroids


def _split_large(Z: Array, centroids: Array, largest: int, chance: Chance) -> Array:
    for round_ in range(ROUNDS):
        cell = nearest(Z, centroids)
        sizes = np.bincount(cell, minlength=len(centroids))
        if sizes.max() <= largest:
            break
        parts = [
            _centroids(Z[cell == c], -(-size // largest), chance.child("split", round_, c))
            if size > largest
            else centroids[[c]]
            for c, size in enumerate(sizes.tolist())
        ]
        centroids = np.concatenate(parts)
    return centroids


@dataclass(frozen=True, eq=False)
class _Group:
    """Cells on their way to a cluster."""

    cells: list[int]
    centre: Array
    size: int
    classes: frozenset[int]

    def joined_by(self, other: _Group) -> _Group:
        size = self.size + other.size
        centre = (self.size * self.centre + other.size * other.centre) / size
        return _Group(self.cells + other.cells, centre, size, self.classes | other.classes)


def _merge_small(centroids: Array, cell: Rows, classes: Rows | None, smallest: int, most: int) -> Rows:
    """The cluster of each cell: the smallest that cannot stand alone joins its nearest neighbour, until all can.

    Neighbours that would hold more than `most` are passed over: classes far apart would end as one cluster of all.
    """
    groups = [
        _Group([c], centroid, int((cell == c).sum()), frozenset(() if classes is None else classes[cell == c].tolist()))
        for c, centroid in enumerate(centroids)
    ]
    needed = min(2, len(frozenset[int]().union(*(group.classes for group in groups))))
    while len(groups) > 1:
        weak = [group for group in groups if group.size < smallest or len(group.classes) < needed]
        if not weak:
            break
        moved = min(weak, key=lambda group: group.size)
        with_room = [group for group in groups if group is not moved and group.size + moved.size <= most]
        if not with_room:  # nor for any larger one
            break
        near = with_room[int(np.argmin([((group.centre - moved.centre) ** 2).sum() for group in with_room]))]
        groups[groups.index(near)] = near.joined_by(moved)
        groups.remove(moved)
    cluster_of = np.empty(len(centroids), dtype=np.int64)
    for k, group in enumerate(groups):
        cluster_of[group.cells] = k
    return cluster_of
