"""The exact Gaussian process teacher: the paper's own for the toy problem, and the reference for all others."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from fwl.errors import NotFitted
from fwl.randomness import chance_from
from fwl.records import Array, Posterior
from fwl.teach.algebra import leave_one_out
from fwl.teach.blocks import Block, factor, log_evidence_of, one_block
from fwl.teach.evidence import Believed, fit_kernel, shrinkage
from fwl.teach.given import as_lesson, as_tensor, check_columns, check_hyperparameters, offset_as_taught
from fwl.teach.kernels import RBF, Kernel, White, as_spec, from_spec
from fwl.teach.state import State, storable
from fwl.threads import one_thread

CHUNK = 8192


@storable
class ExactGP:
    """A Gaussian process with one kernel for all label columns.

    Args:
        kernel: RBF + White with the paper's l = 1 by default.
        hyperparameters: "fixed" takes the kernel as it is, as the paper does; "evidence" fits its parameters by the
            marginal likelihood; "evidence_with_prior" holds them near their starting values unless the labels object.
        shrink_mean: whether a given prior mean m is used as a*m, with a in [0, 1] chosen by the evidence, or as it is.
        starts: starting points of that fit.
        random_state: where the further starts are drawn from.
        believed: what is expected of the factors when the mean is shrunk; None for nothing.

    Attributes:
        kernel_: the kernel after fitting.
        shrinkage_: the factors on the directions of the prior mean, none when none was given.
        log_evidence_: the log marginal likelihood of the strong labels.
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        hyperparameters: str = "fixed",
        shrink_mean: bool = False,
        starts: int = 3,
        random_state: int = 0,
        believed: Believed | None = None,
    ) -> None:
        self.kernel, self.hyperparameters, self.shrink_mean = kernel, hyperparameters, shrink_mean
        self.starts, self.random_state, self.believed = starts, random_state, believed

    def fit(self, Z: Array, y: Array, prior_mean: Array | None = None) -> Self:
        """Condition on strong labels: Z [N, D], y [N, C], prior mean [N, C] (or [N, C, B]), None for zero."""
        check_hyperparameters(self.hyperparameters, self.starts)
        block = one_block(*as_lesson(Z, y, prior_mean))
        with one_thread():
            kernel = self._choose_kernel(block)
            self._condition(block, kernel)
        return self

    def posterior(self, Z: Array, prior_mean: Array | None = None) -> Posterior:
        """Mean and variance of the label at each row of Z [M, D]; prior mean as it was given to fit."""
        self._check_fitted()
        inputs = as_tensor(Z, "teacher inputs")
        check_columns(self._Z.shape[1], inputs)
        offset = offset_as_taught(prior_mean, self._factors, (len(inputs), self._alpha.shape[1]))
        with one_thread():
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

    def state(self) -> State:
        """What it takes to be the same teacher again."""
        self._check_fitted()
        settings = {
            "kernel": as_spec(self.kernel_),
            "hyperparameters": self.hyperparameters,
            "shrink_mean": self.shrink_mean,
            "starts": self.starts,
            "random_state": self.random_state,
            "believed": None if self.believed is None else asdict(self.believed),
        }
        block = self._block
        return State(settings, {"Z": block.Z[0].numpy(), "y": block.y[0].numpy(), "mean": block.mean[0].numpy()})

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The teacher that `state` was taken from; its kernel is not fitted anew."""
        settings, lesson = state.settings, [torch.from_numpy(state.arrays[name]) for name in ("Z", "y", "mean")]
        kernel = from_spec(settings["kernel"])
        teacher = cls(
            kernel,
            settings["hyperparameters"],
            settings["shrink_mean"],
            settings["starts"],
            settings["random_state"],
            _revived(settings.get("believed")),
        )
        with one_thread():
            teacher._condition(one_block(*lesson), kernel)
        return teacher

    def _choose_kernel(self, block: Block) -> Kernel:
        kernel = self.kernel if self.kernel is not None else RBF() + White()
        if self.hyperparameters == "fixed":
            return kernel
        return fit_kernel(
            kernel,
            [block if self.shrink_mean else taken_off(block)],
            with_prior=self.hyperparameters == "evidence_with_prior",
            starts=self.starts,
            chance=chance_from(self.random_state).child("kernel starts"),
            believed=self.believed,
        )

    def _condition(self, block: Block, kernel: Kernel) -> None:
        # R&W algorithm 2.1: L = cholesky(K); alpha = L^T \ (L \ y)
        L = factor(block, kernel)
        factors = (
            shrinkage([block], [L], self.believed) if self.shrink_mean else torch.ones(block.mean.shape[-1]).double()
        )
        residual = block.residual(factors)
        alpha = torch.cholesky_solve(residual, L)
        self.kernel_, self.log_evidence_ = kernel, float(log_evidence_of(block, L, residual, alpha))
        self._factors, self.shrinkage_ = factors, tuple(factors.tolist())
        self._block = block
        self._Z, self._L, self._residual, self._alpha = block.Z[0], L[0], residual[0], alpha[0]
        self._offset = (block.mean @ factors)[0]

    def _posterior_of(self, Z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        # R&W eq. 2.25 and 2.26: mean = k* alpha; variance = k** - v^T v with v = L \ k*
        cross = self.kernel_(Z, self._Z)  # [M, N]
        v = torch.linalg.solve_triangular(self._L, cross.mT, upper=False)  # [N, M]
        prior = self.kernel_.diag(Z)
        variance = prior - v.square().sum(dim=0)
        return cross @ self._alpha, variance.clamp_min(float(self.kernel_.noise)), prior

    def _check_fitted(self) -> None:
        if not hasattr(self, "_alpha"):
            raise NotFitted("this teacher has not been fitted; call fit(Z, y) with strong labels first")


def _revived(settings: dict[str, Any] | None) -> Believed | None:
    return None if settings is None else Believed(tuple(settings["factors"]), float(settings["rows"]))


def taken_off(block: Block) -> Block:
    """The block with its whole prior mean subtracted from the labels, and none left to shrink."""
    return Block(
        block.clusters, block.rows, block.present, block.Z, block.y - block.mean.sum(dim=-1), block.mean[..., :0]
    )


def _as_columns(per_sample: Array, like: Array) -> Array:
    return np.repeat(per_sample[:, None], like.shape[1], axis=1)
