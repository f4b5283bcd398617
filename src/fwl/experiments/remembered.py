"""A teacher that was fitted before on the same labels, seen the same way, is not fitted again.

The cells of a sweep over beta, or over the length of step 3, have their teacher in common, and what it believes of the
pool. Both are most of what step 2 costs.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Self, TypeVar

import numpy as np

from fwl.records import Array, Posterior
from fwl.teach.contract import Teacher

FITTED = 2  # teachers that a process keeps, the latest
BELIEFS = 4  # that each of them keeps: of the pool, and of the sets it is tested on
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class _Known:
    """A fitted teacher, and what it was asked."""

    teacher: Teacher
    beliefs: OrderedDict[Hashable, Posterior] = field(default_factory=OrderedDict)


_FITTED: OrderedDict[Hashable, _Known] = OrderedDict()


class Remembered:
    """A teacher behind which there may be one that knows all this already.

    Args:
        new_teacher: makes the teacher behind it; it draws nothing, or always the same.
        kind: tells teachers apart that would be fitted differently.
    """

    def __init__(self, new_teacher: Callable[[], Teacher], kind: Hashable) -> None:
        self.new_teacher, self.kind = new_teacher, kind

    def fit(self, Z: Array, y: Array, prior_mean: Array | None = None) -> Self:
        """Learn from strong labels, or remember what was learned from them."""
        key = (self.kind, _digest(Z, y, prior_mean))
        self._known = latest(_FITTED, key, lambda: _Known(self.new_teacher().fit(Z, y, prior_mean)), FITTED)
        self.log_evidence_ = self._known.teacher.log_evidence_
        return self

    def posterior(self, Z: Array, prior_mean: Array | None = None) -> Posterior:
        """Mean and variance of the label at each row of Z [M, D]."""
        teacher, beliefs = self._known.teacher, self._known.beliefs
        return latest(beliefs, _digest(Z, prior_mean), lambda: teacher.posterior(Z, prior_mean), BELIEFS)

    def leave_one_out(self) -> Posterior:
        """What the teacher behind it would have said of each strong sample."""
        return self._known.teacher.leave_one_out()


def latest(known: OrderedDict[Hashable, T], key: Hashable, make: Callable[[], T], most: int) -> T:
    """What is known by a key, made if it is not; only the latest are kept."""
    if key not in known:
        known[key] = make()
    known.move_to_end(key)
    while len(known) > most:
        known.popitem(last=False)
    return known[key]


def _digest(*arrays: Array | None) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(repr(None if array is None else (array.shape, array.dtype.str)).encode())
        if array is not None:
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
