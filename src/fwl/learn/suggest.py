"""Which samples to label next: those whose strong label would leave the least uncertainty over the pool.

A label at x lowers the variance of the function at every x' by cov(x, x')^2 / (var(x) + noise), whatever the label
turns out to be. So the best next sample is known before it is labelled, and so is the one after it: the covariance
that is left after the first is a rank-one update. Samples are taken one after another, each the best given those
before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from fwl.errors import InvalidInput
from fwl.learn.fitted import FittedTeacher
from fwl.randomness import Chance
from fwl.records import Array
from fwl.teach.insight import Insight, far_reaching, insight
from fwl.teach.selection import median_distance

CANDIDATES = 4000  # of a larger pool, so many that are drawn
REFERENCES = 2000  # samples over which the uncertainty is summed, drawn too
CLUSTERS = 10  # over which suggestions are spread
MOST_OF_A_CLUSTER = 2.0  # times its share
MOST_OF_A_CLASS = 1.0  # of weak labels: suggestions that lean to the hard classes would hide the classes' shares (D63)

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Foresight:
    """What is expected of labels to come, at least, whatever the teacher's kernel says.

    Attributes:
        reach: how far a label tells of others, in median distances between candidates.
        noise_share: of a label's variance, so much says nothing of the function.
    """

    reach: float
    noise_share: float


# A class is one draw from the probabilities at a row: most of it is chance, and little of it is about that row alone.
OF_CLASSES = Foresight(reach=1.5, noise_share=0.9)  # DECISIONS.md, D63


@dataclass(frozen=True, eq=False)
class Groups:
    """Candidates in groups that suggestions are spread over.

    Attributes:
        of: the group of each candidate, [C], whole numbers from 0.
        most: a group gives so many times its share of the suggestions at the most, rounded up.
    """

    of: Rows
    most: float


@dataclass(frozen=True, eq=False)
class Suggestions:
    """What to label next, the best first.

    Attributes:
        rows: of the pool, [n].
        gain: the share of the pool's remaining variance that each is expected to remove, given those before it, [n].
    """

    rows: Rows
    gain: Array


def suggest(
    teacher: FittedTeacher,
    pool: npt.NDArray[Any],
    n: int,
    chance: Chance,
    *,
    allowed: Rows | None = None,
    importance: Callable[[Rows], Array] | None = None,
    clusters: int = CLUSTERS,
    classes: Callable[[Rows], Rows] | None = None,
    foresight: Foresight | None = None,
) -> Suggestions:
    """The n samples of the pool whose labels would remove the most of the teacher's variance over it.

    Args:
        teacher: fitted; an exact or clustered one.
        pool: samples, [M, ...].
        n: how many to suggest.
        chance: where candidates and references are drawn from, in a large pool.
        allowed: rows that may be suggested; all by default. Samples whose label is known should be left out.
        importance: how much the variance at some rows of the pool counts, [n]; alike by default.
        clusters: into which candidates are cut; none may give more than twice its share. 1 for no such limit.
        classes: the class that some rows of the pool are thought to have, [n], as whole numbers; none may give more
            than its share. None where labels are no classes.
        foresight: what labels to come will tell; None for what the teacher's kernel says.
    """
    rows = np.arange(len(pool)) if allowed is None else np.asarray(allowed, dtype=np.int64)
    if not 1 <= n <= len(rows):
        raise InvalidInput(f"n={n}: expected 1 to {len(rows)}, as many as there are samples to choose from")
    candidates = _some(rows, max(CANDIDATES, n), chance.child("candidates"))
    references = _some(np.arange(len(pool)), REFERENCES, chance.child("references"))
    weight = np.ones(len(references)) if importance is None else importance(references)
    inside, Z = insight(teacher.teacher), teacher.view(pool[candidates])
    if foresight is not None:
        reach = foresight.reach * median_distance(inside.project(Z))
        inside = far_reaching(inside, reach, foresight.noise_share)
    spread = [Groups(_clusters(Z, clusters, chance), MOST_OF_A_CLUSTER)]
    if classes is not None:
        spread.append(Groups(classes(candidates), MOST_OF_A_CLASS))
    picked, gain = greedy(inside, Z, teacher.view(pool[references]), weight, n, spread)
    return Suggestions(candidates[picked], gain)


def greedy(
    inside: Insight, candidates: Array, references: Array, weight: Array, n: int, spread: Sequence[Groups] = ()
) -> tuple[Rows, Array]:
    """Pick n candidates one after another, each that which removes most of the weighted variance that is left.

    Args:
        inside: of the teacher.
        candidates: teacher inputs [C, D].
        references: teacher inputs [R, D] over whose variance is summed.
        weight: of each reference, [R].
        n: how many to pick.
        spread: groups of which none gives more than it may, as long as others have some left.

    Returns:
        The candidates' places, and the share of the variance at first that each removes.
    """
    left = inside.covariance(references, candidates)  # [R, C], updated as candidates are picked
    variance, noise = inside.variance(candidates), inside.noise
    total = float(weight @ inside.variance(references)) or 1.0
    allowance = _Allowance(spread, len(candidates), n)
    picked: list[int] = []
    gains: list[float] = []
    factors: list[Array] = []
    for _ in range(n):
        gain = (weight @ left**2) / (variance + noise)
        best = allowance.best(gain)
        # The covariance of the picked one with all candidates, after all that were picked before it.
        row = inside.covariance(candidates[best : best + 1], candidates)[0]
        row = row - sum((factor[best] * factor for factor in factors), np.zeros(len(row)))
        factor = row / np.sqrt(variance[best] + noise)
        left -= np.outer(left[:, best] / np.sqrt(variance[best] + noise), factor)
        variance = np.maximum(variance - factor**2, 0.0)
        factors.append(factor)
        picked.append(best)
        gains.append(float(gain[best]) / total)
    return np.array(picked), np.array(gains)


class _Allowance:
    """How many candidates each group may still give; each candidate is given once."""

    def __init__(self, spread: Sequence[Groups], candidates: int, n: int) -> None:
        self._groups = [groups.of for groups in spread]
        shares = [groups.most * n * np.bincount(groups.of) / candidates for groups in spread]
        self._left = [np.ceil(share).astype(np.int64) for share in shares]
        self._free = np.ones(candidates, dtype=bool)

    def best(self, gain: Array) -> int:
        open_ = self._free.copy()
        for group, left in zip(self._groups, self._left, strict=True):
            open_ &= left[group] > 0
        if not open_.any():
            open_ = self._free
        best = int(np.where(open_, gain, -np.inf).argmax())
        self._free[best] = False
        for group, left in zip(self._groups, self._left, strict=True):
            left[group[best]] -= 1
        return best


def _some(rows: Rows, most: int, chance: Chance) -> Rows:
    if len(rows) <= most:
        return rows
    return np.sort(chance.numpy().permutation(rows)[:most])


def _clusters(Z: Array, clusters: int, chance: Chance) -> Rows:
    if clusters < 2 or len(Z) <= clusters:
        return np.zeros(len(Z), dtype=np.int64)
    found = KMeans(clusters, n_init=1, random_state=chance.child("clusters").integer()).fit_predict(Z)
    return np.asarray(found, dtype=np.int64)
