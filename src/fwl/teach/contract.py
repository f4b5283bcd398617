"""What every teacher promises."""

from __future__ import annotations

from typing import Protocol, Self

from fwl.records import Array, Posterior


class Teacher(Protocol):
    """A Bayesian function from inputs to labels with their uncertainty.

    A teacher sees arrays, never a network: whether z is x, psi(x) or both is decided by whoever calls. The prior mean
    is an array too, one row per sample, so that the student's own prediction can serve as one.
    """

    log_evidence_: float

    def fit(self, Z: Array, y: Array, prior_mean: Array | None = None) -> Self:
        """Learn from strong labels: Z [N, D], y [N, C], prior mean [N, C] (zero if not given).

        A prior mean may also come as directions [N, C, B] whose sum it is, each to be shrunk by teachers that shrink.
        """

    def posterior(self, Z: Array, prior_mean: Array | None = None) -> Posterior:
        """Mean and variance of the label at each row of Z [M, D]."""

    def leave_one_out(self) -> Posterior:
        """What it would have said of each strong sample without its label, in closed form."""
