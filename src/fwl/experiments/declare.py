"""Experiments as data: which settings, which methods, which variations, which sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fwl.experiments.grid import Grid
from fwl.progress import Progress

SIZES = ("tiny", "reduced", "paper")


@dataclass(frozen=True)
class Score:
    """One number: one method on one dataset under one seed.

    Attributes:
        dataset: the name in the table.
        method: the row.
        metric: what was measured.
        lower_is_better: its direction.
        value: the number.
        each: what it is the mean of, in an order that all methods and seeds share (one number a query, say); where it
            is given, methods are compared over these, averaged over seeds, instead of over seeds.
    """

    dataset: str
    method: str
    metric: str
    lower_is_better: bool
    value: float
    each: tuple[float, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What one unit of work brings home."""

    scores: tuple[Score, ...]
    data_sha256: str
    curves: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Variation:
    """One cell of an experiment's grid.

    Attributes:
        dataset: the name in the table.
        changes: settings that differ from the experiment's defaults.
        at: where the cell lies on the axis of a sweep.
        paper: the paper's figure for each method it gives one for; for (dataset, method) where a unit of work measures
            on several datasets.
    """

    dataset: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    at: Mapping[str, float] = field(default_factory=dict)
    paper: Mapping[str | tuple[str, str], float] = field(default_factory=dict)


@dataclass(frozen=True)
class Size:
    """How much of an experiment is run.

    Attributes:
        seeds: how many.
        changes: settings that make it smaller.
        most: how far along the axis of a sweep; cells that lie further are left out.
    """

    seeds: int
    changes: Mapping[str, Any] = field(default_factory=dict)
    most: Mapping[str, float] = field(default_factory=dict)

    def reaches(self, variation: Variation) -> bool:
        """Whether a cell is run."""
        return all(place <= self.most.get(name, place) for name, place in variation.at.items())


# (settings, dataset, methods, seed, whether to bring curves for the figure) -> what came out
Measure = Callable[[Any, str, tuple[str, ...], int, bool], Outcome]
Prepare = Callable[[Any, Progress], None]
# (settings, seed) -> how well the student does on validation data, higher is better
Validate = Callable[[Any, int], float]


@dataclass(frozen=True)
class Tuning:
    """What of a student can be tuned, and by what it is judged.

    Attributes:
        task: whose student it is; experiments with the same one take each other's tuned settings.
        metric: what `validate` gives back.
        grids: the values to choose from, one grid for each of `SIZES`.
        validate: trains the student and judges it on validation data; no test set is read.
        prepare: makes that data ready before any trial asks for it.
    """

    task: str
    metric: str
    grids: Mapping[str, Grid]
    validate: Validate
    prepare: Prepare | None = None


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper.

    Attributes:
        name: how `fwl reproduce` calls it.
        title: what it shows.
        settings: a frozen dataclass whose defaults are the paper's; it has a field `seed`.
        methods: the rows, in the table's order.
        variations: the grid.
        sizes: one for each of `SIZES`.
        measure: runs some methods on one variation under one seed.
        pictured: whether the first seed brings curves for a figure of its own.
        needs_data: whether it reads a data folder; its settings then have a field `data`, and at size "tiny" it makes
            do without one.
        prepare: makes the data ready before any unit of work asks for it.
        tuning: what `fwl tune` does for it.
        apart: groups of methods that have much of their work in common, and little with the others: where a process
            would be left without work, it may take one of them.
    """

    name: str
    title: str
    settings: Any
    methods: tuple[str, ...]
    variations: tuple[Variation, ...]
    sizes: Mapping[str, Size]
    measure: Measure
    pictured: bool = False
    needs_data: bool = False
    prepare: Prepare | None = None
    tuning: Tuning | None = None
    apart: tuple[tuple[str, ...], ...] = ()

    def groups(self, methods: tuple[str, ...]) -> list[tuple[str, ...]]:
        """Some of the methods as those that are in no group, and group by group."""
        grouped = {name for group in self.apart for name in group}
        cut = [
            tuple(m for m in methods if m not in grouped),
            *(tuple(m for m in methods if m in g) for g in self.apart),
        ]
        return [group for group in cut if group]

    def variations_at(self, size: str) -> tuple[Variation, ...]:
        """The grid at one size."""
        return tuple(variation for variation in self.variations if self.sizes[size].reaches(variation))


@dataclass(frozen=True)
class Study:
    """One analysis of the paper on several tasks, each an experiment of its own; the rows come into one result.

    Attributes:
        name: how `fwl reproduce` calls it.
        title: what it shows.
        parts: task -> its experiment.
    """

    name: str
    title: str
    parts: Mapping[str, Experiment]

    @property
    def needs_data(self) -> bool:
        """Whether some part reads a data folder."""
        return any(part.needs_data for part in self.parts.values())

    @property
    def tuning(self) -> None:
        """None: students are tuned on one task, not on several."""
