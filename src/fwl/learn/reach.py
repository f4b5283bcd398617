"""Up to how many strong labels is FWL ahead of the simpler methods?

A learning curve over a few dozen rows is mostly noise: who leads at one of its points is no answer, and a line drawn
through three of them crosses zero anywhere. So FWL's lead over each other method is a Gaussian process over the
logarithm of the number of labels. Beforehand it is believed to be what it was elsewhere, and that leads of either sign
shrink as labels become many (`expected_lead`, `FALLS`); the points move that belief as far as their errors allow. What
comes out is how large FWL's lead over the best of the others is for any number of labels, and how probably it is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from fwl.learn.beliefs import Scale, cautious_covariance, expected_lead
from fwl.learn.compare_methods import Comparison, Point, standard_error
from fwl.learn.decision_words import PROBABLY
from fwl.learn.fold_work import AUTO, AUTO_READING
from fwl.learn.own_data import LINEAR_ALONE
from fwl.records import Array

# A lead falls with this power of the number of strong labels, as it did elsewhere (DECISIONS.md, D72).
FALLS = {LINEAR_ALONE: 0.7, "NN_W->S": 0.35, "NN_W->Sx4": 0.35}
ALIKE = 3.0  # doublings over which leads are alike: a process's lengthscale
LUCK = 0.01  # of a point, whose students were trained once on rows that were drawn once
WORTH = 0.005  # a smaller lead makes no difference
FAR = 100  # told up to so many times as many strong labels as were tried
LOOKS = 400  # numbers of labels that are looked at, evenly over their logarithm

Numbers = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]
Range = tuple[int, int | None]  # from, to; None where no end is in sight


@dataclass(frozen=True)
class Reach:
    """With how many strong labels FWL is ahead of the best other method of the learning curve.

    Attributes:
        method: FWL's on the curve.
        sizes: strong labels at the points of the curve.
        leads: measured at each, over the method that is best there.
        errors: their standard errors.
        sure: how probably FWL is ahead at each.
        believed: the least and the most labels with which its lead is believed to be worth having; None if with none.
        probably: the least and the most with which there probably is a lead; None if with none.
        probably_behind_from: from how many on it is probably behind, beyond those with which it is ahead.
    """

    method: str
    sizes: tuple[int, ...]
    leads: tuple[float, ...]
    errors: tuple[float, ...]
    sure: tuple[float, ...]
    believed: Range | None
    probably: Range | None
    probably_behind_from: int | None


@dataclass(frozen=True)
class Trend:
    """What is believed of a lead beforehand, over doublings of the number of labels: a Gaussian process."""

    lead: float
    spread: float
    falls: float

    def mean(self, doublings: Array) -> Array:
        """[M]."""
        return np.asarray(self.lead * 2.0 ** (-self.falls * doublings))

    def deviation(self, doublings: Array) -> Array:
        """[M]."""
        return np.asarray(self.spread * 2.0 ** (-self.falls * doublings))

    def covariance(self, one: Array, other: Array) -> Array:
        """[M, K]."""
        apart = (one[:, None] - other) / ALIKE
        return np.asarray(np.outer(self.deviation(one), self.deviation(other)) * np.exp(-0.5 * apart**2))


@dataclass(frozen=True, eq=False)
class Seen:
    """The same after leads were measured, with errors, at some numbers of labels.

    Attributes:
        trend: the belief beforehand.
        last: the number of labels from which doublings are counted.
        doublings: of the points, [K].
        leads: measured there, [K].
        noise: the covariance of their errors, [K, K].
    """

    trend: Trend
    last: int
    doublings: Array
    leads: Array
    noise: Array

    def at(self, labels: Numbers) -> tuple[Array, Array]:
        """Mean and deviation of the lead with so many labels, [M] each."""
        there = np.log2(labels / self.last)
        seen = self.trend.covariance(self.doublings, self.doublings) + self.noise
        across = self.trend.covariance(there, self.doublings)  # [M, K]
        gain = np.linalg.solve(seen, across.T).T
        mean = self.trend.mean(there) + gain @ (self.leads - self.trend.mean(self.doublings))
        return mean, np.sqrt(self.trend.deviation(there) ** 2 - (gain * across).sum(axis=1))


def reach_of(comparison: Comparison, scale: Scale) -> Reach | None:
    """What the learning curve says; None without one, or with FWL or all others missing."""
    points = comparison.curve
    method = next((name for name in (AUTO_READING, AUTO) if points and name in points[0].of_rows), None)
    rivals = [name for name in FALLS if points and name in points[0].of_rows]
    if method is None or not rivals:
        return None
    over = [believed_lead(points, method, rival, comparison, scale) for rival in rivals]
    sizes = np.array([point.strong for point in points])
    labels = np.unique(np.geomspace(sizes[0], FAR * sizes[-1], LOOKS).round().astype(np.int64))
    lead, sure = over_all(over, labels, scale)
    behind = labels[(sure <= 1.0 - PROBABLY) & (labels > labels[lead.argmax()])]
    measured = [_measured(point, method, rivals, comparison) for point in points]
    return Reach(
        method,
        tuple(sizes.tolist()),
        tuple(float(gain.mean()) for gain in measured),
        tuple(standard_error(gain) for gain in measured),
        tuple(over_all(over, sizes, scale)[1].tolist()),
        believed=_where(lead >= scale.of(WORTH), labels),
        probably=_where(sure >= PROBABLY, labels),
        probably_behind_from=int(behind[0]) if len(behind) else None,
    )


def believed_lead(points: Sequence[Point], method: str, rival: str, comparison: Comparison, scale: Scale) -> Seen:
    """How far a method is ahead of another, after the points of a learning curve were seen."""
    sizes = np.array([point.strong for point in points])
    sign = -1.0 if comparison.lower_is_better else 1.0
    leads = sign * np.array([point.of_rows[method] - point.of_rows[rival] for point in points])  # [K, N]
    falls = 0.0 if comparison.lower_is_better else FALLS[rival]  # of numbers, nothing is known
    trend = Trend(expected_lead(method, rival, comparison), scale.spread, falls)
    noise = cautious_covariance(leads, scale.unit) + scale.of(LUCK) ** 2 * np.eye(len(sizes))
    return Seen(trend, int(sizes[-1]), np.log2(sizes / sizes[-1]), leads.mean(axis=1), noise)


def over_all(leads: Sequence[Seen], labels: Numbers, scale: Scale) -> tuple[Array, Array]:
    """The believed lead over the best of the others with so many labels, and how probable any lead is, [M] each."""
    means, deviations = (np.array(each) for each in zip(*(lead.at(labels) for lead in leads), strict=True))
    probable = norm.cdf(means / np.hypot(deviations, scale.elsewhere))
    return means.min(axis=0), np.asarray(probable.min(axis=0))


def _where(holds: Truths, labels: Numbers) -> Range | None:
    """The least and the most labels with which it holds."""
    such = labels[holds]
    if not len(such):
        return None
    return int(such[0]), None if holds[-1] else int(such[-1])


def _measured(point: Point, method: str, rivals: Sequence[str], comparison: Comparison) -> Array:
    """The lead over the best other method of a point, row by row, [N]."""
    sign = -1.0 if comparison.lower_is_better else 1.0
    best = max((sign * point.of_rows[rival] for rival in rivals), key=lambda gains: float(gains.mean()))
    return np.asarray(sign * point.of_rows[method] - best)
