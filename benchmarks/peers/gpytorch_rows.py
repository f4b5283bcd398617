"""GPyTorch's processes: exact and sparse on every cluster, and one sparse process over all samples.

Single precision, no gradients, evaluation mode and `fast_pred_var` (its caches hold what does not depend on the new
sample), as its documentation advises for prediction. `PIECE` is the most samples asked about at a time, the fastest of
those tried. Other settings tried did not help: inference mode, kernels evaluated at once, Cholesky factors of inducing
points in single precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gpytorch
import numpy as np
import torch
from gpytorch.distributions import MultivariateNormal
from gpytorch.kernels import InducingPointKernel, RBFKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.mlls import ExactMarginalLogLikelihood, VariationalELBO
from gpytorch.variational import CholeskyVariationalDistribution, VariationalStrategy
from sklearn.cluster import KMeans
from torch import Tensor

from benchmarks.peers.common import Array, Belief, Lesson, Work, find_cells, in_pieces

RATE = 0.1  # of Adam, the documentation's for exact processes
SPARSE = 2  # times as many steps: inducing points settle later than three numbers
RATE_WHOLE = 0.03  # of Adam on batches; at 0.01 it has not settled after as many epochs
BATCH = 1024
Fitted = tuple[gpytorch.models.GP, GaussianLikelihood]


class _Collapsed(gpytorch.models.ExactGP):
    """The documentation's exact process, mean zero."""

    def __init__(self, Z: Tensor, y: Tensor, likelihood: GaussianLikelihood, covariance: Any) -> None:
        super().__init__(Z, y, likelihood)
        self.mean_module, self.covar_module = gpytorch.means.ZeroMean(), covariance

    def forward(self, x: Tensor) -> MultivariateNormal:
        return MultivariateNormal(self.mean_module(x), self.covar_module(x))


class _Variational(gpytorch.models.ApproximateGP):
    """The documentation's variational process, mean zero."""

    def __init__(self, points: Tensor, covariance: Any) -> None:
        distribution = CholeskyVariationalDistribution(len(points))
        super().__init__(VariationalStrategy(self, points, distribution, learn_inducing_locations=True))
        self.mean_module, self.covar_module = gpytorch.means.ZeroMean(), covariance

    def forward(self, x: Tensor) -> MultivariateNormal:
        return MultivariateNormal(self.mean_module(x), self.covar_module(x))


class _PerCluster:
    """One process for each cluster."""

    PIECE = 10**6  # a whole cluster's

    def fit(self, lesson: Lesson) -> None:
        """One after the other."""
        torch.manual_seed(lesson.seed)  # a variational mean starts from noise
        self._cells, self._lesson = find_cells(lesson), lesson
        self._experts = [self._fitted(*_tensors(lesson, rows)) for rows in self._cells.members]

    def predict(self, Z: Array) -> Belief:
        """Each cluster its own samples."""
        with torch.no_grad(), gpytorch.settings.fast_pred_var():
            return self._cells.each_its_own(
                Z, lambda k, rows: in_pieces(lambda piece: _belief(self._experts[k], piece), rows, self.PIECE)
            )

    def work(self, Z: Array) -> Work:
        """With as many inducing points as were asked for, unless there are fewer samples."""
        return self._cells.work(Z, np.minimum(self._lesson.inducing, self._cells.sizes()))

    def _fitted(self, Z: Tensor, y: Tensor) -> Fitted:
        raise NotImplementedError


class ExactPerCluster(_PerCluster):
    """`ExactGP`, by the marginal likelihood."""

    PIECE = 1024

    def work(self, Z: Array) -> Work:
        """With every strong sample of the cluster."""
        return self._cells.work(Z, self._cells.sizes())

    def _fitted(self, Z: Tensor, y: Tensor) -> Fitted:
        likelihood = _likelihood(self._lesson)
        return _climbed(_Collapsed(Z, y, likelihood, _covariance(self._lesson)), likelihood, Z, y, self._lesson.steps)


class SGPRPerCluster(_PerCluster):
    """`ExactGP` on an `InducingPointKernel`, by Titsias' bound."""

    def _fitted(self, Z: Tensor, y: Tensor) -> Fitted:
        likelihood = _likelihood(self._lesson)
        sparse = InducingPointKernel(_covariance(self._lesson), _centres(Z, self._lesson.inducing), likelihood)
        return _climbed(_Collapsed(Z, y, likelihood, sparse), likelihood, Z, y, SPARSE * self._lesson.steps)


class SVGPPerCluster(_PerCluster):
    """`ApproximateGP`, by the variational bound, all samples of the cluster in every step."""

    def _fitted(self, Z: Tensor, y: Tensor) -> Fitted:
        likelihood = _likelihood(self._lesson)
        process = _Variational(_centres(Z, self._lesson.inducing), _covariance(self._lesson))
        return _climbed(process, likelihood, Z, y, SPARSE * self._lesson.steps)


class SVGPWhole:
    """One `ApproximateGP` over all samples, by the variational bound on batches; no clusters at all."""

    PIECE = 4096

    def fit(self, lesson: Lesson) -> None:
        """In batches, each epoch in another order."""
        torch.manual_seed(lesson.seed)
        Z, y = _tensors(lesson, np.arange(len(lesson.y)))
        self._points = min(lesson.inducing_whole, len(y))
        likelihood = _likelihood(lesson)
        process = _Variational(_centres(Z, self._points), _covariance(lesson))
        bound = VariationalELBO(likelihood, process, num_data=len(y))
        optimiser = torch.optim.Adam([*process.parameters(), *likelihood.parameters()], lr=RATE_WHOLE)
        for _ in range(lesson.steps):
            for rows in torch.split(torch.randperm(len(y)), BATCH):
                _step(optimiser, process, bound, Z[rows], y[rows])
        self._expert = (process.eval(), likelihood.eval())

    def predict(self, Z: Array) -> Belief:
        """All samples alike."""
        with torch.no_grad(), gpytorch.settings.fast_pred_var():
            return in_pieces(lambda piece: _belief(self._expert, piece), Z, self.PIECE)

    def work(self, Z: Array) -> Work:
        """With all inducing points; nothing to route."""
        return 0, np.full(len(Z), self._points)


def _covariance(lesson: Lesson) -> ScaleKernel:
    covariance = ScaleKernel(RBFKernel())
    covariance.outputscale, covariance.base_kernel.lengthscale = lesson.variance, lesson.lengthscale
    return covariance


def _likelihood(lesson: Lesson) -> GaussianLikelihood:
    likelihood = GaussianLikelihood()
    likelihood.noise = lesson.noise
    return likelihood


def _centres(Z: Tensor, count: int) -> Tensor:
    """Where inducing points start: the centres of as many clusters."""
    found = KMeans(min(count, len(Z)), n_init=1, random_state=0).fit(Z.numpy())
    return torch.from_numpy(found.cluster_centers_)


def _tensors(lesson: Lesson, rows: Array) -> tuple[Tensor, Tensor]:
    return torch.tensor(lesson.Z[rows], dtype=torch.float32), torch.tensor(lesson.y[rows], dtype=torch.float32)


def _climbed(process: Any, likelihood: GaussianLikelihood, Z: Tensor, y: Tensor, steps: int) -> Fitted:
    """Adam on the evidence or its bound, all samples in every step; ready to predict."""
    process.train()
    likelihood.train()
    variational = isinstance(process, _Variational)
    bound = (
        VariationalELBO(likelihood, process, num_data=len(y))
        if variational
        else ExactMarginalLogLikelihood(likelihood, process)
    )
    # An exact process holds its likelihood's parameters already.
    parameters = dict.fromkeys([*process.parameters(), *likelihood.parameters()])
    optimiser = torch.optim.Adam(list(parameters), lr=RATE)
    for _ in range(steps):
        _step(optimiser, process, bound, Z, y)
    return process.eval(), likelihood.eval()


def _step(optimiser: torch.optim.Optimizer, process: Any, bound: Callable[..., Tensor], Z: Tensor, y: Tensor) -> None:
    optimiser.zero_grad()
    loss = -bound(process(Z), y)
    loss.backward()
    optimiser.step()


def _belief(fitted: Fitted, Z: Array) -> Belief:
    process, likelihood = fitted
    function = process(torch.from_numpy(Z))
    return function.mean.numpy(), (function.variance + likelihood.noise).numpy()
