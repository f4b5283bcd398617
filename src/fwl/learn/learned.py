"""What a method hands back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fwl.learn.fitted import FittedTeacher
from fwl.learn.task import Task
from fwl.learn.worth import Worth
from fwl.records import Array, SoftSet, as_samples
from fwl.students.contract import Student
from fwl.students.inference import predict


@dataclass(frozen=True, eq=False)
class Learned:
    """Trained students (one, or several that are averaged), and the teacher and soft labels where there are any.

    Attributes:
        students: whose mean is the prediction.
        task: what they were trained for.
        teacher: the fitted teacher, if the method has one.
        soft: the soft dataset it made, if it made one.
        choices: what the method decided by itself, for the record.
        worth: what the teacher is worth, and what to be warned of, if there is one.
    """

    students: tuple[Student, ...]
    task: Task
    teacher: FittedTeacher | None = None
    soft: SoftSet | None = None
    choices: dict[str, Any] = field(default_factory=dict)
    worth: Worth | None = None

    def predict(self, X: npt.ArrayLike) -> Array:
        """The predicted labels of samples X, [N, C]."""
        samples = as_samples(X, "new")
        mean: Array = np.mean([self.task.link(predict(student, samples)) for student in self.students], axis=0)
        return mean
