"""What became of each weak label: kept, corrected or ignored; how much it is worth doubting; who says so.

kept       the teacher would have said the same
corrected  the teacher says something else, and is sure enough of it
ignored    the teacher says something else, and is not sure: neither label should count for much
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fwl.learn.fitted import FittedTeacher
from fwl.learn.task import Task, both_columns, silent_rows
from fwl.records import Array
from fwl.teach.insight import insight

KEPT, CORRECTED, IGNORED = "kept", "corrected", "ignored"
ODDS = 2.0  # a class is corrected if another is so many times as probable
DEVIATIONS = 2.0  # a number is kept if the teacher's is no further away
OUT_OF_REACH = 0.9  # the teacher's variance, relative to the prior's, from which a number is not corrected
CHUNK = 4096

Rows = npt.NDArray[np.int64]
Names = npt.NDArray[np.str_]


def verdicts(task: Task, weak: Array, label: Array, uncertainty: Array, deviation: Array | None = None) -> Names:
    """The verdict on each weak label, [N]. A label that nobody gave is corrected, or ignored, as the teacher is sure.

    Args:
        task: what the labels are.
        weak: labels [N, C], rows of NaN where there is none.
        label: soft labels [N, C].
        uncertainty: Sigma of each, relative to the prior's, [N]; for numbers.
        deviation: the standard deviation of each soft label, [N]; for numbers.
    """
    if task.has_classes:
        return _on_classes(both_columns(weak), both_columns(label))
    assert deviation is not None
    distance: Array = np.abs(weak - label)[:, 0]
    near = distance <= DEVIATIONS * deviation  # never, where there is no weak label
    return _chosen([near, uncertainty < OUT_OF_REACH])


def doubt(task: Task, weak: Array, label: Array, fidelity: Array) -> Array:
    """How much each weak label is worth doubting: the teacher's disagreement times its fidelity, [N].

    Of classes the probability of another class, of numbers the distance in deviations of all soft labels. NaN where
    there is no weak label.
    """
    if task.has_classes:
        agreement = (both_columns(weak) * both_columns(label)).sum(axis=1)
        disagreement = 1.0 - agreement
    else:
        distance: Array = np.abs(weak - label)[:, 0]
        disagreement = distance / (float(label.std()) or 1.0)
    return np.asarray(disagreement * fidelity)


def _on_classes(weak: Array, label: Array) -> Names:
    silent = silent_rows(weak)
    said = np.where(silent[:, None], 0.0, weak).argmax(axis=1)
    best = label.argmax(axis=1)
    rows = np.arange(len(label))
    beaten = label[rows, best] >= ODDS * np.where(silent, _second(label), label[rows, said])
    return _chosen([~silent & (said == best), beaten])


def _chosen(kept_corrected: list[npt.NDArray[np.bool_]]) -> Names:
    return np.select(kept_corrected, [KEPT, CORRECTED], IGNORED).astype(np.str_)


def _second(label: Array) -> Array:
    """The second largest probability of each row."""
    return np.asarray(np.sort(label, axis=1)[:, -2])


@dataclass(frozen=True, eq=False)
class Witnesses:
    """The strong samples that speak for each soft label, the loudest first.

    Attributes:
        rows: of the strong set, [N, k]; -1 where fewer speak for it.
        weight: how far each moves the label from the prior mean towards what it is, [N, k].
    """

    rows: Rows
    weight: Array


def witnesses(teacher: FittedTeacher, X: npt.NDArray[Any], label: Array, count: int = 3) -> Witnesses:
    """Which strong samples moved the teacher towards its label of each sample, and how far.

    Args:
        teacher: fitted; an exact or clustered one.
        X: samples, [N, ...].
        label: the teacher's, [N, C].
        count: how many of them, at the most.
    """
    inside = insight(teacher.teacher)
    residual, count = inside.residual(), min(count, inside.strong)
    rows, weights = np.empty((len(X), count), dtype=np.int64), np.empty((len(X), count))
    for start in range(0, len(X), CHUNK):
        some = slice(start, start + CHUNK)
        pull = inside.weights(teacher.view(X[some])) * (_direction(teacher, label[some]) @ residual.T)  # [n, N]
        order = np.argsort(-pull, axis=1)[:, :count]
        weights[some] = np.take_along_axis(pull, order, axis=1)
        rows[some] = np.where(weights[some] > 0, order, -1)
    return Witnesses(rows, np.maximum(weights, 0.0))


def _direction(teacher: FittedTeacher, label: Array) -> Array:
    """Which way a soft label lies, [N, C]: towards its class; in one column, up or down from the middle."""
    if label.shape[1] > 1:
        towards: Array = np.eye(label.shape[1])[label.argmax(axis=1)]
        return towards
    middle = 0.5 if teacher.task.has_classes else float(teacher.shares[0])
    return np.where(label >= middle, 1.0, -1.0)
