"""The sparse Gaussian process teachers of the paper's larger tasks, fitted through GPyTorch: regression.

M inducing points stand for N samples, so that the cost is N M^2 and not N^3. Classes are in `sparse_classes.py`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import torch
from torch import Tensor
from torch.nn import Parameter

from fwl.errors import InvalidInput, NotFitted, UnknownName
from fwl.randomness import Chance, chance_from
from fwl.records import Array, Posterior
from fwl.teach.collapsed import collapse, leave_one_out
from fwl.teach.given import as_lesson, as_tensor, check_columns, offset_as_taught
from fwl.teach.gpytorch_bridge import Translation, careful, climb, exponential, require_gpytorch
from fwl.teach.inducing import Belief, distinct_rows, starting_points
from fwl.teach.kernels import RBF, Kernel, White, as_spec, from_spec
from fwl.teach.state import State, storable
from fwl.threads import one_thread

HYPERPARAMETERS = ("fixed", "evidence")
CHUNK = 8192
_OF_BELIEF = ("points", "L", "mean", "root")


class SparseTeacher(ABC):
    """What the sparse teachers share: inducing points, their ascent, and a belief that is read off everywhere."""

    kernel_: Kernel
    inducing_points_: Array
    log_evidence_: float
    # What the constructor takes and JSON can hold.
    _plain: ClassVar[tuple[str, ...]] = (
        *("inducing", "hyperparameters", "steps"),
        *("learning_rate", "learn_inducing", "random_state"),
    )

    def __init__(
        self,
        kernel: Kernel | None,
        inducing: int,
        hyperparameters: str,
        steps: int,
        learning_rate: float,
        learn_inducing: bool,
        random_state: int,
    ) -> None:
        self.kernel, self.inducing, self.hyperparameters, self.steps = kernel, inducing, hyperparameters, steps
        self.learning_rate, self.learn_inducing, self.random_state = learning_rate, learn_inducing, random_state

    def fit(self, Z: Array, y: Array, prior_mean: Array | None = None) -> Self:
        """Learn from strong labels: Z [N, D], y [N, C], prior mean [N, C] (or [N, C, B]), None for zero."""
        self._check_settings()
        inputs, labels, directions = as_lesson(Z, y, prior_mean)
        kernel, offset = self._starting_kernel(), directions.sum(dim=-1)
        with careful(function_variance(kernel, inputs), self._chance.child("gpytorch")):
            self._belief, self.log_evidence_ = self._learn(kernel, inputs, labels, offset)
        self.kernel_, self.inducing_points_ = self._belief.kernel, self._belief.points.numpy().copy()
        self._Z, self._y, self._offset = inputs, labels, offset
        self._factors = torch.ones(directions.shape[-1], dtype=torch.float64)
        return self

    def posterior(self, Z: Array, prior_mean: Array | None = None) -> Posterior:
        """Mean and variance at each row of Z [M, D]; prior mean as it was given to fit."""
        self._check_fitted()
        inputs = as_tensor(Z, "teacher inputs")
        check_columns(self._Z.shape[1], inputs)
        offset = offset_as_taught(prior_mean, self._factors, (len(inputs), self._y.shape[1]))
        with one_thread():
            parts = [self._belief.at(chunk) for chunk in torch.split(inputs, CHUNK)]
        mean, variance, prior = (torch.cat(column).numpy() for column in zip(*parts, strict=True))
        return Posterior(mean + offset, variance, prior, float(self.kernel_.noise))

    def state(self) -> State:
        """What it takes to be the same teacher again, without GPyTorch."""
        self._check_fitted()
        settings = {name: getattr(self, name) for name in self._plain}
        fitted = {"kernel": as_spec(self.kernel_), "log_evidence": self.log_evidence_, "directions": len(self._factors)}
        belief = {name: getattr(self._belief, name).numpy() for name in _OF_BELIEF}
        lesson = {"Z": self._Z.numpy(), "y": self._y.numpy(), "offset": self._offset.numpy()}
        return State(settings | fitted, belief | lesson)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The teacher that `state` was taken from; nothing is fitted anew."""
        settings, arrays = state.settings, {name: torch.from_numpy(a) for name, a in state.arrays.items()}
        kernel = from_spec(settings["kernel"])
        teacher = cls(kernel=kernel, **{name: settings[name] for name in cls._plain})
        teacher._belief = Belief(kernel, *(arrays[name] for name in _OF_BELIEF))
        teacher.kernel_, teacher.inducing_points_ = kernel, arrays["points"].numpy()
        teacher.log_evidence_ = settings["log_evidence"]
        teacher._Z, teacher._y, teacher._offset = arrays["Z"], arrays["y"], arrays["offset"]
        teacher._factors = torch.ones(settings["directions"], dtype=torch.float64)
        return teacher

    @abstractmethod
    def leave_one_out(self) -> Posterior:
        """What it would have said of each strong sample without its label."""

    @abstractmethod
    def _learn(self, kernel: Kernel, Z: Tensor, y: Tensor, offset: Tensor) -> tuple[Belief, float]:
        """What to believe of the function at inducing points, and the bound on the log evidence."""

    def _starting_kernel(self) -> Kernel:
        return self.kernel if self.kernel is not None else RBF() + White()

    def _starting_points(self, Z: Tensor) -> tuple[Tensor, bool]:
        """Inducing points [M, D], and whether they are to move: at every sample there is nothing to gain."""
        points = starting_points(Z, self.inducing, self._chance.child("inducing points"))
        return points, self.learn_inducing and len(points) < len(distinct_rows(Z))

    def _groups(self, Z: Tensor, points: Tensor, others: list[Parameter]) -> list[dict[str, Any]]:
        """What is fitted, with learning rates: points move in units of the inputs' spread."""
        spread = float(Z.std(dim=0, correction=0).mean()) or 1.0
        groups = [{"params": others, "lr": self.learning_rate}]
        if points.requires_grad:
            groups.append({"params": [points], "lr": self.learning_rate * spread})
        return [group for group in groups if group["params"]]

    @property
    def _chance(self) -> Chance:
        return chance_from(self.random_state)

    def _check_settings(self) -> None:
        if self.hyperparameters not in HYPERPARAMETERS:
            raise UnknownName("choice of hyperparameters", self.hyperparameters, HYPERPARAMETERS)
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise InvalidInput(f"learning_rate is a number above 0, got {self.learning_rate}")
        for name in ("inducing", "steps"):
            check_from_one(name, getattr(self, name))

    def _check_fitted(self) -> None:
        if not hasattr(self, "_belief"):
            raise NotFitted("this teacher has not been fitted; call fit(Z, y) with strong labels first")


@storable
class SparseGP(SparseTeacher):
    """Sparse variational regression (Titsias 2009), with one kernel and one set of inducing points for all columns.

    With an inducing point at every distinct sample it is the exact process.

    Args:
        kernel: RBF + White with the paper's l = 1 by default; it needs some White noise.
        inducing: how many inducing points at most; they start at the centres of as many clusters.
        hyperparameters: "fixed" takes the kernel as it is; "evidence" fits its parameters by the bound.
        steps: of the ascent.
        learning_rate: of the ascent, on logarithms of parameters and on inputs in units of their spread.
        learn_inducing: whether the inducing points move to where the bound is highest.
        random_state: where the clusters' first centres are drawn from.

    Attributes:
        kernel_: the kernel after fitting.
        inducing_points_: [M, D].
        log_evidence_: the bound on the log marginal likelihood of the strong labels, summed over columns.
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        inducing: int = 32,
        hyperparameters: str = "fixed",
        steps: int = 200,
        learning_rate: float = 0.05,
        learn_inducing: bool = True,
        random_state: int = 0,
    ) -> None:
        super().__init__(kernel, inducing, hyperparameters, steps, learning_rate, learn_inducing, random_state)

    def leave_one_out(self) -> Posterior:
        """What it would have said of each strong sample without its label, the inducing points staying in place."""
        self._check_fitted()
        mean, variance = leave_one_out(self.kernel_, self._belief.points, self._Z, self._y - self._offset)
        prior = self.kernel_.diag(self._Z)[:, None].expand_as(mean)
        noise = float(self.kernel_.noise)
        return Posterior((mean + self._offset).numpy(), variance.expand_as(mean).numpy(), prior.numpy(), noise)

    def _starting_kernel(self) -> Kernel:
        kernel = super()._starting_kernel()
        if not float(kernel.noise) > 0:
            raise InvalidInput("SparseGP divides by the noise and this kernel has none; add some, e.g. + White(0.01)")
        return kernel

    def _learn(self, kernel: Kernel, Z: Tensor, y: Tensor, offset: Tensor) -> tuple[Belief, float]:
        points, moving = self._starting_points(Z)
        likelihood = require_gpytorch().likelihoods.GaussianLikelihood(noise_constraint=exponential()).double()
        translation = Translation(kernel, likelihood.raw_noise, learn=self.hyperparameters == "evidence")
        bound, moved = _collapsed_bound(translation.covariance, likelihood, points, Z, y - offset)
        groups = self._groups(Z, moved.requires_grad_(moving), translation.learned)
        if groups:
            climb(bound, groups, self.steps, translation.confine)
        with torch.no_grad():
            return collapse(translation.fitted(), moved.detach(), Z, y - offset), bound().item()


def function_variance(kernel: Kernel, Z: Tensor) -> float:
    """The mean variance of the function, without noise, at Z [N, D]."""
    return float(kernel.diag(Z).mean() - kernel.noise)


def check_from_one(name: str, number: int) -> None:
    """Refuse a count below 1."""
    if number < 1:
        raise InvalidInput(f"{name} is at least 1, got {number}")


def _collapsed_bound(
    covariance: Any, likelihood: Any, points: Tensor, Z: Tensor, y: Tensor
) -> tuple[Callable[[], Tensor], Parameter]:
    """Titsias' bound on log p(y), summed over the columns of y [N, C], and the inducing points it depends on."""
    gpytorch = require_gpytorch()
    sparse = gpytorch.kernels.InducingPointKernel(covariance, points.clone(), likelihood)

    class Collapsed(gpytorch.models.ExactGP):  # type: ignore[misc, name-defined]
        def forward(self, x: Tensor) -> Any:
            return gpytorch.distributions.MultivariateNormal(x.new_zeros(len(x)), sparse(x))

    model = Collapsed(Z, y[:, 0], likelihood)
    model.sparse = sparse  # the mean bound below looks for the trace term among the model's modules
    mean_bound = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)

    def bound() -> Tensor:
        prior = model(Z)
        return len(Z) * torch.stack([mean_bound(prior, column) for column in y.mT]).sum()

    return bound, sparse.inducing_points
