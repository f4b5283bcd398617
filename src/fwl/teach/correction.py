"""Whether a correction of a ranking is worth having: weighed on judged queries it never saw, or not used at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from fwl.errors import InvalidInput, WrongShape
from fwl.records import Array, as_vector

Matrix = npt.NDArray[np.floating[Any]]
WEIGHTS = (3.0, 10.0, 30.0)
# With few judged queries the best of many settings looks good by chance: the fewer, the further it has to be from 0.
FEW_QUERIES = 50
STANDARD_ERRORS, STANDARD_ERRORS_WITH_FEW = 1.0, 2.0


class Correction(Protocol):
    """What can be added to a base ranking: a teacher over (query, document), a memory."""

    def leave_one_query_out(self) -> Matrix:
        """What it would have said of each judged query without its judgments, [Q, N]."""

    def described(self) -> dict[str, float]:
        """Its settings."""


@dataclass(frozen=True)
class Tried:
    """One correction, one weight.

    Attributes:
        settings: of the correction.
        weight: its factor beside the base.
        gain: over the base, the mean over left-out queries.
        standard_error: of that mean.
    """

    settings: dict[str, float]
    weight: float
    gain: float
    standard_error: float


@dataclass(frozen=True)
class Choice:
    """What was tried, what came first, and whether to use it.

    Attributes:
        tried: every correction with every weight, in the order they came.
        best: the one of the highest gain.
        keep: whether the gain is far enough above 0; if not, the base alone is the answer.
        reason: the same in a sentence.
    """

    tried: tuple[Tried, ...]
    best: Tried
    keep: bool
    reason: str

    @property
    def weight(self) -> float:
        """What to multiply the correction with before it is added to the base: 0 where it is not kept."""
        return self.best.weight if self.keep else 0.0


AnyCorrection = TypeVar("AnyCorrection", bound=Correction)


def choose_correction(
    candidates: Iterable[AnyCorrection], gain: Callable[[Matrix], Array], weights: Sequence[float] = WEIGHTS
) -> tuple[AnyCorrection, Choice]:
    """The candidate with the highest gain on left-out queries, and whether it is worth using.

    Args:
        candidates: fitted corrections, such as `QueryDocumentGP.alternatives()`; asked one after the other.
        gain: from what would be added to the base [Q, N] to the gain over the base of each judged query [Q], in
            whatever measure counts; above 0 is better.
        weights: factors to try on every candidate.
    """
    tried: list[Tried] = []
    best: tuple[AnyCorrection, Tried, int] | None = None
    for candidate in candidates:
        left_out = candidate.leave_one_query_out()
        for weight in weights:
            gains = _checked(gain(weight * left_out), len(left_out))
            tried.append(_weighed(candidate.described(), weight, gains))
            if best is None or tried[-1].gain > best[1].gain:
                best = candidate, tried[-1], len(gains)
    if best is None:
        raise InvalidInput("no correction to choose from; expected at least one candidate and one weight")
    correction, its, queries = best
    keep, reason = _decided(its, queries, len(tried))
    return correction, Choice(tuple(tried), its, keep, reason)


def _checked(gains: Any, queries: int) -> Array:
    vector = as_vector(gains, "gains")
    if len(vector) != queries:
        raise WrongShape(f"gains: expected one for each of {queries} judged queries, got {len(vector)}")
    return vector


def _weighed(settings: dict[str, float], weight: float, gains: Array) -> Tried:
    n = len(gains)
    error = float(gains.std(ddof=1) / np.sqrt(n)) if n > 1 else float("inf")
    return Tried(settings, float(weight), float(gains.mean()), error)


def _decided(best: Tried, queries: int, tried: int) -> tuple[bool, str]:
    if queries < 2:
        return False, "Not used: one judged query shows no spread of the gain; judge more queries."
    asked = STANDARD_ERRORS if queries > FEW_QUERIES else STANDARD_ERRORS_WITH_FEW
    keep = best.gain - asked * best.standard_error > 0
    found = (
        f"the best of {tried} settings gains {best.gain:+.4f} ± {best.standard_error:.4f} over the base "
        f"on {queries} judged queries, each left out in turn"
    )
    bar = f"{asked:g} standard error{'s' if asked != 1 else ''} above 0"
    if keep:
        return True, f"Used: {found}, which is more than {bar}."
    return False, f"Not used: {found}, which is not {bar}; rank by the base alone, or judge more queries."
