"""The teachers that estimators make, by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fwl.errors import InvalidInput, UnknownName
from fwl.teach.clustered import ClusteredGP
from fwl.teach.contract import Teacher
from fwl.teach.exact import ExactGP
from fwl.teach.kernels import RBF, White

NAMES = ("auto", "exact", "clustered")
LARGEST = 1000  # strong rows up to which "auto" is exact


@dataclass(frozen=True)
class NewTeacher:
    """The paper's teacher on psi, its lengthscale started at the distance of standardised columns and then fitted.

    The paper's l = 1 is for representations on its own scale; between standardised rows of a hundred columns every
    distance is above ten and the kernel would be zero everywhere.

    Attributes:
        width: columns of psi.
        rows: strong samples.
        classes: whether labels are classes: noisy readings of a probability (DECISIONS.md, D23).
        clustered: whether it is clustered; None for where there are many rows.
    """

    width: int
    rows: int
    classes: bool = False
    clustered: bool | None = None

    def __call__(self) -> Teacher:
        """A new one."""
        reach, signal, noise = (1.0, 0.1, 0.1) if self.classes else (0.5, 1.0, 0.02)
        kernel = RBF(math.sqrt(2.0 * reach * reach * self.width), signal) + White(noise)
        if self.clustered or (self.clustered is None and self.rows > LARGEST):
            return ClusteredGP(kernel=kernel, hyperparameters="evidence_with_prior", precision="double")
        return ExactGP(kernel, "evidence_with_prior")


def teacher_named(
    teacher: str | Callable[[], Any], plain: NewTeacher
) -> tuple[tuple[int | None, ...], Callable[[], Teacher]]:
    """The clusters that FWL_auto may choose from, and what makes the other methods' teachers.

    Args:
        teacher: a name in `NAMES`, or a function that makes one.
        plain: the one that is made where nobody asked for another.
    """
    if not isinstance(teacher, str):
        if not callable(teacher):
            raise InvalidInput(f"teacher: expected a name or a function that makes one, got {teacher!r:.60}")
        return (None,), teacher
    if teacher not in NAMES:
        raise UnknownName("teacher", teacher, NAMES)
    if teacher == "auto":
        return (None,), plain
    exact = teacher == "exact"
    return (1,) if exact else (None,), NewTeacher(plain.width, plain.rows, plain.classes, not exact)
