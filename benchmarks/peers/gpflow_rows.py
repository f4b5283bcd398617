"""GPflow's exact process on every cluster, in an environment of its own: numpy, scikit-learn and GPflow only.

Single precision, and `posterior()` compiled by `tf.function`: its documentation's way to predict often from one fit.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # before the import: it has much to say about GPUs

import gpflow
import numpy as np
import tensorflow as tf

from benchmarks.peers.common import Array, Belief, Lesson, Work, find_cells

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
gpflow.config.set_default_float(np.float32)


class PerCluster:
    """A `GPR` for each cluster, fitted by its L-BFGS."""

    def fit(self, lesson: Lesson) -> None:
        """One after the other."""
        self._cells = find_cells(lesson)
        self._experts = [_fitted(lesson, rows) for rows in self._cells.members]

    def predict(self, Z: Array) -> Belief:
        """Each cluster its own samples."""
        return self._cells.each_its_own(Z, lambda k, rows: _belief(self._experts[k], rows))

    def work(self, Z: Array) -> Work:
        """With every strong sample of the cluster."""
        return self._cells.work(Z, self._cells.sizes())


def _fitted(lesson: Lesson, rows: Array) -> Callable[..., Any]:
    kernel = gpflow.kernels.SquaredExponential(lesson.variance, lesson.lengthscale)
    data = lesson.Z[rows].astype(np.float32), lesson.y[rows, None].astype(np.float32)
    process = gpflow.models.GPR(data, kernel, noise_variance=lesson.noise)
    gpflow.optimizers.Scipy().minimize(process.training_loss, process.trainable_variables)
    posterior = process.posterior()

    @tf.function(input_signature=[tf.TensorSpec((None, lesson.Z.shape[1]), tf.float32)])
    def belief(Z: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        mean, variance = posterior.predict_f(Z)
        return mean, variance + process.likelihood.variance

    return belief


def _belief(expert: Callable[..., Any], Z: Array) -> Belief:
    mean, variance = expert(Z)
    return mean.numpy()[:, 0], variance.numpy()[:, 0]
