"""A trained student's outputs as arrays, a chunk at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch

from fwl.records import Array
from fwl.students.contract import Student

CHUNK = 8192


def as_input(X: npt.NDArray[np.generic]) -> torch.Tensor:
    """Samples as the tensor a student reads: numbers in single precision, one row each; a vector is one column."""
    rows = X[:, None] if X.ndim == 1 else X
    return torch.from_numpy(np.require(rows, np.float32, ["C", "W"]))  # torch refuses to share read-only memory


def predict(student: Student, X: npt.NDArray[np.generic]) -> Array:
    """The student's outputs phi(psi(x)), [N, C]."""
    return _in_chunks(student, X, student)


def represent(student: Student, X: npt.NDArray[np.generic]) -> Array:
    """The student's representations psi(x), [N, D]."""
    return _in_chunks(student, X, student.represent)


def _in_chunks(student: Student, X: npt.NDArray[np.generic], function: Callable[[torch.Tensor], torch.Tensor]) -> Array:
    was_training = student.training
    student.eval()
    try:
        with torch.inference_mode():
            starts = range(0, max(1, len(X)), CHUNK)  # no samples are one empty chunk: its outputs have columns too
            chunks = (as_input(X[i : i + CHUNK]).to(_precision(student)) for i in starts)
            parts = [function(chunk).double().numpy() for chunk in chunks]
    finally:
        student.train(was_training)
    return np.concatenate(parts)


def _precision(student: Student) -> torch.dtype:
    """The student's own: single while it is trained, double where it was made so for predictions."""
    first = next(student.parameters(), None)
    return torch.float32 if first is None else first.dtype
