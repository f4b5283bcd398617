"""How many labels a learner needs to do as well as another: a place on its learning curve."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from fwl.errors import InvalidInput, WrongShape


def label_budget(
    amounts: Sequence[float], scores: Sequence[float], target: float, lower_is_better: bool = False
) -> float | None:
    """The smallest number of labels with which a learning curve reaches a target; straight lines between its points.

    Args:
        amounts: of labels, rising.
        scores: with each of them.
        target: to be reached.
        lower_is_better: whether the scores are errors.

    Returns:
        The number; the first of the amounts if that is enough already (fewer may be), None if all are too few.

    >>> label_budget([100, 200, 400], [0.25, 0.5, 0.75], target=0.625)
    300.0
    """
    _check(amounts, scores)
    missing = [(score - target) if lower_is_better else (target - score) for score in scores]
    if missing[0] <= 0:
        return float(amounts[0])
    for i in range(1, len(missing)):
        if missing[i] <= 0:
            share = missing[i - 1] / (missing[i - 1] - missing[i])
            return float(amounts[i - 1] + share * (amounts[i] - amounts[i - 1]))
    return None


def _check(amounts: Sequence[float], scores: Sequence[float]) -> None:
    if len(amounts) != len(scores) or not amounts:
        raise WrongShape(f"a learning curve of {len(amounts)} amounts and {len(scores)} scores; expected one for each")
    if any(later <= earlier for earlier, later in pairwise(amounts)):
        raise InvalidInput(f"amounts of labels rise along a learning curve, got {list(amounts)}")
