"""What a fitted estimator tells of every sample: soft label, uncertainty, fidelity; a chunk at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fwl.learn.fitted import FittedTeacher
from fwl.learn.learned import Learned
from fwl.learn.own_data import OwnData, weak_or_student
from fwl.learn.soften import Softener
from fwl.progress import Progress, Silent
from fwl.records import Array, SoftSet

CHUNK = 32768


@dataclass(frozen=True, eq=False)
class Softened:
    """The soft dataset without its samples: label [N, C], uncertainty [N] and fidelity [N]."""

    label: Array
    uncertainty: Array
    fidelity: Array


def soften_both(softener: Softener, made: SoftSet | None, data: OwnData, progress: Progress | None = None) -> Softened:
    """Soft labels of every sample of the pool, whoever labelled it, and then of the strong ones.

    Those that a method made are taken, if it made them of all samples.
    """
    total = len(data.pool) + len(data.strong)
    if made is not None and len(made.label) == total:
        return _kept(made)
    listener = progress or Silent()
    listener.start(total, "soft labels")
    try:
        pool = soften_some(softener, data.pool, data.pool_weak, listener)
        return _joined([pool, soften_some(softener, data.strong, data.strong_weak, listener)])
    finally:
        listener.finish()


def soften_some(
    softener: Softener, X: npt.NDArray[Any], weak: Array | None, progress: Progress | None = None
) -> Softened:
    """Soft labels of some samples; where the annotator is silent, the student stands in for it."""
    parts = []
    for rows in _chunks(len(X)):
        read = weak_or_student(softener.teacher, X[rows], None if weak is None else weak[rows])
        parts.append(_kept(softener(X[rows], read)))
        (progress or Silent()).advance(len(X[rows]))
    return _joined(parts)


def predict_with(learned: Learned, teacher: FittedTeacher, X: npt.NDArray[Any], weak: Array | None) -> Array:
    """Label columns of samples: the students' (in a committee, and the teacher's); with weak labels, the teacher's.

    Args:
        learned: the students.
        teacher: who reads weak labels.
        X: samples.
        weak: what the annotator says of them, NaN where it is silent; None if it was not asked.
    """

    def answer(rows: slice) -> Array:
        read = weak_or_student(teacher, X[rows], None if weak is None else weak[rows])
        if weak is None or learned.with_teacher:
            return learned.predict(X[rows], read)
        return teacher.predict(X[rows], read)

    return _by_chunks(answer, len(X))


def _by_chunks(function: Callable[[slice], Array], n: int) -> Array:
    return np.concatenate([function(rows) for rows in _chunks(n)])


def _chunks(n: int) -> Iterator[slice]:
    return (slice(start, start + CHUNK) for start in range(0, n, CHUNK))


def _kept(soft: SoftSet) -> Softened:
    return Softened(soft.label, soft.uncertainty, soft.fidelity)


def _joined(parts: list[Softened]) -> Softened:
    columns = zip(*((part.label, part.uncertainty, part.fidelity) for part in parts), strict=True)
    return Softened(*(np.concatenate(column) for column in columns))
