"""Which of the compared methods to use, by how much, how sure, and in words.

Choosing the winner of a comparison on a few dozen strong rows mostly chooses luck: it was measured to lose more than it
gains. So what is known from before counts too (`beliefs`). The committee is kept, reading weak labels where there are
some, unless another method is probably better by that belief; of those that are, the one with the highest. With few
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
from fwl.learn.beliefs import expected_lead, gains_of, scale_of, shrunk
from fwl.learn.compare_methods import READ_WEAK, Comparison, standard_error
from fwl.learn.decision_words import PROBABLY, in_words
from fwl.learn.fold_work import ANNOTATOR, AUTO, AUTO_READING
from fwl.learn.own_data import LINEAR_ALONE
from fwl.learn.reach import Reach, reach_of
from fwl.records import Array

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
        worse = self.called_worse
        return tuple(lead for lead in self.leads if lead.probability > 1.0 - PROBABLY and lead.over not in worse)

    @property
    def called_worse(self) -> tuple[str, ...]:
        """The methods that are worse than the one kept: all of them together are probably so, the surest first.

        Each of ten that is so with four fifths would leave it to luck whether all are (DECISIONS.md, D74).
        """
        surest_first = sorted(self.leads, key=lambda lead: -lead.probability)
        in_doubt = np.cumsum([1.0 - lead.probability for lead in surest_first])  # at the most, that one is not
        return tuple(lead.over for lead, doubt in zip(surest_first, in_doubt, strict=True) if doubt <= 1.0 - PROBABLY)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {**asdict(self), "called_worse": list(self.called_worse)}


def decide(comparison: Comparison) -> Verdict:
    """The verdict on a comparison."""
    gains = gains_of(comparison)
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
        reach_of(comparison, scale_of(comparison, gains)),
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


def _belief(name: str, gains: dict[str, Array], comparison: Comparison) -> tuple[float, float]:
    """The believed lead over FWL_auto, or over the mean of all where that was not run, and its deviation."""
    base = gains[AUTO] if AUTO in gains else np.mean(list(gains.values()), axis=0)
    return shrunk(gains[name] - base, expected_lead(name, AUTO, comparison), scale_of(comparison, gains))


def _lead(name: str, other: str, gains: dict[str, Array], comparison: Comparison) -> Lead:
    difference = gains[name] - gains[other]
    scale = scale_of(comparison, gains)
    believed, deviation = shrunk(difference, expected_lead(name, other, comparison), scale)
    pair = {name: gains[name].tolist(), other: gains[other].tolist()}
    p = compare(pair, lower_is_better=False)[name].get(other)
    corrected = None if p is None else min(1.0, p * (len(gains) - 1))
    ahead = float(norm.cdf(believed / math.hypot(deviation, scale.elsewhere)))
    return Lead(other, float(difference.mean()), standard_error(difference), believed, ahead, corrected)
