"""What distinguishes one kind of problem from another: link, aggregate, loss. All the rest is shared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from scipy.special import softmax as scipy_softmax

from fwl.records import Array
from fwl.students.losses import Loss, binary_cross_entropy, cross_entropy, squared_error


@dataclass(frozen=True)
class Task:
    """A kind of problem.

    Attributes:
        name: how it is called.
        link: g, from outputs [N, C] (a teacher's mean, or a student's last layer) to the space of labels [N, C].
        aggregate: h, from a variance per output [N, C] to one uncertainty per sample [N].
        loss: of the student's outputs against labels, per sample, unreduced.
        has_classes: whether labels are probabilities: of each class, or of the one class in the one column.
    """

    name: str
    link: Callable[[Array], Array]
    aggregate: Callable[[Array], Array]
    loss: Loss
    has_classes: bool = False


def identity(outputs: Array) -> Array:
    """The link of regression: a number is its own label."""
    return outputs


def sigmoid(outputs: Array) -> Array:
    """The link of one class against its absence, and of preferences."""
    return np.asarray(expit(outputs))


def softmax(outputs: Array) -> Array:
    """The link of several classes."""
    return np.asarray(scipy_softmax(outputs, axis=1))


def mean_over_outputs(variance: Array) -> Array:
    """The paper's h: the mean of the variances over outputs; with one output, that variance itself."""
    mean: Array = variance.mean(axis=1)
    return mean


REGRESSION = Task("regression", link=identity, aggregate=mean_over_outputs, loss=squared_error)
BINARY = Task("binary", link=sigmoid, aggregate=mean_over_outputs, loss=binary_cross_entropy, has_classes=True)
PREFERENCE = Task("preference", link=sigmoid, aggregate=mean_over_outputs, loss=binary_cross_entropy, has_classes=True)
MULTICLASS = Task("multiclass", link=softmax, aggregate=mean_over_outputs, loss=cross_entropy, has_classes=True)
TASKS = {task.name: task for task in (REGRESSION, BINARY, PREFERENCE, MULTICLASS)}
