"""The trials of a tuning, and the journal that keeps each as soon as it is done."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fwl.errors import OutputTrouble
from fwl.experiments.grid import Grid
from fwl.experiments.journal import Lines


@dataclass(frozen=True)
class Trial:
    """One point of the grid and what came out.

    Attributes:
        number: its place among the suggestions, from 0.
        settings: what was tried.
        value: on validation data, higher is better; None if it failed.
        error: why it failed; "" if it did not.
        seconds: that it took.
    """

    number: int
    settings: dict[str, Any]
    value: float | None
    error: str = ""
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"the value of a trial is a number, got {self.value}")


class TrialJournal(Lines):
    """Every trial of a tuning, in the order in which they came in.

    Args:
        path: the file.
        run: what identifies the tuning.
        resume: whether to go on after the trials it holds; without it, trials that are there are no more overwritten
            than mixed with others, for each may have taken minutes.
        grid: on which trials lie.
    """

    _afresh = "remove it to start afresh"

    def __init__(self, path: Path, run: dict[str, Any], resume: bool, grid: Grid) -> None:
        self._grid = grid
        if not resume and path.exists() and path.read_bytes().count(b"\n") > 1:
            raise OutputTrouble(
                f"{path} holds the trials of an earlier tuning; "
                "give --resume to go on with it, another --out, or remove it to start afresh"
            )
        super().__init__(path, run, resume)

    def trials(self) -> list[Trial]:
        """All that are done, in the order of their numbers."""
        return sorted((self._trial(entry) for entry in self._entries), key=lambda trial: trial.number)

    def add(self, trial: Trial) -> None:
        """Record a trial; it is on disk when this returns."""
        self._append(dataclasses.asdict(trial))

    def _check(self, entry: dict[str, Any]) -> None:
        self._trial(entry)

    def _trial(self, entry: dict[str, Any]) -> Trial:
        settings = self._grid.settings(self._grid.point(entry["settings"]))  # tuples again, and in the grid's order
        return Trial(**{**entry, "settings": settings})
