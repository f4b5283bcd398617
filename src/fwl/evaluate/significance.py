"""Whether one method beats another: the paper's paired two-tailed t-test with Bonferroni correction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import ttest_rel

LEVEL = 0.05
ROUNDING = 1e-12  # differences below this share of the values are those of floating point, not of the methods


def paired_p(a: Sequence[float], b: Sequence[float]) -> float:
    """The two-tailed p-value that the paired values differ by chance; 1 where they cannot be told apart."""
    difference = np.asarray(a, dtype=float) - np.asarray(b, dtype=float)
    rounding = ROUNDING * float(np.abs([a, b]).max(initial=0.0))
    if len(difference) < 2 or np.abs(difference).max() <= rounding:
        return 1.0
    if np.ptp(difference) <= rounding:
        return 0.0  # the same difference every time: the t statistic is infinite
    return float(ttest_rel(a, b).pvalue)


def compare(values: Mapping[str, Sequence[float]], lower_is_better: bool) -> dict[str, dict[str, float]]:
    """For each method, the corrected p-value against every method whose mean it beats.

    Each method's p-values are multiplied by the number of methods it was compared with (Bonferroni) and cut at 1.
    """
    means = {name: float(np.mean(series)) for name, series in values.items()}
    sign = 1.0 if lower_is_better else -1.0
    tests = max(1, len(values) - 1)
    return {
        name: {
            other: min(1.0, tests * paired_p(series, values[other]))
            for other in values
            if sign * means[name] < sign * means[other]
        }
        for name, series in values.items()
    }


def beaten(p_values: Mapping[str, float]) -> tuple[str, ...]:
    """The methods beaten at the 0.05 level."""
    return tuple(name for name, p in p_values.items() if p < LEVEL)
