"""Algorithm 2, clustered Gaussian processes: one per region, all exact, all solved together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from joblib import Parallel, delayed
from torch import Tensor

from fwl.errors import InvalidInput, NotFitted, UnknownName
from fwl.randomness import Chance, chance_from
from fwl.records import Array, Posterior, as_matrix
from fwl.teach.algebra import leave_one_out
from fwl.teach.blocks import Block, factor, log_evidence_of, pack
from fwl.teach.evidence import fit_kernel, shrinkage
from fwl.teach.exact import taken_off
from fwl.teach.given import as_lesson, check_columns, check_hyperparameters, offset_as_taught
from fwl.teach.kernels import RBF, Kernel, White, as_spec, from_spec
from fwl.teach.partition import Partition, Rows, partition, two_nearest
from fwl.teach.passes import passes_for
from fwl.teach.predictor import Expert, new_expert, predict_sorted
from fwl.teach.state import State, storable
from fwl.threads import one_thread

CHUNK = 131072  # rows routed and sorted at a time
PRECISIONS = {"single": torch.float32, "double": torch.float64}
NEAR_ENOUGH = 1e-5  # single precision is used where it agrees with double so far, relative to the prior
TRIED = 512  # strong samples on which the two are compared


@storable
class ClusteredGP:
    """Exact Gaussian processes on the clusters of the strong samples; each new sample is judged by its own.

    Args:
        clusters: how many (the paper's K), or None for as many as `largest` asks for.
        largest: the most samples a cluster should hold when `clusters` is None (the paper's n, K = N / n).
        kernel: RBF + White with the paper's l = 1 by default.
        hyperparameters: as in `ExactGP`.
        shared: whether the clusters share what is fitted, or each has its own.
        shrink_mean: as in `ExactGP`; the factors are shared.
        smooth_edges: whether a sample hears the two nearest clusters, so that nothing jumps at a border.
        precision: of predictions, "single" or "double". Single gives way to double by itself where the strong samples
            show that it is not near enough. Fitting is always double.
        smallest: clusters of fewer samples, or of one class, are merged into their neighbour.
        starts: starting points of the kernel's fit.
        random_state: where k-means and further starts are drawn from.

    Attributes:
        partition_: centroids, and which cluster each belongs to.
        cluster_: the cluster of each strong sample, [N].
        kernels_: the kernel of each cluster after fitting.
        kernel_: the first of them; the one they share, if they do.
        shrinkage_: the factors on the directions of the prior mean.
        log_evidence_: the log marginal likelihood of the strong labels, clusters taken as independent.
        precision_: of predictions, as it turned out.
    """

    def __init__(
        self,
        clusters: int | None = None,
        largest: int = 1000,
        kernel: Kernel | None = None,
        hyperparameters: str = "fixed",
        shared: bool = True,
        shrink_mean: bool = False,
        smooth_edges: bool = False,
        precision: str = "single",
        smallest: int = 10,
        starts: int = 1,
        random_state: int = 0,
    ) -> None:
        self.clusters, self.largest, self.smallest = clusters, largest, smallest
        self.kernel, self.hyperparameters, self.shared = kernel, hyperparameters, shared
        self.shrink_mean, self.smooth_edges, self.precision = shrink_mean, smooth_edges, precision
        self.starts, self.random_state = starts, random_state

    def fit(self, Z: Array, y: Array, prior_mean: Array | None = None) -> Self:
        """Condition on strong labels: Z [N, D], y [N, C], prior mean [N, C] (or [N, C, B]), None for zero."""
        check_hyperparameters(self.hyperparameters, self.starts)
        if self.precision not in PRECISIONS:
            raise UnknownName("precision", self.precision, PRECISIONS)
        inputs, labels, mean = as_lesson(Z, y, prior_mean)
        chance = chance_from(self.random_state)
        with one_thread():
            # Alg. 2, line 2: K-means over all samples with true labels.
            where, cluster = partition(
                inputs.numpy(), labels.numpy(), self.clusters, self.largest, self.smallest, chance
            )
            # Alg. 2, line 3: each cluster its Gaussian process, all at once.
            blocks = self._blocks(inputs, labels, mean, cluster, where.clusters)
            kernels = self._choose_kernels(blocks, chance)
            self._condition(where, cluster, (inputs, labels, mean), blocks, kernels)
        return self

    def posterior(self, Z: npt.NDArray[np.floating], prior_mean: Array | None = None) -> Posterior:
        """Mean and variance of the label at each row of Z [M, D]; prior mean as it was given to fit."""
        self._check_fitted()
        rows = as_rows(Z)
        check_columns(self.partition_.centroids.shape[1], rows)
        offset = offset_as_taught(prior_mean, self._factors, (len(rows), self._columns))
        with one_thread():
            parts = [self._judge(rows[i : i + CHUNK], self._experts) for i in range(0, len(rows), CHUNK)]
        mean, variance, prior = (torch.cat(column).double().numpy() for column in zip(*parts, strict=True))
        _check_finite(mean, variance, rows, self.precision_)
        noise = min(float(kernel.noise) for kernel in self.kernels_)
        wide = (len(mean), self._columns)
        return Posterior(
            mean + offset, np.broadcast_to(variance[:, None], wide), np.broadcast_to(prior[:, None], wide), noise
        )

    def leave_one_out(self) -> Posterior:
        """What its own cluster would have said of each strong sample without its label."""
        self._check_fitted()
        return replace(self._left_out)  # a copy, the caller's to change

    def state(self) -> State:
        """What it takes to be the same teacher again."""
        self._check_fitted()
        chosen = {name: getattr(self, name) for name in _PLAIN}
        arrays = {
            "centroids": self.partition_.centroids,
            "cluster_of": self.partition_.cluster_of,
            "cluster": self.cluster_,
            **{name: tensor.numpy() for name, tensor in zip(("Z", "y", "mean"), self._lesson, strict=True)},
        }
        return State({**chosen, "kernels": [as_spec(kernel) for kernel in self.kernels_]}, arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The teacher that `state` was taken from; neither clustered nor fitted anew."""
        kernels = [from_spec(spec) for spec in state.settings["kernels"]]
        teacher = cls(kernel=kernels[0], **{name: state.settings[name] for name in _PLAIN})
        where = Partition(state.arrays["centroids"], state.arrays["cluster_of"])
        Z, y, mean = (torch.from_numpy(state.arrays[name]) for name in ("Z", "y", "mean"))
        with one_thread():
            blocks = teacher._blocks(Z, y, mean, state.arrays["cluster"], where.clusters)
            of_blocks = [kernels[int(block.clusters[0])] for block in blocks]
            teacher._condition(where, state.arrays["cluster"], (Z, y, mean), blocks, of_blocks)
        return teacher

    def _blocks(self, Z: Tensor, y: Tensor, mean: Tensor, cluster: Rows, clusters: int) -> list[Block]:
        groups = [torch.from_numpy(np.flatnonzero(cluster == k)) for k in range(clusters)]
        return pack(Z, y, mean, groups) if self.shared else _apart(Z, y, mean, groups)

    def _choose_kernels(self, blocks: list[Block], chance: Chance) -> list[Kernel]:
        """One kernel for each block."""
        kernel = self.kernel if self.kernel is not None else RBF() + White()
        if self.hyperparameters == "fixed":
            return [kernel] * len(blocks)
        lessons = blocks if self.shrink_mean else [taken_off(block) for block in blocks]
        if self.shared:
            return [self._fit_kernel(kernel, lessons, chance)] * len(blocks)
        apart = (delayed(self._fit_kernel)(kernel, [lesson], chance) for lesson in lessons)
        return list(Parallel(n_jobs=-1, prefer="threads")(apart))

    def _fit_kernel(self, kernel: Kernel, blocks: Sequence[Block], chance: Chance) -> Kernel:
        with_prior = self.hyperparameters == "evidence_with_prior"
        stream = chance.child("kernel starts")
        with one_thread():
            return fit_kernel(kernel, blocks, with_prior=with_prior, starts=self.starts, chance=stream)

    def _condition(
        self,
        where: Partition,
        cluster: Rows,
        lesson: tuple[Tensor, Tensor, Tensor],
        blocks: list[Block],
        kernels: list[Kernel],
    ) -> None:
        Z = lesson[0]
        lower = [factor(block, kernel) for block, kernel in zip(blocks, kernels, strict=True)]
        directions = blocks[0].mean.shape[-1]
        factors = shrinkage(blocks, lower) if self.shrink_mean else torch.ones(directions, dtype=torch.float64)
        residuals = [block.residual(factors) for block in blocks]
        alphas = [torch.cholesky_solve(r, L) for r, L in zip(residuals, lower, strict=True)]
        solved = list(zip(blocks, kernels, lower, residuals, alphas, strict=True))
        self.partition_, self.cluster_, self._lesson = where, cluster, lesson
        self._columns = lesson[1].shape[1]
        self._factors, self.shrinkage_ = factors, tuple(factors.tolist())
        self.log_evidence_ = sum(float(log_evidence_of(b, L, r, a)) for b, _, L, r, a in solved)
        self.kernels_ = _in_order(blocks, kernels)
        self.kernel_ = self.kernels_[0]
        self._left_out = _left_out(solved, factors, len(Z))
        self._origin = _origin(Z, kernels)
        self._experts = self._experts_that_are_near_enough(solved, Z)

    def _experts_that_are_near_enough(self, solved: Sequence[_Solved], Z: Tensor) -> list[Expert]:
        double = _experts(solved, self._origin, torch.float64)
        self.precision_ = "double"
        if self.precision == "double":
            return double
        single = _experts(solved, self._origin, torch.float32)
        tried = Z[:: max(1, len(Z) // TRIED)].numpy()
        fits = all(bool(expert.squares.isfinite().all()) for expert in single)
        if fits and _near(self._judge(tried, double), self._judge(tried, single)):
            self.precision_ = "single"
            return single
        return double

    def _judge(self, Z: npt.NDArray[np.floating], experts: Sequence[Expert]) -> tuple[Tensor, Tensor, Tensor]:
        """Mean [M, C], variance [M] and prior variance [M] of one chunk."""
        precision = experts[0].squares.dtype
        rows = _moved(Z, self._origin, precision)
        centroids = _moved(self.partition_.centroids, self._origin, precision)
        cluster_of = torch.from_numpy(self.partition_.cluster_of)
        half = 0.5 * centroids.square().sum(dim=1)[:, None]
        lead = torch.addmm(half, centroids, rows.mT, beta=-1.0)  # [cells, M], largest where the centroid is nearest
        if not self.smooth_edges or len(experts) == 1:
            return predict_sorted(experts, rows, cluster_of[passes_for(rows).largest_in_columns(lead)])
        distance = rows.square().sum(dim=1)[:, None] - 2.0 * lead.mT
        cell, weight = two_nearest(distance, centroids)
        both = [predict_sorted(experts, rows, cluster_of[cell[:, i]]) for i in (0, 1)]
        return _blended(both, weight)

    def _check_fitted(self) -> None:
        if not hasattr(self, "_experts"):
            raise NotFitted("this teacher has not been fitted; call fit(Z, y) with strong labels first")


# What the constructor takes and JSON can hold.
_PLAIN = (
    *("clusters", "largest", "smallest", "hyperparameters", "shared"),
    *("shrink_mean", "smooth_edges", "precision", "starts", "random_state"),
)
_Solved = tuple[Block, Kernel, Tensor, Tensor, Tensor]  # with the factor L, the residual and alpha = K^-1 residual


def as_rows(Z: npt.ArrayLike) -> npt.NDArray[np.floating]:
    """Inputs [M, D] in the precision they came in, if single or double; not copied, not searched for NaN yet."""
    if not isinstance(Z, np.ndarray) or Z.dtype not in (np.float32, np.float64) or Z.ndim not in (1, 2) or not Z.size:
        return as_matrix(Z, "teacher inputs")  # converts what can be, and says what is wrong with the rest
    return Z[:, None] if Z.ndim == 1 else Z


def _apart(Z: Tensor, y: Tensor, mean: Tensor, groups: Sequence[Tensor]) -> list[Block]:
    """Every cluster a block of its own."""
    blocks = []
    for k, rows in enumerate(groups):
        (block,) = pack(Z, y, mean, [rows])
        blocks.append(Block(torch.tensor([k]), block.rows, block.present, block.Z, block.y, block.mean))
    return blocks


def _in_order(blocks: Sequence[Block], kernels: Sequence[Kernel]) -> tuple[Kernel, ...]:
    """The kernel of each cluster."""
    found = {k: kernel for block, kernel in zip(blocks, kernels, strict=True) for k in block.clusters.tolist()}
    return tuple(found[k] for k in range(len(found)))


def _left_out(solved: Sequence[_Solved], factors: Tensor, n: int) -> Posterior:
    C = solved[0][0].y.shape[-1]
    mean, variance, prior = (torch.empty(n, C, dtype=torch.float64) for _ in range(3))
    for block, kernel, L, residual, _ in solved:
        without, its_variance = leave_one_out(L, residual)
        here, rows = block.present, block.rows[block.present]
        mean[rows] = (without + block.mean @ factors)[here]
        variance[rows] = its_variance[here]
        prior[rows] = kernel.diag(block.Z)[here][:, None]
    noise = min(float(kernel.noise) for _, kernel, *_ in solved)
    return Posterior(mean.numpy(), variance.numpy(), prior.numpy(), noise)


def _experts(solved: Sequence[_Solved], origin: Tensor | None, precision: torch.dtype) -> list[Expert]:
    """One for each cluster, in the clusters' order."""
    found: dict[int, Expert] = {}
    for block, kernel, L, _, alpha in solved:
        for i, k in enumerate(block.clusters.tolist()):
            n = int(block.present[i].sum())
            inputs = _moved(block.Z[i, :n].numpy(), origin, torch.float64)
            found[k] = new_expert(kernel, inputs, L[i, :n, :n], alpha[i, :n], precision)
    return [found[k] for k in range(len(found))]


def _origin(Z: Tensor, kernels: Sequence[Kernel]) -> Tensor | None:
    """What to subtract from inputs so that distances do not drown in their offset; None if that is nothing."""
    centre, spread = Z.mean(dim=0), Z.var(dim=0, correction=0).sum().sqrt()
    needed = centre.norm() > 3.0 * spread and all(kernel.stationary for kernel in kernels)
    return centre if needed else None


def _moved(Z: npt.NDArray[np.floating], origin: Tensor | None, precision: torch.dtype) -> Tensor:
    rows = torch.from_numpy(np.require(Z, requirements=["C", "W"]))
    return rows.to(precision) if origin is None else (rows - origin.to(rows.dtype)).to(precision)


def _check_finite(mean: Array, variance: Array, Z: npt.NDArray[np.floating], precision: str) -> None:
    """NaN or infinity in a row makes its belief so too; there is far less to search in what comes out."""
    if np.isfinite(variance).all() and np.isfinite(mean).all():
        return
    as_matrix(Z, "teacher inputs")  # says which rows hold NaN or infinity
    remedy = "standardise the columns first" + (", or ask for precision='double'" if precision == "single" else "")
    raise InvalidInput(
        f"teacher inputs: values up to {np.abs(Z).max():.1e} are too large for {precision} precision; {remedy}"
    )


def _near(double: tuple[Tensor, ...], single: tuple[Tensor, ...]) -> bool:
    mean, variance, prior = double
    scale = max(float(mean.abs().max()), 1e-300), float(prior.max())
    off = float((mean - single[0]).abs().max()), float((variance - single[1]).abs().max())
    return all(error <= NEAR_ENOUGH * size for error, size in zip(off, scale, strict=True))


def _blended(both: Sequence[tuple[Tensor, Tensor, Tensor]], weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Two experts' opinions by precision, each to the power of its weight: between the two, never above the prior."""
    (mean, variance, prior), (other_mean, other_variance, other_prior) = both
    own, other = weight.unbind(dim=1)
    # Without noise a strong sample has no variance left at all.
    precision, other_precision = own / variance.clamp_min(1e-30), other / other_variance.clamp_min(1e-30)
    blend = 1.0 / (precision + other_precision)
    return (
        blend[:, None] * (precision[:, None] * mean + other_precision[:, None] * other_mean),
        blend,
        own * prior + other * other_prior,
    )
