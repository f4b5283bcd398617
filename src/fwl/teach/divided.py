"""Algorithm 2 with any teacher in each cluster: the paper's own had a sparse one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np
import torch
from joblib import Parallel, delayed

from fwl.errors import NotFitted
from fwl.randomness import chance_from
from fwl.records import Array, Posterior, as_matrix, check_same_length
from fwl.teach.contract import Teacher
from fwl.teach.given import as_directions, check_columns
from fwl.teach.partition import Partition, Rows, nearest, partition
from fwl.teach.state import State, nested, revive_part, storable
from fwl.threads import one_thread

_PLAIN = ("clusters", "largest", "smallest", "jobs", "random_state")


@storable
class Divided:
    """A teacher of its own for every cluster of the strong samples, fitted in parallel.

    `ClusteredGP` is the fast one for exact Gaussian processes; this one takes any teacher, and is what the fast one is
    tested against.

    Args:
        new_teacher: makes one teacher.
        clusters: how many (the paper's K), or None for as many as `largest` asks for.
        largest: the most samples a cluster should hold when `clusters` is None.
        smallest: clusters of fewer samples, or of one class, are merged into their neighbour.
        jobs: how many are fitted at a time; -1 for one per core.
        random_state: where k-means starts.

    Attributes:
        partition_: centroids, and which cluster each belongs to.
        cluster_: the cluster of each strong sample, [N].
        teachers_: one for each cluster.
        log_evidence_: the sum of theirs.
    """

    def __init__(
        self,
        new_teacher: Callable[[], Teacher],
        clusters: int | None = None,
        largest: int = 1000,
        smallest: int = 10,
        jobs: int = -1,
        random_state: int = 0,
    ) -> None:
        self.new_teacher, self.clusters, self.largest, self.smallest = new_teacher, clusters, largest, smallest
        self.jobs, self.random_state = jobs, random_state

    def fit(self, Z: Array, y: Array, prior_mean: Array | None = None) -> Self:
        """Cluster the strong samples and fit a teacher on each cluster: Z [N, D], y [N, C], prior mean [N, C]."""
        inputs, labels = as_matrix(Z, "teacher inputs"), as_matrix(y, "strong labels")
        check_same_length("teacher inputs", inputs, "strong labels", labels)
        directions = _directions(prior_mean, labels.shape)
        with one_thread():
            where, cluster = partition(
                inputs, labels, self.clusters, self.largest, self.smallest, chance_from(self.random_state)
            )
            groups = [np.flatnonzero(cluster == k) for k in range(where.clusters)]
            work = (delayed(_fitted)(self.new_teacher(), inputs[g], labels[g], _rows(directions, g)) for g in groups)
            self.teachers_ = list(Parallel(n_jobs=self.jobs, prefer="threads")(work))
        self.partition_, self.cluster_, self._columns = where, cluster, labels.shape[1]
        self.log_evidence_ = sum(teacher.log_evidence_ for teacher in self.teachers_)
        return self

    def posterior(self, Z: Array, prior_mean: Array | None = None) -> Posterior:
        """Mean and variance of the label at each row of Z [M, D], by the teacher of its cluster."""
        self._check_fitted()
        inputs = as_matrix(Z, "teacher inputs")
        check_columns(self.partition_.centroids.shape[1], inputs)
        directions = _directions(prior_mean, (len(inputs), self._columns))
        cluster = self.partition_.cluster_of[nearest(inputs, self.partition_.centroids)]
        heard = [(k, np.flatnonzero(cluster == k)) for k in np.unique(cluster)]
        parts = [(rows, self.teachers_[k].posterior(inputs[rows], _rows(directions, rows))) for k, rows in heard]
        return _gathered(parts, len(inputs))

    def leave_one_out(self) -> Posterior:
        """What its own cluster would have said of each strong sample without its label."""
        self._check_fitted()
        parts = [
            (np.flatnonzero(self.cluster_ == k), teacher.leave_one_out()) for k, teacher in enumerate(self.teachers_)
        ]
        return _gathered(parts, len(self.cluster_))

    def state(self) -> State:
        """What it takes to be the same teacher again."""
        self._check_fitted()
        arrays = {
            "centroids": self.partition_.centroids,
            "cluster_of": self.partition_.cluster_of,
            "cluster": self.cluster_,
        }
        return nested(
            {**{name: getattr(self, name) for name in _PLAIN}, "columns": self._columns},
            arrays,
            {f"teacher{k}": teacher for k, teacher in enumerate(self.teachers_)},
        )

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The teacher that `state` was taken from."""
        where = Partition(state.arrays["centroids"], state.arrays["cluster_of"])
        teachers = [revive_part(state, f"teacher{k}") for k in range(where.clusters)]
        divided = cls(type(teachers[0]), **{name: state.settings[name] for name in _PLAIN})
        divided.partition_, divided.cluster_, divided.teachers_ = where, state.arrays["cluster"], teachers
        divided._columns = state.settings["columns"]
        divided.log_evidence_ = sum(teacher.log_evidence_ for teacher in teachers)
        return divided

    def _check_fitted(self) -> None:
        if not hasattr(self, "teachers_"):
            raise NotFitted("this teacher has not been fitted; call fit(Z, y) with strong labels first")


def _fitted(teacher: Teacher, Z: Array, y: Array, prior_mean: Array | None) -> Teacher:
    torch.set_num_threads(1)  # a worker is a thread or process of its own, with its own setting
    return teacher.fit(Z, y, prior_mean)


def _directions(prior_mean: Array | None, shape: tuple[int, ...]) -> Array | None:
    """A prior mean [N, C] or [N, C, B], checked as a whole before it is dealt out."""
    if prior_mean is None:
        return None
    directions: Array = as_directions(prior_mean, shape).numpy()
    return directions


def _rows(directions: Array | None, rows: Rows) -> Array | None:
    return None if directions is None else directions[rows]


def _gathered(parts: list[tuple[Rows, Posterior]], n: int) -> Posterior:
    C = parts[0][1].mean.shape[1]
    mean, variance, prior = (np.empty((n, C)) for _ in range(3))
    for rows, belief in parts:
        mean[rows], variance[rows], prior[rows] = belief.mean, belief.variance, belief.prior
    return Posterior(mean, variance, prior, min(belief.noise for _, belief in parts))
