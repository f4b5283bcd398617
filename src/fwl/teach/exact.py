"""The exact Gaussian process teacher: the paper's own for the toy problem, and the reference for all others."""

from __future__ import annotations

from typing import Self

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from fwl.errors import InvalidInput, NotFitted, UnknownName, WrongShape
from fwl.randomness import chance_from
from fwl.records import Array, Posterior, as_matrix, check_same_length
from fwl.teach.algebra import cholesky, leave_one_out, log_evidence
from fwl.teach.evidence import fit_kernel, shrinkage
from fwl.teach.kernels import RBF, Kernel, White

HYPERPARAMETERS = ("fixed", "evidence", "evidence_with_prior")
CHUNK = 8192


class ExactGP:
    """A Gaussian process with one kernel for all label columns.

    Args:
        kernel: RBF + White with the paper's l = 1 by default.
        hyperparameters: "fixed" takes the kernel as it is, as the paper does; "evidence" fits its parameters by the
            marginal likelihood; "evidence_with_prior" holds them near their starting values unless the labels object.
        shrink_mean: whether a given prior mean m is used as a*m, with a in [0, 1] chosen by the evidence, or as it is.
        starts: starting points of that fit.
        random_state: where the further starts are drawn from.

    Attributes:
        kernel_: the kernel after fitting.
        shrinkage_: the factor on the prior mean; 0 when none was given.
        log_evidence_: the log marginal likelihood of the strong labels.
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        hyperparameters: str = "fixed",
        shrink_mean: bool = False,
        starts: int = 3,
        random_state: int = 0,
    ) -> None:
        self.kernel, self.hyperparameters, self.shrink_mean = kernel, hyperparameters, shrink_mean
        self.starts, self.random_state = starts, random_state

    def fit(self, Z: Array, y: Array, prior_mean: Array | None = None) -> Self:
        """Condition on strong labels: Z [N, D], y [N, C], prior mean [N, C] or None for zero."""
        if self.hyperparameters not in HYPERPARAMETERS:
            raise UnknownName("choice of hyperparameters", self.hyperparameters, HYPERPARAMETERS)
        if self.starts < 1:
            raise InvalidInput(f"starts is at least 1, got {self.starts}")
        inputs, labels = _tensor(Z, "teacher inputs"), _tensor(y, "strong labels")
        check_same_length("teacher inputs", Z, "strong labels", y)
        mean = None if prior_mean is None else _mean_of_shape(prior_mean, labels.shape)
        with threadpool_limits(1):
            self.kernel_ = self._choose_kernel(inputs, labels, mean)
            self._condition(inputs, labels, mean)
        return self

    def posterior(self, Z: Array, prior_mean: Array | None = None) -> Posterior:
        """Mean and variance of the label at each row of Z [M, D]; prior mean [M, C] if one was given to fit."""
        self._check_fitted()
        inputs = _tensor(Z, "teacher inputs")
        offset = self._offset_as_taught(inputs, prior_mean)
        with threadpool_limits(1):
            parts = [self._posterior_of(chunk) for chunk in torch.split(inputs, CHUNK)]
        mean, variance, prior = (torch.cat(column).numpy() for column in zip(*parts, strict=True))
        mean = mean + offset
        return Posterior(mean, _as_columns(variance, mean), _as_columns(prior, mean), float(self.kernel_.noise))

    def leave_one_out(self) -> Posterior:
        """What it would have said of each strong sample without its label."""
        self._check_fitted()
        mean, variance = leave_one_out(self._L, self._residual)
        mean = mean + self._offset
        prior = self.kernel_.diag(self._Z)[:, None].expand_as(mean)
        return Posterior(mean.numpy(), variance.expand_as(mean).numpy(), prior.numpy(), float(self.kernel_.noise))

    def _choose_kernel(self, Z: Tensor, y: Tensor, mean: Tensor | None) -> Kernel:
        kernel = self.kernel if self.kernel is not None else RBF() + White()
        if self.hyperparameters == "fixed":
            return kernel
        if mean is not None and not self.shrink_mean:
            y, mean = y - mean, None
        return fit_kernel(
            kernel,
            Z,
            y,
            mean,
            with_prior=self.hyperparameters == "evidence_with_prior",
            starts=self.starts,
            chance=chance_from(self.random_state).child("kernel starts"),
        )

    def _condition(self, Z: Tensor, y: Tensor, mean: Tensor | None) -> None:
        # R&W algorithm 2.1: L = cholesky(K); alpha = L^T \ (L \ y)
        self._Z, self._L = Z, cholesky(self.kernel_.gram(Z))
        self._has_mean, self.shrinkage_ = mean is not None, self._shrinkage(y, mean)
        self._offset = torch.zeros_like(y) if mean is None else self.shrinkage_ * mean
        self._residual = y - self._offset
        self._alpha = torch.cholesky_solve(self._residual, self._L)
        self.log_evidence_ = float(log_evidence(self._L, self._residual))

    def _shrinkage(self, y: Tensor, mean: Tensor | None) -> float:
        if mean is None:
            return 0.0
        return float(shrinkage(self._L, y, mean)) if self.shrink_mean else 1.0

    def _posterior_of(self, Z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        # R&W eq. 2.25 and 2.26: mean = k* alpha; variance = k** - v^T v with v = L \ k*
        cross = self.kernel_(Z, self._Z)  # [M, N]
        v = torch.linalg.solve_triangular(self._L, cross.mT, upper=False)  # [N, M]
        prior = self.kernel_.diag(Z)
        variance = prior - v.square().sum(dim=0)
        return cross @ self._alpha, variance.clamp_min(float(self.kernel_.noise)), prior

    def _offset_as_taught(self, Z: Tensor, prior_mean: Array | None) -> Array | float:
        """What the prior mean adds at Z [M, D]: [M, C], or 0 for a teacher fitted without one."""
        if Z.shape[1] != self._Z.shape[1]:
            raise WrongShape(f"teacher inputs: expected [M, {self._Z.shape[1]}], got shape {tuple(Z.shape)}")
        if self._has_mean and prior_mean is None:
            raise InvalidInput("this teacher was fitted with a prior mean; give the prior mean of these samples too")
        if prior_mean is None:
            return 0.0
        if not self._has_mean:
            raise InvalidInput("this teacher was fitted without a prior mean; fit it with one or ask without")
        return self.shrinkage_ * _mean_of_shape(prior_mean, (len(Z), self._offset.shape[1])).numpy()

    def _check_fitted(self) -> None:
        if not hasattr(self, "_alpha"):
            raise NotFitted("this teacher has not been fitted; call fit(Z, y) with strong labels first")


def _tensor(array: Array, name: str) -> Tensor:
    return torch.from_numpy(as_matrix(array, name))


def _mean_of_shape(prior_mean: Array, shape: tuple[int, ...]) -> Tensor:
    mean = _tensor(prior_mean, "prior mean")
    if mean.shape != shape:
        raise WrongShape(f"prior mean: expected shape {tuple(shape)} like the labels, got {tuple(mean.shape)}")
    return mean


def _as_columns(per_sample: Array, like: Array) -> Array:
    return np.repeat(per_sample[:, None], like.shape[1], axis=1)
