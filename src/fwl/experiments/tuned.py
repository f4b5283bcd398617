"""What a tuning found, as a file that `--set @FILE` takes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fwl.errors import InvalidInput
from fwl.experiments.declare import Experiment
from fwl.experiments.trials import Trial

FILE = "tuned.json"


@dataclass(frozen=True)
class Tuned:
    """The best trial of a tuning, and all the others.

    Attributes:
        task: whose students were tuned.
        metric: what was measured on validation data.
        size: of the experiment.
        search: how points were suggested.
        q: trials at a time.
        seed: of the suggestions and of every trial.
        settings: the best ones, with those of the grid that were fixed beforehand.
        value: what they reached.
        trials: all, in the order in which they were suggested.
        provenance: version, commit, packages and machine.
    """

    task: str
    metric: str
    size: str
    search: str
    q: int
    seed: int
    settings: dict[str, Any]
    value: float
    trials: tuple[Trial, ...]
    provenance: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """As the file has it; the trials themselves are in the journal."""
        failed = sum(trial.value is None for trial in self.trials)
        return {**vars(self), "trials": len(self.trials), "failed": failed}

    def best_first(self) -> list[Trial]:
        """The trials that did not fail, the best first."""
        return sorted((t for t in self.trials if t.value is not None), key=lambda t: (-(t.value or 0.0), t.number))


def with_tuned(experiment: Experiment, assignments: Iterable[str]) -> Iterator[str]:
    """`key=value` texts as they are; in place of `@FILE` those of the file."""
    for text in assignments:
        if text.startswith("@"):
            yield from _assignments(experiment, Path(text[1:]))
        else:
            yield text


def tuned_task(path: Path) -> str:
    """Whose students were tuned in a file."""
    return str(_read(path)["task"])


def _assignments(experiment: Experiment, path: Path) -> Iterator[str]:
    stored = _read(path)
    if experiment.tuning is None:
        raise InvalidInput(f"--set @{path}: {experiment.name} has nothing that was tuned; leave it out")
    if stored["task"] != experiment.tuning.task:
        raise InvalidInput(
            f"--set @{path}: it was tuned for {stored['task']}, and {experiment.name} needs settings for "
            f"{experiment.tuning.task}; make them with: fwl tune {experiment.name}"
        )
    for name, value in stored["settings"].items():
        yield f"{name}={_as_text(value)}"


def _read(path: Path) -> dict[str, Any]:
    try:
        stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        dict(stored["settings"]), str(stored["task"])
    except OSError as error:
        raise InvalidInput(
            f"--set @{path}: the file cannot be read ({error.strerror}); `fwl tune` writes such files"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidInput(f"--set @{path}: this is not a file that `fwl tune` wrote, or only a part of one") from error
    return stored


def _as_text(value: Any) -> str:
    return ",".join(str(part) for part in value) if isinstance(value, list) else str(value)
