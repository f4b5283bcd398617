"""What the rows of an analysis come to: the label budget of a learning curve, the gain over an annotator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fwl.evaluate.label_budget import label_budget
from fwl.records import Result, Row

STRONG = "n_strong"  # the axis of strong labels
TAUGHT, UNTAUGHT = "FWL", "NN_W->S"
ANNOTATOR = "WA"
BY_QUERIES = ("MAP",)  # metrics of rankings, whose strong labels are counted by judged queries


@dataclass(frozen=True)
class Budget:
    """How many strong labels a method needs for what another reaches with all.

    Attributes:
        dataset: on which data.
        method: who needs them.
        other: whose best is to be reached.
        metric: of the target.
        target: what the other reaches with all strong labels.
        everything: how many these are.
        least: the fewest that were tried.
        needed: by lines between the amounts tried; `least` if fewer may be enough, None if all are too few.
    """

    dataset: str
    method: str
    other: str
    metric: str
    target: float
    everything: float
    least: float
    needed: float | None

    def __str__(self) -> str:
        labels = "judged queries" if self.metric in BY_QUERIES else "strong labels"
        reached = f"what {self.other} reaches with all {self.everything:,.0f} ({self.metric} {self.target:.4f})"
        if self.needed is None:
            return f"{self.dataset}: with no number of {labels} up to that does {self.method} reach {reached}."
        few = "at most " if self.needed <= self.least else ""
        return f"{self.dataset}: {self.method} needs {few}{self.needed:,.0f} {labels} for {reached}."


@dataclass(frozen=True)
class Gain:
    """By how much a method is better than the annotator that it learned from.

    Attributes:
        dataset: on which data, by which annotator.
        method: that learned.
        metric: in which both are measured.
        annotator: its own figure.
        value: the method's.
        relative: the gain as a share of the annotator's figure; None where that is 0.
    """

    dataset: str
    method: str
    metric: str
    annotator: float
    value: float
    relative: float | None

    def __str__(self) -> str:
        told = "" if self.relative is None else f" ({self.relative:+.1%})"
        return f"{self.dataset}: {self.method} {self.value:.4f} beside the annotator's {self.annotator:.4f}{told}."


def sentences(result: Result) -> list[str]:
    """What an analysis comes to, a sentence each; nothing for other results."""
    return [str(found) for found in (*budgets(result), *gains(result))]


def budgets(result: Result) -> list[Budget]:
    """The label budgets of a learning curve over strong labels, dataset by dataset."""
    rows = [row for row in result.rows if STRONG in row.at]
    pairs = [(method, method.replace(TAUGHT, UNTAUGHT)) for method in _methods(rows) if method.startswith(TAUGHT)]
    found = (_budget([row for row in rows if row.dataset == data], *pair) for data in _datasets(rows) for pair in pairs)
    return [budget for budget in found if budget is not None]


def gains(result: Result) -> list[Gain]:
    """What each method adds to its annotator, where one result has several annotators on the same data."""
    if result.experiment != "annotators":
        return []
    own = {(row.dataset, row.metric): row for row in result.rows if row.method == ANNOTATOR}
    others = [row for row in result.rows if row.method != ANNOTATOR]
    return [_gain(row, own[row.dataset, row.metric]) for row in others if (row.dataset, row.metric) in own]


def relative_gain(row: Row, annotator: Row) -> float | None:
    """By which share of it a row is better than its annotator's; None where that is 0."""
    more = annotator.mean - row.mean if row.lower_is_better else row.mean - annotator.mean
    return more / annotator.mean if annotator.mean else None


def _gain(row: Row, annotator: Row) -> Gain:
    return Gain(row.dataset, row.method, row.metric, annotator.mean, row.mean, relative_gain(row, annotator))


def _budget(rows: Sequence[Row], method: str, other: str) -> Budget | None:
    curve, bar = (sorted((r for r in rows if r.method == name), key=_strong) for name in (method, other))
    if len(curve) < 2 or not bar:
        return None
    target, everything = bar[-1].mean, _strong(bar[-1])
    amounts = [_strong(row) for row in curve]
    needed = label_budget(amounts, [row.mean for row in curve], target, curve[0].lower_is_better)
    first = bar[-1]
    return Budget(first.dataset, method, other, first.metric, target, everything, amounts[0], needed)


def _strong(row: Row) -> float:
    return row.at[STRONG]


def _methods(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(row.method for row in rows))


def _datasets(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(row.dataset for row in rows))
