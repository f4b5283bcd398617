"""How a teacher sees samples: through the student's eyes, directly, or both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fwl.learn.recipe import Teaching
from fwl.records import Array, Posterior, StrongSet
from fwl.students.contract import Student
from fwl.students.inference import predict, represent
from fwl.teach.contract import Teacher


@dataclass(frozen=True, eq=False)
class View:
    """From samples to teacher inputs, with the pre-trained student frozen inside.

    Attributes:
        student: whose psi is used.
        input: "x", "psi" or "both".
        centre: subtracted from each column, [D].
        scale: each column is divided by it, [D].
    """

    student: Student
    input: str
    centre: Array
    scale: Array

    def __call__(self, X: npt.NDArray[Any]) -> Array:
        """Teacher inputs Z [N, D] of samples X."""
        return (_columns(self.student, X, self.input) - self.centre) / self.scale


@dataclass(frozen=True, eq=False)
class FittedTeacher:
    """A teacher that knows the strong labels, and the view it sees samples through."""

    teacher: Teacher
    view: View
    teaching: Teaching

    def posterior(self, X: npt.NDArray[Any]) -> Posterior:
        """Its belief about the labels of samples X."""
        return self.teacher.posterior(self.view(X), prior_mean(self.view.student, X, self.teaching))


def fit_teacher(student: Student, strong: StrongSet, everything: npt.NDArray[Any], teaching: Teaching) -> FittedTeacher:
    """Fit a new teacher on the strong labels, seen through the student as it is now.

    Args:
        student: stays frozen; it must not be trained further afterwards.
        strong: the strong labels.
        everything: all samples; inputs are standardised over these.
        teaching: which input, which prior mean, which teacher.
    """
    view = make_view(student, everything, teaching)
    teacher = teaching.new_teacher().fit(view(strong.X), strong.y, prior_mean(student, strong.X, teaching))
    return FittedTeacher(teacher, view, teaching)


def make_view(student: Student, everything: npt.NDArray[Any], teaching: Teaching) -> View:
    """The view that a teaching asks for, standardised over all samples if it says so."""
    Z = _columns(student, everything, teaching.input)
    centre, scale = np.zeros(Z.shape[1]), np.ones(Z.shape[1])
    if teaching.standardise:
        centre, deviation = Z.mean(axis=0), Z.std(axis=0)
        # A column that never changes carries nothing: it becomes zero instead of noise blown up.
        scale = np.where(deviation > 1e-9 * (np.abs(centre) + 1e-300), deviation, np.inf)
        scale = scale * _balance(student, everything, teaching.input)
    return View(student, teaching.input, centre, scale)


def prior_mean(student: Student, X: npt.NDArray[Any], teaching: Teaching) -> Array | None:
    """The prior mean of samples X, [N, C], or None for zero."""
    return predict(student, X) if teaching.prior_mean == "student" else None


def _columns(student: Student, X: npt.NDArray[Any], input: str) -> Array:  # noqa: A002
    blocks = {"x": ["x"], "psi": ["psi"], "both": ["x", "psi"]}[input]
    return np.concatenate([_flat(X) if b == "x" else represent(student, X) for b in blocks], axis=1)


def _balance(student: Student, X: npt.NDArray[Any], input: str) -> Array:  # noqa: A002
    """In "both", each block counts as much as the other however many columns it has."""
    n_x, n_psi = _flat(X[:1]).shape[1], represent(student, X[:1]).shape[1]
    if input != "both":
        return np.ones(n_x if input == "x" else n_psi)
    return np.sqrt(np.concatenate([np.full(n_x, n_x), np.full(n_psi, n_psi)]).astype(np.float64))


def _flat(X: npt.NDArray[Any]) -> Array:
    return X.reshape(len(X), -1).astype(np.float64)
