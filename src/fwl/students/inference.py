"""A trained student's outputs as arrays, a chunk at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from fwl.errors import InvalidInput
from fwl.records import Array
from fwl.students.contract import Reads, Student

CHUNK = 8192  # samples, or words of text, that go through a student together

Rows = slice | npt.NDArray[np.int64]


def as_input(X: npt.NDArray[Any], reads: Reads = None) -> torch.Tensor:
    """Samples as the tensor a student reads, one row each; a vector is one column.

    Numbers come in single precision. Whole numbers stay whole where the student reads a named part, because there they
    are names of things and not amounts.
    """
    read = part_of(X, reads)
    rows = read[:, None] if read.ndim == 1 else read
    dtype = _whole(rows.dtype) if reads is not None and rows.dtype.kind in "iu" else np.dtype(np.float32)
    return torch.from_numpy(np.require(rows, dtype, ["C", "W"]))  # torch refuses to share read-only memory


def part_of(X: npt.NDArray[Any], reads: Reads) -> npt.NDArray[Any]:
    """The part of the samples that a student reads, as a view; plain arrays are read whole.

    Several parts come side by side in one matrix of whole numbers of 32 bits: the bits of each part as they are, which
    the student takes for numbers again where they were.
    """
    names = X.dtype.names
    if names is None:
        return X
    if isinstance(reads, tuple):
        return np.concatenate([_bits(part_of(X, name), name) for name in reads], axis=1)
    if reads is None:
        raise InvalidInput(
            f"these samples have named parts ({', '.join(names)}) and this student reads plain numbers; "
            "give it one part, or name the part in the student's `reads`"
        )
    if reads not in names:
        raise InvalidInput(
            f"this student reads the part {reads!r} of a sample, got samples with {', '.join(names)}; "
            "name one of their parts so, or set the student's `reads`"
        )
    return X[reads]


def _bits(part: npt.NDArray[Any], name: str) -> npt.NDArray[np.int32]:
    if part.dtype not in (np.int32, np.float32):
        raise InvalidInput(
            f"the part {name!r} of these samples is {part.dtype}; parts that are read side by side are whole or single "
            "precision numbers of 32 bits: convert it"
        )
    return np.ascontiguousarray(part).reshape(len(part), -1).view(np.int32)


def predict(student: Student, X: npt.NDArray[Any]) -> Array:
    """The student's outputs phi(psi(x)), [N, C]."""
    return _in_chunks(student, X, student)


def represent(student: Student, X: npt.NDArray[Any]) -> Array:
    """The student's representations psi(x), [N, D]."""
    return _in_chunks(student, X, student.represent)


def chunk_by_chunk(
    function: Callable[[Rows], torch.Tensor], n: int, lengths: npt.NDArray[np.int64] | None
) -> torch.Tensor:
    """What the function gives for each of n rows, asked for some rows at a time, in the order of the rows.

    Samples with lengths are asked for from the shortest to the longest, so that little is padded.
    """
    if lengths is None or n == 0:  # no samples are one empty chunk: its outputs have columns too
        return torch.cat([function(slice(i, i + CHUNK)) for i in range(0, max(1, n), CHUNK)])
    order = np.argsort(lengths, kind="stable")
    size = max(1, CHUNK // max(1, int(lengths.max())))
    sorted_ = torch.cat([function(order[i : i + size]) for i in range(0, n, size)])
    return torch.empty_like(sorted_).index_copy_(0, torch.from_numpy(order), sorted_)


def _in_chunks(student: Student, X: npt.NDArray[Any], function: Callable[[torch.Tensor], torch.Tensor]) -> Array:
    read, precision = part_of(X, student.reads), _precision(student)

    def ask(rows: Rows) -> torch.Tensor:
        x = as_input(read[rows], student.reads)
        return function(x.to(precision) if x.is_floating_point() else x).double()

    was_training = student.training
    student.eval()
    try:
        with torch.inference_mode():
            outputs: Array = chunk_by_chunk(ask, len(X), student.lengths(X)).numpy()
    finally:
        student.train(was_training)
    return outputs


def _precision(student: Student) -> torch.dtype:
    """The student's own: single while it is trained, double where it was made so for predictions."""
    first = next(student.parameters(), None)
    return torch.float32 if first is None else first.dtype


def _whole(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The whole numbers that torch counts with: 32 bits where those are enough, else 64."""
    return np.dtype(np.int32 if np.can_cast(dtype, np.int32) else np.int64)
