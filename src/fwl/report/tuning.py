"""A tuning as a figure: every trial, and the best so far."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from fwl.report.figures import STUDENT, TRUE


def draw_trials(values: Sequence[float | None], metric: str, title: str) -> Figure:
    """A dot for each trial in the order of suggestion, a cross where one failed, and a line for the best so far."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axis = figure.subplots()
    numbers = np.arange(1, len(values) + 1)
    heights = np.array([np.nan if value is None else value for value in values])
    failed = np.isnan(heights)
    axis.scatter(numbers, heights, color=STUDENT, s=18, alpha=0.6, label="a trial")
    axis.step(numbers, np.fmax.accumulate(heights), where="post", color=STUDENT, lw=2, label="the best so far")
    if failed.any():
        floor = np.full(failed.sum(), np.nanmin(heights))
        axis.scatter(numbers[failed], floor, color=TRUE, marker="x", label="failed")
    axis.set_xlabel("trials")
    axis.set_ylabel(metric)
    axis.set_title(title, fontsize=10)
    axis.grid(alpha=0.2)
    axis.legend(fontsize=8, loc="lower right")
    return figure
