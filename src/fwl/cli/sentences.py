"""What a fit, its annotators and a comparison are told as: a sentence each, and a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from fwl.learn.compare_methods import Comparison

SHOWN = 6  # classes that are named


def fit_told(classes: Sequence[str], label: str, method: str, report: dict[str, Any]) -> str:
    """What was learned, from what."""
    strong, weak = report["strong"]["rows"], report["weak"]
    what = f"{len(classes)} classes ({_some(classes)})" if classes else "a number"
    silent = f", {weak['abstained']:,} without a label" if weak["abstained"] else ""
    both = f"; {report['in_both']:,} stand in both" if report["in_both"] else ""
    return f"{label}: {what}, learned by {method} from {strong:,} strong and {weak['rows']:,} weak rows{silent}{both}."


def annotator_told(annotator: dict[str, Any]) -> str:
    """How far an annotator can be relied on."""
    said = f"annotator {annotator['name']!r} labels {annotator['coverage']:.0%} of the weak rows"
    if not annotator["compared"]:
        return f"{said}; it labelled no strong row, so nobody knows how well."
    given = f"the {annotator['compared']:,} labels that it gave to strong rows"  # a row may have several copies
    if "accuracy" in annotator:
        low, high = annotator["low"], annotator["high"]
        return f"{said} and is right in {annotator['accuracy']:.0%} (95 % interval {low:.0%} to {high:.0%}) of {given}."
    error = f"{annotator['rmse']:.4g} (root mean square; on average by {annotator['mean_error']:+.4g})"
    return f"{said} and errs by {error} in {given}."


def comparison_table(comparison: Comparison) -> Table:
    """Every method with its score on strong rows it had not seen, the best first."""
    from rich.table import Table

    from fwl.learn.compare_methods import standard_error
    from fwl.learn.decision_words import described

    table = Table("method", "", comparison.metric, "±", "seconds")
    by_score = sorted(comparison.scores.values(), key=lambda scored: float(scored.of_rows.mean()))
    for scored in by_score if comparison.lower_is_better else reversed(by_score):
        mean, error = float(scored.of_rows.mean()), standard_error(scored.of_rows)
        words = described(scored.method, comparison.lower_is_better)
        table.add_row(scored.method, words, f"{mean:.4g}", f"{error:.2g}", f"{scored.seconds:.1f}")
    return table


def kept_told(kept: str, advised: str) -> str:
    """Which method the model was fitted with."""
    if advised.startswith(kept):
        reading = " It reads weak labels with `fwl predict --with-weak`." if advised != kept else ""
        return f"Kept: {kept}.{reading}"
    return f"Kept: {kept}, as --method says; the comparison would have kept {advised}."


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
