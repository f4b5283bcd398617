"""Which of the compared methods to use, by how much, how sure, and in words.

A few dozen strong rows tell two methods apart only if they differ by several points, and choosing the winner of such a
comparison mostly chooses luck: it was measured to lose more than it gains. So what is known from before counts too.
Each method's lead over FWL_auto's committee is believed to lie around `EXPECTED`, give or take `SPREAD`; the strong
rows move that belief as far as their standard error allows. The committee is kept, reading weak labels where there
are some, unless another method is probably better by that belief; of those that are, the one with the highest. With few
strong rows that is the committee nearly always; with many, it is whoever wins.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from fwl.evaluate.significance import compare
from fwl.learn.compare_methods import READ_WEAK, Comparison, Point, standard_error
from fwl.learn.decision_words import PROBABLY, in_words
from fwl.learn.fold_work import ANNOTATOR, AUTO, AUTO_READING
from fwl.learn.own_data import LINEAR_ALONE
from fwl.records import Array

# Leads over FWL_auto in accuracy, as earlier comparisons had them (DECISIONS.md names them); of numbers, none is known.
EXPECTED = {
    ANNOTATOR: -0.08,
    LINEAR_ALONE: -0.03,
    "NN_S": -0.04,
    "NN_W": -0.03,
    "NN_S+/W": -0.02,
    "NN_W->S": -0.012,
    "NN_W->Sx4": -0.01,
    "FWL_noSigma": -0.04,
    "FWL": -0.04,
    AUTO: 0.0,
    AUTO_READING: 0.005,
}
SPREAD = 0.03
ELSEWHERE = 0.01  # on rows of another kind than the strong ones a lead is another one, give or take (DECISIONS.md, D71)
FAR = 100  # an end of the lead is told up to so many times as many strong labels as were tried
SIMPLE = (LINEAR_ALONE, "NN_S", "NN_W->S")  # what anybody would try with strong labels


@dataclass(frozen=True)
class Lead:
    """How far one method is ahead of another, in the metric's own units; positive is better.

    Attributes:
        over: the other method.
        observed: the difference of their means on the strong rows.
        standard_error: of that, over rows.
        believed: the difference once earlier experience is counted in.
        probability: that it is ahead on new rows, which are never quite like the strong ones.
        p: of the paired test, corrected for the number of methods; None where it is behind.
    """

    over: str
    observed: float
    standard_error: float
    believed: float
    probability: float
    p: float | None


@dataclass(frozen=True)
class Reach:
    """Up to how many strong labels FWL_auto is ahead of the best simple method.

    Single points of a learning curve over a few dozen rows are mostly noise: a straight line through the leads, over
    the logarithm of the number of labels, is read instead.

    Attributes:
        sizes: strong labels at the points of the learning curve.
        leads: FWL_auto's lead at each.
        errors: their standard errors.
        ahead: whether the line is above zero at the last point.
        begins_at: where it rises above zero, between the first and the last point; None if it does not.
        ends_at: where it falls below zero, up to a hundred times as many labels as at the last point; None if it does
            not.
        clear: whether the mean lead is larger than its error.
    """

    sizes: tuple[int, ...]
    leads: tuple[float, ...]
    errors: tuple[float, ...]
    ahead: bool
    begins_at: int | None
    ends_at: int | None
    clear: bool


@dataclass(frozen=True)
class Verdict:
    """The answer.

    Attributes:
        kept: the method to keep; "FWL_auto+W" is FWL_auto, given the weak labels of what it predicts.
        without_weak: the one to keep if new rows come without weak labels.
        best: the one with the best mean on the strong rows, whatever that is worth.
        score: the kept method's mean, and its standard error.
        leads: of the kept method over each other.
        over_simple: over the best of the methods that anybody would try with strong labels; None if it is one of them.
        reach: up to how many strong labels FWL wins; None without a learning curve.
        sentences: all that in words.
    """

    kept: str
    without_weak: str
    best: str
    score: tuple[float, float]
    leads: tuple[Lead, ...]
    over_simple: Lead | None
    reach: Reach | None
    sentences: tuple[str, ...]

    @property
    def level(self) -> tuple[Lead, ...]:
        """Over methods of which it cannot be told whether they are better or worse than the one kept."""
        return tuple(lead for lead in self.leads if 1.0 - PROBABLY < lead.probability < PROBABLY)

    @property
    def called_worse(self) -> tuple[str, ...]:
        """The methods that are probably worse than the one kept, by their names."""
        return tuple(lead.over for lead in self.leads if lead.probability >= PROBABLY)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def decide(comparison: Comparison) -> Verdict:
    """The verdict on a comparison."""
    gains = _gains(comparison)
    beliefs = {name: _belief(name, gains, comparison) for name in gains}
    able = [name for name in beliefs if name != ANNOTATOR]
    kept = _kept(able, beliefs, gains, comparison)
    without_weak = _kept([name for name in able if name not in READ_WEAK], beliefs, gains, comparison)
    best = max(gains, key=lambda name: (float(gains[name].mean()), name == kept))
    leads = tuple(_lead(kept, other, gains, comparison) for other in gains if other != kept)
    simple = [name for name in SIMPLE if name in gains and kept not in SIMPLE]
    rival = _most_believed(simple, beliefs) if simple else None
    over_simple = next((lead for lead in leads if lead.over == rival), None)
    scored = comparison.scores[kept].of_rows
    verdict = Verdict(
        kept,
        without_weak,
        best,
        (float(scored.mean()), standard_error(scored)),
        leads,
        over_simple,
        _reach(comparison, _Scale.of(comparison, gains)),
        (),
    )
    return Verdict(**{**vars(verdict), "sentences": in_words(verdict, comparison)})


def _kept(
    names: Sequence[str],
    beliefs: Mapping[str, tuple[float, float]],
    gains: dict[str, Array],
    comparison: Comparison,
) -> str:
    """The committee, or the most believed of the methods that are probably better; the most believed without one."""
    holder = next((name for name in (AUTO_READING, AUTO) if name in names), None)
    if holder is None:
        return _most_believed(names, beliefs)
    others = [name for name in names if name != holder]
    better = [name for name in others if _lead(name, holder, gains, comparison).probability >= PROBABLY]
    return _most_believed(better, beliefs) if better else holder


def _most_believed(names: Sequence[str], beliefs: Mapping[str, tuple[float, float]]) -> str:
    """The method with the highest believed lead; of equals the committee, then the first."""
    return max(names, key=lambda name: (beliefs[name][0], name == AUTO))


def _gains(comparison: Comparison) -> dict[str, Array]:
    """Rows' scores, so that more is better."""
    sign = -1.0 if comparison.lower_is_better else 1.0
    return {name: sign * scored.of_rows for name, scored in comparison.scores.items()}


def _belief(name: str, gains: dict[str, Array], comparison: Comparison) -> tuple[float, float]:
    """The believed lead over FWL_auto, or over the mean of all where that was not run, and its deviation."""
    base = gains[AUTO] if AUTO in gains else np.mean(list(gains.values()), axis=0)
    return _shrunk(gains[name] - base, _expected(name, AUTO, comparison), _Scale.of(comparison, gains))


def _lead(name: str, other: str, gains: dict[str, Array], comparison: Comparison) -> Lead:
    difference = gains[name] - gains[other]
    scale = _Scale.of(comparison, gains)
    believed, deviation = _shrunk(difference, _expected(name, other, comparison), scale)
    pair = {name: gains[name].tolist(), other: gains[other].tolist()}
    p = compare(pair, lower_is_better=False)[name].get(other)
    corrected = None if p is None else min(1.0, p * (len(gains) - 1))
    ahead = float(norm.cdf(believed / math.hypot(deviation, scale.elsewhere)))
    return Lead(other, float(difference.mean()), standard_error(difference), believed, ahead, corrected)


@dataclass(frozen=True)
class _Scale:
    """What counts as much: how far methods differ, and how far on one row.

    Of accuracies as stated; of squared errors, in proportion to the best method's.
    """

    spread: float
    unit: float

    @property
    def elsewhere(self) -> float:
        """How far a lead on new rows is from that on rows like the strong ones."""
        return self.spread * ELSEWHERE / SPREAD

    @classmethod
    def of(cls, comparison: Comparison, gains: Mapping[str, Array]) -> _Scale:
        if not comparison.lower_is_better:
            return cls(SPREAD, 1.0)
        least = min(-float(values.mean()) for values in gains.values())
        return cls(10 * SPREAD * least or SPREAD, least)


def _shrunk(difference: Array, expected: float, scale: _Scale) -> tuple[float, float]:
    """Mean and deviation of a normal belief N(expected, spread^2) after seeing the rows' differences."""
    error = cautious_error(difference, scale.unit)
    trust = scale.spread**2 / (scale.spread**2 + error**2)
    return expected + trust * (float(difference.mean()) - expected), math.sqrt(trust) * error


def cautious_error(difference: Array, unit: float) -> float:
    """The standard error of the mean, as if two rows more had differed by a unit, one in favour of each.

    Where methods differ on one row of fifty, that row's luck decides, and the plain error would be of its size.
    """
    n = len(difference)
    more = np.concatenate([difference, [unit, -unit]])
    return math.sqrt(max(float((more**2).sum()) - n * float(difference.mean()) ** 2, 0.0)) / n


def _expected(name: str, other: str, comparison: Comparison) -> float:
    if comparison.lower_is_better:
        return 0.0
    return EXPECTED[name] - EXPECTED[other]


def _reach(comparison: Comparison, scale: _Scale) -> Reach | None:
    if not comparison.curve or AUTO not in comparison.curve[0].of_rows or len(comparison.curve[0].of_rows) < 2:
        return None
    leads = [_lead_at(point, comparison.lower_is_better) for point in comparison.curve]
    means = [float(lead.mean()) for lead in leads]
    errors = [cautious_error(lead, scale.unit) for lead in leads]
    sizes = [point.strong for point in comparison.curve]
    slope, last, crossing = _line(sizes, means)
    inside = crossing is not None and sizes[0] < crossing < sizes[-1]
    in_sight = crossing is not None and sizes[0] < crossing <= FAR * sizes[-1]
    return Reach(
        tuple(sizes),
        tuple(means),
        tuple(errors),
        ahead=last >= 0,
        begins_at=crossing if inside and slope > 0 else None,
        ends_at=crossing if in_sight and slope < 0 else None,
        clear=abs(float(np.mean(means))) > float(np.mean(errors)),
    )


def _lead_at(point: Point, lower_is_better: bool) -> Array:
    """FWL_auto's lead over the best other method, row by row, [N]."""
    sign = -1.0 if lower_is_better else 1.0
    rivals = [sign * values for name, values in point.of_rows.items() if name != AUTO]
    return sign * point.of_rows[AUTO] - max(rivals, key=lambda values: float(values.mean()))


def _line(sizes: Sequence[int], leads: Sequence[float]) -> tuple[float, float, int | None]:
    """Slope of a line through leads over log sizes, its value at the last size, and the size where it crosses zero."""
    if len(sizes) < 2:
        return 0.0, leads[-1], None
    slope, start = (float(number) for number in np.polyfit(np.log(sizes), leads, 1))
    last = start + slope * math.log(sizes[-1])
    if slope == 0 or not -start / slope < math.log(FAR * sizes[-1]) + 1.0:
        return slope, last, None
    return slope, last, round(math.exp(-start / slope))
