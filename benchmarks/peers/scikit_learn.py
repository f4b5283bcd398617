"""scikit-learn's exact process on every cluster, each with hyper-parameters of its own, by L-BFGS as it does."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from benchmarks.peers.common import Array, Belief, Lesson, Work, find_cells, in_pieces

PIECE = 1000


class PerCluster:
    """A `GaussianProcessRegressor` for each cluster."""

    def fit(self, lesson: Lesson) -> None:
        """One after the other."""
        self._cells = find_cells(lesson)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a parameter at its bound is an answer too
            self._experts = [_fitted(lesson, rows) for rows in self._cells.members]

    def predict(self, Z: Array) -> Belief:
        """By `predict(return_std=True)`; the deviation holds the White kernel's noise."""
        return self._cells.each_its_own(
            Z, lambda k, rows: in_pieces(lambda piece: _belief(self._experts[k], piece), rows, PIECE)
        )

    def work(self, Z: Array) -> Work:
        """With every strong sample of the cluster."""
        return self._cells.work(Z, self._cells.sizes())


def _fitted(lesson: Lesson, rows: Array) -> GaussianProcessRegressor:
    signal = ConstantKernel(lesson.variance) * RBF(lesson.lengthscale)
    process = GaussianProcessRegressor(signal + WhiteKernel(lesson.noise), alpha=0.0, n_restarts_optimizer=0)
    return process.fit(lesson.Z[rows], lesson.y[rows])


def _belief(process: GaussianProcessRegressor, Z: Array) -> Belief:
    mean, deviation = process.predict(Z, return_std=True)
    return mean, deviation**2
