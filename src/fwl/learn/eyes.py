"""Whose representation a teacher looks through: one student's, several, or fold students that never saw the sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fwl.records import Array, StrongSet
from fwl.students.contract import Student
from fwl.students.inference import predict, represent


class Eyes(Protocol):
    """Frozen students. Strong samples are seen by a student that was not taught their labels."""

    def represent(self, X: npt.NDArray[Any]) -> Array:
        """Psi of any samples, [N, D]."""

    def respond(self, X: npt.NDArray[Any]) -> Array:
        """The outputs phi(psi(x)) for any samples, [N, C]."""

    def represent_strong(self, strong: StrongSet) -> Array:
        """Psi of the strong samples."""

    def respond_to_strong(self, strong: StrongSet) -> Array:
        """The outputs for the strong samples."""


@dataclass(frozen=True, eq=False)
class OneStudent:
    """A student that saw weak labels only: every sample is new to it."""

    student: Student

    def represent(self, X: npt.NDArray[Any]) -> Array:
        """Psi of any samples."""
        return represent(self.student, X)

    def respond(self, X: npt.NDArray[Any]) -> Array:
        """The outputs for any samples."""
        return predict(self.student, X)

    def represent_strong(self, strong: StrongSet) -> Array:
        """Psi of the strong samples."""
        return self.represent(strong.X)

    def respond_to_strong(self, strong: StrongSet) -> Array:
        """The outputs for the strong samples."""
        return self.respond(strong.X)


@dataclass(frozen=True, eq=False)
class SeveralStudents:
    """Students that each saw weak labels only, from different beginnings: their luck evens out.

    Their representations have nothing in common and stand side by side; what they say is averaged before the link.
    """

    students: tuple[Student, ...]

    def represent(self, X: npt.NDArray[Any]) -> Array:
        """Psi of any samples."""
        return np.concatenate([represent(student, X) for student in self.students], axis=1)

    def respond(self, X: npt.NDArray[Any]) -> Array:
        """The outputs for any samples."""
        mean: Array = np.mean([predict(student, X) for student in self.students], axis=0)
        return mean

    def represent_strong(self, strong: StrongSet) -> Array:
        """Psi of the strong samples."""
        return self.represent(strong.X)

    def respond_to_strong(self, strong: StrongSet) -> Array:
        """The outputs for the strong samples."""
        return self.respond(strong.X)


@dataclass(frozen=True, eq=False)
class FoldStudents:
    """Students fine-tuned on all strong labels but those of one fold each.

    A strong sample is seen by the one that did not see its label, any other sample by their mean. They started from the
    same weights, so their representations lie close enough to be averaged.

    Attributes:
        students: one for each fold.
        fold: the fold of each strong sample, [N].
    """

    students: tuple[Student, ...]
    fold: npt.NDArray[np.int64]

    def represent(self, X: npt.NDArray[Any]) -> Array:
        """Psi of any samples."""
        mean: Array = np.mean([represent(student, X) for student in self.students], axis=0)
        return mean

    def respond(self, X: npt.NDArray[Any]) -> Array:
        """The outputs for any samples."""
        mean: Array = np.mean([predict(student, X) for student in self.students], axis=0)
        return mean

    def represent_strong(self, strong: StrongSet) -> Array:
        """Psi of the strong samples."""
        return self._each_its_own([represent(student, strong.X) for student in self.students])

    def respond_to_strong(self, strong: StrongSet) -> Array:
        """The outputs for the strong samples."""
        return self._each_its_own([predict(student, strong.X) for student in self.students])

    def _each_its_own(self, seen: list[Array]) -> Array:
        own: Array = np.stack(seen)[self.fold, np.arange(len(self.fold))]
        return own
