"""This package's clustered Gaussian process."""

from __future__ import annotations

import numpy as np

from benchmarks.peers.common import Array, Belief, Lesson, Work
from fwl.teach import RBF, ClusteredGP, White
from fwl.teach.partition import nearest


class Clustered:
    """`ClusteredGP`, the kernel shared by its clusters and fitted by their evidence."""

    def fit(self, lesson: Lesson) -> None:
        """Find the clusters and fit, all in one call; `random_state` 0 starts k-means from the lesson's seed."""
        kernel = RBF(lesson.lengthscale, lesson.variance) + White(lesson.noise)
        self._teacher = ClusteredGP(lesson.clusters, kernel=kernel, hyperparameters="evidence", random_state=0)
        self._teacher.fit(lesson.Z, lesson.y)

    def predict(self, Z: Array) -> Belief:
        """From `posterior`."""
        posterior = self._teacher.posterior(Z)
        return posterior.mean[:, 0], posterior.variance[:, 0]

    def work(self, Z: Array) -> Work:
        """With every strong sample of the cluster."""
        where = self._teacher.partition_
        cluster = where.cluster_of[nearest(Z, where.centroids)]
        return len(where.centroids), np.bincount(self._teacher.cluster_)[cluster]
