"""The sparse Gaussian process teacher of classes, fitted through GPyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Never

import torch
from torch import Tensor
from torch.nn import Parameter

from fwl.errors import InvalidInput, NoClosedForm, WrongShape
from fwl.teach.algebra import cholesky
from fwl.teach.gpytorch_bridge import Translation, climb, require_gpytorch
from fwl.teach.inducing import Belief
from fwl.teach.kernels import Kernel
from fwl.teach.sparse import CHUNK, SparseTeacher, check_from_one, function_variance
from fwl.teach.state import storable

JITTER = 1e-6  # of the mean variance, on the inducing points' covariance
DRAWS, LAST_DRAWS = 10, 100  # per sample: at each step of the ascent, and for the bound at its end


@storable
class SparseClassifierGP(SparseTeacher):
    """Sparse variational classification (Hensman et al. 2015): one latent function per class, read through a softmax.

    The latent functions share one kernel and one set of inducing points. White noise is part of a sample's latents: the
    softmax sees it. A label is a distribution over classes, one-hot or not: the expected log-likelihood of each class
    is weighted by its probability.

    Args:
        kernel: RBF + White with the paper's l = 1 by default.
        inducing: how many inducing points at most; they start at the centres of as many clusters.
        steps: of the ascent.
        batch_size: samples per step.
        learning_rate: of the ascent.
        hyperparameters: "fixed" takes the kernel as it is; "evidence" fits its parameters by the bound.
        learn_inducing: whether the inducing points move to where the bound is highest.
        random_state: where clusters, batches and draws of the latents come from.

    Attributes:
        kernel_: the kernel after fitting.
        inducing_points_: [M, D].
        log_evidence_: the bound on the log marginal likelihood of the strong labels, at the end of the ascent.
    """

    _plain = (*SparseTeacher._plain, "batch_size")

    def __init__(
        self,
        kernel: Kernel | None = None,
        inducing: int = 32,
        steps: int = 300,
        batch_size: int = 256,
        learning_rate: float = 0.05,
        hyperparameters: str = "fixed",
        learn_inducing: bool = True,
        random_state: int = 0,
    ) -> None:
        super().__init__(kernel, inducing, hyperparameters, steps, learning_rate, learn_inducing, random_state)
        self.batch_size = batch_size

    def leave_one_out(self) -> Never:
        """Refused: without its label, every sample asks for an ascent of its own."""
        raise NoClosedForm("SparseClassifierGP has no closed form for leaving one out; refit it without each sample")

    def _check_settings(self) -> None:
        super()._check_settings()
        check_from_one("batch_size", self.batch_size)

    def _learn(self, kernel: Kernel, Z: Tensor, y: Tensor, offset: Tensor) -> tuple[Belief, float]:
        _check_distributions(y)
        points, moving = self._starting_points(Z)
        likelihood, jitter = _soft_likelihood(y.shape[1]), JITTER * function_variance(kernel, Z)
        translation = Translation(kernel, likelihood.raw_noise, learn=self.hyperparameters == "evidence")
        latents = _latents(translation.covariance, points, y.shape[1], jitter)
        strategy = latents.variational_strategy.base_variational_strategy
        free = [*translation.learned, *latents.variational_parameters()]
        groups = self._groups(Z, strategy.inducing_points.requires_grad_(moving), free)
        climb(self._bound_of_batches(latents, likelihood, Z, y, offset), groups, self.steps, translation.confine)
        latents.eval()  # or it would remember what it believed before the last step
        with torch.no_grad():
            belief = _read_off(translation.fitted(), strategy, jitter)
            return belief, _log_likelihood(belief, Z, y, offset) - strategy.kl_divergence().sum().item()

    def _bound_of_batches(
        self, latents: Any, likelihood: Any, Z: Tensor, y: Tensor, offset: Tensor
    ) -> Callable[[], Tensor]:
        """Hensman et al. 2015, eq. 19, on other samples at each call."""
        mean_bound = require_gpytorch().mlls.VariationalELBO(likelihood, latents, num_data=len(Z))
        generator = self._chance.child("batches").numpy()

        def bound() -> Tensor:
            rows = generator.permutation(len(Z))[: self.batch_size]
            value: Tensor = mean_bound(latents(Z[rows]), y[rows], offset=offset[rows])
            return value

        return bound


def expected_log_likelihood(y: Tensor, mean: Tensor, variance: Tensor, draws: int) -> Tensor:
    """Of labels y [N, C] under latents with mean and variance [N, C], by so many draws of them: [N]."""
    latents = mean + variance.sqrt() * torch.randn(draws, *mean.shape, dtype=mean.dtype)  # [draws, N, C]
    return (y * latents.log_softmax(dim=-1)).sum(dim=-1).mean(dim=0)


def _check_distributions(y: Tensor) -> None:
    if y.shape[1] < 2:
        raise WrongShape(f"strong labels: expected a column per class [N, C], two or more; got {tuple(y.shape)}")
    broken = (y < 0).any(dim=1) | ((y.sum(dim=1) - 1.0).abs() > 1e-6)
    if broken.any():
        row = int(broken.nonzero()[0])
        raise InvalidInput(
            f"strong labels: expected a distribution over classes in each row, one-hot for a single class; "
            f"got {y[row].tolist()} in row {row}"
        )


def _soft_likelihood(classes: int) -> Any:
    """GPyTorch's softmax for labels that are distributions, with latents that carry noise.

    Its own takes class numbers only, and turns the draws round whenever there are as many samples as classes.
    """
    gpytorch = require_gpytorch()

    class Soft(gpytorch.likelihoods.SoftmaxLikelihood):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__(num_classes=classes, mixing_weights=False)
            self.raw_noise = Parameter(torch.zeros(1, dtype=torch.float64))

        def expected_log_prob(self, observations: Tensor, function_dist: Any, offset: Tensor) -> Tensor:
            mean, variance = function_dist.mean + offset, function_dist.variance + self.raw_noise.exp()
            return expected_log_likelihood(observations, mean, variance, DRAWS)

    return Soft()


def _latents(covariance: Any, points: Tensor, classes: int, jitter: float) -> Any:
    """One function per class, with a belief of its own about the inducing points [M, D] they share."""
    gpytorch = require_gpytorch()
    variational = gpytorch.variational

    class Latents(gpytorch.models.ApproximateGP):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            # It starts at the prior, without the noise that GPyTorch adds by default.
            start = variational.CholeskyVariationalDistribution(len(points), torch.Size([classes]), mean_init_std=0.0)
            strategy = variational.VariationalStrategy(self, points.clone(), start.double(), jitter_val=jitter)
            super().__init__(variational.IndependentMultitaskVariationalStrategy(strategy, num_tasks=classes))

        def forward(self, x: Tensor) -> Any:
            return gpytorch.distributions.MultivariateNormal(x.new_zeros(x.shape[:-1]), covariance(x))

    return Latents()


def _read_off(kernel: Kernel, strategy: Any, jitter: float) -> Belief:
    """GPyTorch's belief as ours, which needs no GPyTorch and can be stored."""
    points, q = strategy.inducing_points.detach(), strategy.variational_distribution
    L = cholesky(kernel(points, points) + jitter * torch.eye(len(points), dtype=points.dtype))
    return Belief(kernel, points, L, q.mean.detach().mT, q.lazy_covariance_matrix.root.to_dense())


def _log_likelihood(belief: Belief, Z: Tensor, y: Tensor, offset: Tensor) -> float:
    """The expected log-likelihood of all labels, a few samples at a time."""
    total = 0.0
    for chunk, labels, added in zip(*(torch.split(rows, CHUNK) for rows in (Z, y, offset)), strict=True):
        mean, variance, _ = belief.at(chunk)
        total += expected_log_likelihood(labels, mean + added, variance, LAST_DRAWS).sum().item()
    return total
