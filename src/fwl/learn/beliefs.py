"""What is believed of methods before a user's strong rows speak, and how far those move it.

A few dozen strong rows tell two methods apart only if they differ by several points. So each method's lead over
FWL_auto's committee is believed beforehand to lie around `EXPECTED`, give or take `SPREAD`; the strong rows move that
belief as far as their standard error allows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fwl.learn.compare_methods import Comparison
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


@dataclass(frozen=True)
class Scale:
    """What counts as much: how far methods differ, and how far on one row.

    Of accuracies as stated; of squared errors, in proportion to the best method's.
    """

    spread: float
    unit: float

    def of(self, points: float) -> float:
        """What is stated in points of accuracy, in the units of this scale."""
        return self.spread * points / SPREAD

    @property
    def elsewhere(self) -> float:
        """How far a lead on new rows is from that on rows like the strong ones."""
        return self.of(ELSEWHERE)


ACCURACY = Scale(SPREAD, 1.0)


def gains_of(comparison: Comparison) -> dict[str, Array]:
    """Rows' scores by method, so that more is better."""
    sign = -1.0 if comparison.lower_is_better else 1.0
    return {name: sign * scored.of_rows for name, scored in comparison.scores.items()}


def scale_of(comparison: Comparison, gains: Mapping[str, Array]) -> Scale:
    """The scale of a comparison's gains."""
    if not comparison.lower_is_better:
        return ACCURACY
    least = min(-float(values.mean()) for values in gains.values())
    return Scale(10 * SPREAD * least or SPREAD, least)


def expected_lead(name: str, other: str, comparison: Comparison) -> float:
    """Of one method over another, before any row was seen."""
    return 0.0 if comparison.lower_is_better else EXPECTED[name] - EXPECTED[other]


def shrunk(difference: Array, expected: float, scale: Scale) -> tuple[float, float]:
    """Mean and deviation of a normal belief N(expected, spread^2) after seeing the rows' differences."""
    error = cautious_error(difference, scale.unit)
    trust = scale.spread**2 / (scale.spread**2 + error**2)
    return expected + trust * (float(difference.mean()) - expected), math.sqrt(trust) * error


def cautious_error(difference: Array, unit: float) -> float:
    """The standard error of the mean, as if two rows more had differed by a unit, one in favour of each.

    Where methods differ on one row of fifty, that row's luck decides, and the plain error would be of its size.
    """
    return math.sqrt(float(cautious_covariance(difference[None], unit)[0, 0]))


def cautious_covariance(differences: Array, unit: float) -> Array:
    """The same of several means over the same rows: differences [K, N], their covariance [K, K]."""
    n, means = differences.shape[1], differences.mean(axis=1)
    more = np.concatenate([differences, np.full((len(means), 1), unit), np.full((len(means), 1), -unit)], axis=1)
    squares = more @ more.T - n * np.outer(means, means)  # the two rows more leave the means where they are
    return np.asarray(squares / n**2)
