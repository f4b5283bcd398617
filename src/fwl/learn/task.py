"""What distinguishes one kind of problem from another: link, aggregate, loss. All the rest is shared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fwl.records import Array
from fwl.students.losses import Loss, squared_error


@dataclass(frozen=True)
class Task:
    """A kind of problem.

    Attributes:
        name: how it is called.
        link: g, from the posterior mean [N, C] to the space of labels [N, C].
        aggregate: h, from a variance per output [N, C] to one uncertainty per sample [N].
        loss: of the student's outputs against labels, per sample, unreduced.
    """

    name: str
    link: Callable[[Array], Array]
    aggregate: Callable[[Array], Array]
    loss: Loss


def identity(mean: Array) -> Array:
    """The link of regression: a number is its own label."""
    return mean


def mean_over_outputs(variance: Array) -> Array:
    """The paper's h: the mean of the variances over outputs; with one output, that variance itself."""
    mean: Array = variance.mean(axis=1)
    return mean


REGRESSION = Task("regression", link=identity, aggregate=mean_over_outputs, loss=squared_error)
