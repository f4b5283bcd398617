"""What a teacher is worth, told before it teaches: beside the student on the same strong samples, and over the pool."""

from __future__ import annotations

import math
import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest, norm

from fwl.errors import TeacherWarning
from fwl.evaluate.calibration import (
    accuracy,
    expected_calibration_error,
    gaussian_nll,
    interval_calibration_error,
    interval_coverage,
    negative_log_likelihood,
    set_coverage,
)
from fwl.evaluate.measures import rmse
from fwl.learn.eyes import OneStudent
from fwl.learn.fitted import FittedTeacher, left_out
from fwl.learn.soften import unexplained_share
from fwl.learn.task import Task
from fwl.records import Array, Posterior, SoftSet, StrongSet
from fwl.students.contract import Student

LEVEL = 0.9  # that the reported coverage should have
SURE_AT = 0.05  # a teacher counts as worse than the student if chance explains the difference less often than this
BACK_AT_PRIOR = 0.95  # a sample is out of reach if so much of the signal's prior variance is left
SHARE_OUT_OF_REACH = 0.2  # of the pool; from here on it is worth a word
NEARLY_CONSTANT = 0.999  # effective share of samples: at 1 all fidelities are the same


@dataclass(frozen=True)
class Marks:
    """How well something predicts strong labels it has not seen.

    Attributes:
        error: RMSE of numbers, or the share of samples whose class is wrong.
        nll: mean negative log likelihood.
        calibration_error: ECE of classes; of numbers, how far the coverage of intervals is from their level.
        coverage: how often the label lies in a set or interval that should hold it nine times in ten.
    """

    error: float
    nll: float
    calibration_error: float
    coverage: float


@dataclass(frozen=True)
class Worth:
    """A teacher's report.

    Attributes:
        measure: what `Marks.error` is: "rmse" or "error rate".
        teacher: on each strong sample without its label.
        student: the pre-trained student's, on the same samples.
        effective_share: the effective sample size of the fidelities over the pool, as a share of its size.
        out_of_reach: the share of the pool where the belief is back at the prior.
        warnings: one plain sentence each.
    """

    measure: str
    teacher: Marks
    student: Marks
    effective_share: float
    out_of_reach: float
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def judge(fitted: FittedTeacher, strong: StrongSet, student: Student, soft: SoftSet, posterior: Posterior) -> Worth:
    """The report on a teacher, with its warnings issued.

    Args:
        fitted: the teacher.
        strong: the labels it knows.
        student: before fine-tuning: it has seen none of them.
        soft: the soft dataset it made of the pool.
        posterior: its belief about the pool.
    """
    task, belief = fitted.task, left_out(fitted, strong)
    answer = task.link(OneStudent(student).respond(strong.X))
    marks = (_marks_of_classes, "error rate") if task.has_classes else (_marks_of_numbers, "rmse")
    taught = marks[0](strong.y, fitted.label(belief), belief.variance)
    own = marks[0](strong.y, answer, np.full_like(answer, max(rmse(strong.y, answer) ** 2, 1e-12)))
    share = effective_share(soft.fidelity)
    beyond = float((unexplained_share(posterior).mean(axis=1) > BACK_AT_PRIOR).mean())
    worse = _is_worse(strong.y, fitted.label(belief), answer, task)
    sentences = _warnings(marks[1], taught, own, worse, share, soft, beyond)
    for sentence in sentences:
        warnings.warn(sentence, TeacherWarning, stacklevel=3)
    return Worth(marks[1], taught, own, share, beyond, sentences)


def effective_share(fidelity: Array) -> float:
    """The effective sample size (sum w)^2 / sum w^2 of fidelities as a share of their number: 1 if all are the same."""
    weight = fidelity / fidelity.max()  # their squares would vanish in double precision where all are tiny
    return float(weight.sum() ** 2 / (weight**2).sum() / len(weight))


def _marks_of_classes(y: Array, label: Array, variance: Array) -> Marks:  # noqa: ARG001
    return Marks(
        error=1.0 - accuracy(y, label),
        nll=negative_log_likelihood(y, label),
        calibration_error=expected_calibration_error(y, label),
        coverage=set_coverage(y, label, LEVEL),
    )


def _marks_of_numbers(y: Array, label: Array, variance: Array) -> Marks:
    return Marks(
        error=rmse(y, label),
        nll=gaussian_nll(y, label, variance),
        calibration_error=interval_calibration_error(y, label, variance),
        coverage=interval_coverage(y, label, variance, LEVEL),
    )


def _is_worse(y: Array, taught: Array, own: Array, task: Task) -> bool:
    """Whether the teacher errs more than the student on the same samples, beyond chance."""
    if task.has_classes:
        wrong, student_wrong = _wrong(y, taught), _wrong(y, own)
        lost, won = int((wrong & ~student_wrong).sum()), int((~wrong & student_wrong).sum())
        return lost > won and bool(binomtest(lost, lost + won, alternative="greater").pvalue < SURE_AT)
    surplus = ((y - taught) ** 2 - (y - own) ** 2).mean(axis=1)
    if len(surplus) < 2 or surplus.std() == 0:
        return bool(surplus.mean() > 0)
    return bool(norm.sf(surplus.mean() / (surplus.std(ddof=1) / math.sqrt(len(surplus)))) < SURE_AT)


def _wrong(y: Array, label: Array) -> np.ndarray:
    if y.shape[1] == 1:
        return np.asarray((y[:, 0] > 0.5) != (label[:, 0] > 0.5))
    return np.asarray(y.argmax(axis=1) != label.argmax(axis=1))


def _warnings(
    measure: str, taught: Marks, own: Marks, worse: bool, share: float, soft: SoftSet, beyond: float
) -> tuple[str, ...]:
    said = []
    if worse:
        said.append(
            f"the teacher is worse than the student it should teach: its {measure} on left-out strong labels is "
            f"{taught.error:.3f}, the student's {own.error:.3f}; more strong labels, another input or the student as "
            "prior mean may help"
        )
    meant = soft.fidelity.min() == 1.0  # beta is zero: nobody asked for weights
    if share > NEARLY_CONSTANT and len(soft.fidelity) > 1 and not meant:
        said.append(
            f"the uncertainty is nearly the same everywhere: the fidelities count for {100 * share:.1f} % of the "
            "samples, so weighting by them changes nothing; a larger beta or another lengthscale may help"
        )
    if beyond > SHARE_OUT_OF_REACH:
        said.append(
            f"{100 * beyond:.0f} % of the pool lies out of the teacher's reach, where its label is the prior mean; "
            "strong labels there, or a longer lengthscale, would help"
        )
    return tuple(said)
