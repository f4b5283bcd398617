"""What the teacher says of each strong sample without its label, beside that label: how far it can be believed."""

from __future__ import annotations

from typing import Any

import numpy as np

from fwl.errors import NoClosedForm
from fwl.estimators.labels import Labels
from fwl.evaluate.reliability import reliability_bins
from fwl.learn.fitted import FittedTeacher, moved
from fwl.learn.task import both_columns
from fwl.records import Array


def left_out_told(teacher: FittedTeacher, labels: Labels, y: Array) -> dict[str, Any] | None:
    """Plain values for a report; None where the teacher has no closed form of leaving one out.

    Args:
        teacher: fitted.
        labels: how columns are told; numbers are on their own scale.
        y: the strong labels, [N, C].
    """
    try:
        belief = moved(teacher.teacher.leave_one_out(), teacher.prior)
    except NoClosedForm:
        return None
    label = teacher.label(belief)
    if not labels.task.has_classes:
        return _told(labels.told(label), labels.told(y), shares=False)
    stated, truth = both_columns(label), both_columns(y)
    right = (stated.argmax(axis=1) == truth.argmax(axis=1)).astype(np.float64)
    return _told(stated.max(axis=1), right, shares=True)


def _told(said: Array, was: Array, shares: bool) -> dict[str, Any]:
    score = {"accuracy": float(was.mean())} if shares else {"rmse": float(np.sqrt(((said - was) ** 2).mean()))}
    return {**score, "reliability": [bin_.as_dict() for bin_ in reliability_bins(said, was, shares=shares)]}
