"""The journal of a run: every finished unit of work is one line, so a killed run loses only those under way."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fwl.errors import OutputTrouble
from fwl.experiments.declare import Outcome, Score


class Lines:
    """A file of JSON lines: first what the run is, then one entry a line.

    Args:
        path: the file.
        run: what identifies the run; entries of another run are never mixed in.
        resume: whether to keep what the file already holds.
    """

    _afresh = "start afresh without --resume"  # what to try where the file is of no use

    def __init__(self, path: Path, run: dict[str, Any], resume: bool) -> None:
        self.path = path
        self._header = json.dumps({"run": run}, sort_keys=True)
        lines = self._whole_lines() if resume and path.exists() else []
        if lines and lines[0] != self._header:
            raise OutputTrouble(
                f"{path} is the journal of a run with other settings; "
                f"give the same settings, another --out, or {self._afresh}"
            )
        self._entries = [self._read(number, line) for number, line in enumerate(lines[1:], start=2)]
        self._rewrite()

    def _append(self, entry: dict[str, Any]) -> None:
        """Record an entry; it is on disk when this returns."""
        self._entries.append(entry)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _check(self, entry: dict[str, Any]) -> None:
        """Whether it is an entry of this journal; ValueError, KeyError or TypeError say that it is none."""

    def _read(self, number: int, line: str) -> dict[str, Any]:
        try:
            entry: dict[str, Any] = json.loads(line)
            self._check(entry)
        except (ValueError, KeyError, TypeError) as error:
            raise OutputTrouble(f"{self.path}: line {number} cannot be read; {self._afresh}") from error
        return entry

    def _whole_lines(self) -> list[str]:
        text = self.path.read_text(encoding="utf-8")
        lines = text.split("\n")
        return lines[:-1]  # what follows the last line break was cut off by a kill, or is nothing

    def _rewrite(self) -> None:
        beside = self.path.with_name(self.path.name + ".part")
        lines = [self._header, *(json.dumps(entry) for entry in self._entries)]
        beside.write_text("\n".join(lines) + "\n", encoding="utf-8")
        beside.replace(self.path)


class Journal(Lines):
    """The finished units of an experiment: which variation and seed, and what came out."""

    def finished(self) -> Iterator[tuple[int, int, Outcome]]:
        """(variation, seed, outcome) of every unit recorded."""
        for entry in self._entries:
            yield entry["variation"], entry["seed"], _read_outcome(entry)

    def add(self, variation: int, seed: int, outcome: Outcome, seconds: float = 0.0) -> None:
        """Record a finished unit and how long after the one before, or the start, it came; it is on disk afterwards."""
        told = {"variation": variation, "seed": seed, "seconds": round(seconds, 2)}
        self._append({**told, **dataclasses.asdict(outcome)})

    @property
    def seconds(self) -> float:
        """How long everything recorded took, whenever it was run; what a kill lost is not counted."""
        return float(sum(entry.get("seconds", 0.0) for entry in self._entries))

    def _check(self, entry: dict[str, Any]) -> None:
        _read_outcome(entry)


def _read_outcome(entry: dict[str, Any]) -> Outcome:
    scores = tuple(Score(**{**score, "each": tuple(score.get("each", ()))}) for score in entry["scores"])
    return Outcome(scores, entry["data_sha256"], entry["curves"])
