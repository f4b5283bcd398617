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
from fwl.teach.calibration import rebalanced


@dataclass(frozen=True, eq=False)
class Learned:
    """Trained students (one, or several that are averaged), and the teacher and soft labels where there are any.

    Attributes:
        students: whose mean is the prediction; in a committee, what the teacher leaves of it.
        task: what they were trained for.
        teacher: the fitted teacher, if the method has one.
        soft: the soft dataset it made, if it made one.
        choices: what the method decided by itself, for the record.
        worth: what the teacher is worth, and what to be warned of, if there is one.
        with_teacher: whether this is a committee: the teacher's own prediction counts too.
        teacher_share: of what students and teacher say, that is the teacher's.
        rebalance: how far a committee's probabilities are moved towards equal classes (see `Teaching`).
        second_kind: students of another kind in a committee: their mean counts as much as that of the others.
        guest: one more side of a committee, if there is one.
        guest_share: of the prediction, that is the guest's; the rest is the committee's.
    """

    students: tuple[Student, ...]
    task: Task
    teacher: FittedTeacher | None = None
    soft: SoftSet | None = None
    choices: dict[str, Any] = field(default_factory=dict)
    worth: Worth | None = None
    with_teacher: bool = False
    teacher_share: float = 0.5
    rebalance: float = 0.0
    second_kind: tuple[Student, ...] = ()
    guest: Student | None = None
    guest_share: float = 0.0

    def predict(self, X: npt.ArrayLike, weak: Array | None = None) -> Array:
        """The predicted labels of samples X, [N, C]; a teacher in a committee may read their weak labels [N, C]."""
        samples = as_samples(X, "new")
        mean = self._students_say(samples)
        if not self.with_teacher:
            return mean
        assert self.teacher is not None
        mean = (1.0 - self.teacher_share) * mean + self.teacher_share * self.teacher.predict(samples, weak)
        if self.guest is not None:
            guest = self.task.link(predict(self.guest, samples))
            mean = (1.0 - self.guest_share) * mean + self.guest_share * guest
        return rebalanced(mean, self.teacher.shares, self.rebalance)

    def _students_say(self, samples: npt.NDArray[Any]) -> Array:
        kinds = [kind for kind in (self.students, self.second_kind) if kind]
        said = [np.mean([self.task.link(predict(student, samples)) for student in kind], axis=0) for kind in kinds]
        mean: Array = np.mean(said, axis=0)
        return mean
