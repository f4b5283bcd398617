"""What a page on a user's own model is made of: plain values, whoever gathered them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

VERDICT, DOUBT = "verdict", "doubt"  # names of columns
BINS = 20  # of the histogram of fidelities, over 0 to 1

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Column:
    """A column of the table of doubted labels.

    Attributes:
        name: its heading.
        is_number: how it is sorted.
        is_wide: whether it holds texts.
        decimals: of its numbers; None for as many as they need.
    """

    name: str
    is_number: bool = False
    is_wide: bool = False
    decimals: int | None = None


@dataclass(frozen=True, eq=False)
class Doubted:
    """The weak labels that are most worth doubting, the most doubtful first.

    Attributes:
        columns: of the table.
        rows: a value for each column; None is an empty cell.
        verdicts: how many of all weak labels are kept, corrected, ignored.
        differing: how many of all weak labels the teacher would change: the rows are the first of them.
        hidden_columns: how many columns of the user's are left out.
    """

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Any]]
    verdicts: Mapping[str, int]
    differing: int
    hidden_columns: int = 0

    @property
    def verdict_at(self) -> int:
        """The place of the column of verdicts."""
        return next(place for place, column in enumerate(self.columns) if column.name == VERDICT)


@dataclass(frozen=True, eq=False)
class Reliability:
    """What somebody says of strong rows beside what is true of them.

    Attributes:
        whose: "FWL_auto", "the teacher", ...
        compared: whether it comes from the comparison's folds; if not, from the teacher's leaving one out.
        shares: whether these are probabilities; if not, numbers.
        bins: as `fwl.evaluate.reliability.Bin` tells them.
    """

    whose: str
    compared: bool
    shares: bool
    bins: Sequence[Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class ModelStory:
    """Everything on the page.

    Attributes:
        label: the column of the strong labels.
        told: what was learned from what, in a sentence.
        method: that the model was fitted with.
        sentences: the verdict, the answer first.
        compared: the comparison and its verdict in plain values; None if there was none.
        fidelity: how many weak rows lie in each of the `BINS`, by verdict, or under "" where none is known.
        reliability: None where nothing can be said.
        annotators: as the estimator's report has them.
        doubted: None if the weak file could not be read.
        missing: why not.
        provenance: groups of names and values.
    """

    label: str
    told: str
    method: str
    sentences: Sequence[str]
    compared: Mapping[str, Any] | None
    fidelity: Mapping[str, Counts]
    reliability: Reliability | None
    annotators: Sequence[Mapping[str, Any]]
    doubted: Doubted | None
    missing: str | None
    provenance: Mapping[str, Mapping[str, Any]]


def binned(fidelity: npt.NDArray[np.float64]) -> Counts:
    """How many fidelities lie in each bin."""
    return np.histogram(fidelity, bins=BINS, range=(0.0, 1.0))[0].astype(np.int64)
