"""What distinguishes one kind of problem from another: link, aggregate, loss. All the rest is shared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import expit
from scipy.special import softmax as scipy_softmax

from fwl.records import Array
from fwl.students.losses import Loss, binary_cross_entropy, cross_entropy, squared_error
from fwl.students.training import Watch


@dataclass(frozen=True)
class Task:
    """A kind of problem.

    Attributes:
        name: how it is called.
        link: g, from outputs [N, C] (a teacher's mean, or a student's last layer) to the space of labels [N, C].
        aggregate: h, from a variance per output [N, C] to one uncertainty per sample [N].
        loss: of the student's outputs against labels, per sample, unreduced.
        has_classes: whether labels are probabilities: of each class, or of the one class in the one column.
        read: from the mean of a process on labels [N, C] to labels: the link, of labels as it expects them.
        indifferent: the label that says nothing, where a process of zero mean starts from.
        watch: what early stopping wants small on a validation set (see `train`); None for the loss.
    """

    name: str
    link: Callable[[Array], Array]
    aggregate: Callable[[Array], Array]
    loss: Loss
    has_classes: bool = False
    read: Callable[[Array], Array] | None = None
    indifferent: float = 0.0
    watch: Watch | None = None

    def of_mean(self, mean: Array) -> Array:
        """The labels that a teacher's mean [N, C] stands for."""
        return (self.read or self.link)(mean)


def identity(outputs: Array) -> Array:
    """The link of regression: a number is its own label."""
    return outputs


def sigmoid(outputs: Array) -> Array:
    """The link of one class against its absence, and of preferences."""
    return np.asarray(expit(outputs))


def sigmoid_of_signs(mean: Array) -> Array:
    """The sigmoid of the mean of labels 0 and 1 seen as -1 and 1: at one half it is one half (DECISIONS.md, D35)."""
    return sigmoid(2.0 * mean - 1.0)


def softmax(outputs: Array) -> Array:
    """The link of several classes."""
    return np.asarray(scipy_softmax(outputs, axis=1))


def mean_over_outputs(variance: Array) -> Array:
    """The paper's h: the mean of the variances over outputs; with one output, that variance itself."""
    mean: Array = variance.mean(axis=1)
    return mean


def both_columns(labels: Array) -> Array:
    """A column for each class, where two classes share one."""
    return np.hstack([1.0 - labels, labels]) if labels.shape[1] == 1 else labels


def silent_rows(weak: Array) -> npt.NDArray[np.bool_]:
    """Where there is no weak label, [N]."""
    return np.asarray(np.isnan(weak).any(axis=1))


REGRESSION = Task("regression", link=identity, aggregate=mean_over_outputs, loss=squared_error)
BINARY = Task("binary", sigmoid, mean_over_outputs, binary_cross_entropy, True, sigmoid_of_signs, indifferent=0.5)
PREFERENCE = replace(BINARY, name="preference")
MULTICLASS = Task("multiclass", link=softmax, aggregate=mean_over_outputs, loss=cross_entropy, has_classes=True)
TASKS = {task.name: task for task in (REGRESSION, BINARY, PREFERENCE, MULTICLASS)}
