"""What every fitted estimator keeps, however it was fitted or loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from fwl.estimators.gathering import Gathered
from fwl.estimators.given import check_same_kind, read_new
from fwl.estimators.inputs import Inputs
from fwl.estimators.labels import Labels
from fwl.estimators.left_out import left_out_told
from fwl.estimators.telling import Softened, soften_both
from fwl.learn.eyes import FoldStudents, OneStudent, SeveralStudents
from fwl.learn.fitted import FittedTeacher
from fwl.learn.learned import Learned
from fwl.learn.own_data import Taught
from fwl.learn.soften import Softener
from fwl.progress import Progress
from fwl.students.contract import Student


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted estimator's memory.

    Attributes:
        inputs: how samples are encoded.
        labels: how labels are read and told.
        kind: of samples.
        learned: what the method made.
        teacher: who says which labels to doubt.
        soft: soft labels of the pool, then of the strong samples.
        pool_rows: how many of them are the pool's.
        softener: makes more of them.
        report: what is told of all that, in plain values.
        example: two samples as students read them; a student of the user's own is made by looking at them.
    """

    inputs: Inputs
    labels: Labels
    kind: str
    learned: Learned
    teacher: FittedTeacher
    soft: Softened
    pool_rows: int
    softener: Softener
    report: dict[str, Any]
    example: npt.NDArray[Any]

    @classmethod
    def of(
        cls, gathered: Gathered, taught: Taught, method: str, beta: float, progress: Progress | None = None
    ) -> Fitted:
        """What is kept of a run of that method, with that beta where it chose none."""
        learned = taught.learned
        softener = _softener(taught, method, beta)
        worth = learned.worth.as_dict() if learned.worth is not None else None
        report = {
            **gathered.described(),
            "pretrain_steps": taught.steps,
            "choices": learned.choices,
            "worth": worth,
            "left_out": left_out_told(taught.teacher, gathered.labels, gathered.data.y),
        }
        return cls(
            gathered.inputs,
            gathered.labels,
            gathered.kind,
            learned,
            taught.teacher,
            soften_both(softener, learned.soft, gathered.data, progress),
            len(gathered.data.pool),
            softener,
            report,
            gathered.data.strong[:2],
        )


def _softener(taught: Taught, method: str, beta: float) -> Softener:
    """Soft labels as the method made them; as FWL_auto would, for a method that makes none."""
    faithful = taught.learned.soft is not None and method != "FWL_auto"
    return Softener(taught.teacher, taught.learned.choices.get("beta", beta), "raw" if faithful else "relative")


def keep_fitted(estimator: Any, fitted: Fitted) -> None:
    """Give an estimator its fitted attributes."""
    for student in (*fitted.learned.students, *fitted.learned.second_kind, *_seen_through(fitted.teacher)):
        student.double()  # in single precision a row's prediction would depend on the rows beside it
    estimator._fitted = fitted
    estimator.learned_, estimator.teacher_ = fitted.learned, fitted.teacher
    estimator.student_ = fitted.learned.students[0]
    estimator.soft_labels_ = fitted.labels.told(fitted.soft.label)
    estimator.uncertainty_, estimator.fidelity_ = fitted.soft.uncertainty, fitted.soft.fidelity
    estimator.choices_, estimator.report_ = fitted.learned.choices, fitted.report


def read_samples(estimator: Any, X: Any) -> npt.NDArray[Any]:
    """New samples, encoded as the fitted ones were."""
    fitted: Fitted = estimator._fitted
    given = read_new(estimator, X)
    check_same_kind(fitted.kind, given)
    return fitted.inputs.of(given)


def _seen_through(teacher: FittedTeacher) -> tuple[Student, ...]:
    eyes = teacher.view.eyes
    if isinstance(eyes, OneStudent):
        return (eyes.student,)
    return eyes.students if isinstance(eyes, FoldStudents | SeveralStudents) else ()
