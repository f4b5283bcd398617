"""The weak labels most worth doubting: the weak file read again, a chunk at a time, and the worst of it kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from fwl.cli.own_model import OwnModel
from fwl.cli.own_tables import ROW, chunks_of, name_column
from fwl.cli.roles import Sheet
from fwl.estimators.auditing import Audit, audit
from fwl.learn.verdicts import CORRECTED, IGNORED, KEPT
from fwl.progress import Progress
from fwl.report.model_story import BINS, DOUBT, VERDICT, Column, Counts, Doubted, binned

CHUNK = 16384
SHOWN = 12  # columns of features
WITNESSES = 3
VERDICTS = (KEPT, CORRECTED, IGNORED)


@dataclass(eq=False)
class Judged:
    """What was found in a weak file so far.

    Attributes:
        model: who judges.
        most: rows to keep.
        verdicts: how often each was given.
        fidelity: the histogram of each verdict's rows.
        differing: labels that the teacher would change.
        numbers: columns of the file that hold numbers.
        worst: the most doubtful rows, each behind its doubt.
    """

    model: OwnModel
    most: int
    verdicts: Counter[str] = field(default_factory=Counter)
    fidelity: dict[str, Counts] = field(default_factory=lambda: {name: np.zeros(BINS, np.int64) for name in VERDICTS})
    differing: int = 0
    numbers: set[str] = field(default_factory=set)
    worst: list[tuple[float, list[Any]]] = field(default_factory=list)

    def add(self, chunk: pa.Table, path: Path, before: int) -> None:
        """Judge the rows of a chunk, so many rows of the file being before it."""
        sheet = Sheet(path, chunk)
        found = audit(self.model.estimator, self.model.samples(sheet), self.model.weak(sheet), WITNESSES)
        self.numbers = {column.name for column in chunk.schema if _holds_numbers(column.type)}
        self._count(found)
        changed = np.flatnonzero((found.verdict != KEPT) & ~np.isnan(found.doubt))
        self.differing += len(changed)
        rows = changed[np.argsort(-found.doubt[changed], kind="stable")][: self.most]
        told = zip(found.doubt[rows].tolist(), self._told(chunk, before, found, rows), strict=True)
        self.worst = sorted([*self.worst, *told], key=lambda row: -row[0])[: self.most]

    def table(self) -> Doubted:
        """The worst rows."""
        return Doubted(
            self._columns(),
            [row for _, row in self.worst],
            {verdict: self.verdicts[verdict] for verdict in VERDICTS},
            self.differing,
            max(0, len(self.model.roles.samples) - SHOWN),
        )

    def _count(self, found: Audit) -> None:
        for verdict in VERDICTS:
            mine = found.verdict == verdict
            self.verdicts[verdict] += int(mine.sum())
            self.fidelity[verdict] += binned(found.fidelity[mine])

    def _columns(self) -> tuple[Column, ...]:
        roles, are_numbers = self.model.roles, not self.model.classes
        samples = [Column(name, name in self.numbers, name == roles.text) for name in roles.samples[:SHOWN]]
        return (
            Column(roles.id or ROW, is_number=roles.id is None),
            *(samples if roles.text is not None else ()),  # a text is read first, many numbers last
            *(Column(name, are_numbers) for name in ("weak label", "soft label")),
            Column(VERDICT),
            Column(DOUBT, is_number=True, decimals=3),
            *([] if are_numbers else [Column("probability", is_number=True, decimals=3)]),
            Column("fidelity", is_number=True, decimals=3),
            Column("witnesses"),
            *(samples if roles.text is None else ()),
        )

    def _told(self, chunk: pa.Table, before: int, found: Audit, rows: Any) -> list[list[Any]]:
        """The values of these rows, a list for each, in the order of the columns."""
        names = self.model.files["strong"]["names"]
        speaking = [[names[row] for row in them if row >= 0] for them in found.witnesses.rows[rows].tolist()]
        some, is_text = chunk.take(pa.array(rows)), self.model.roles.text is not None
        samples = [some[name].to_pylist() for name in self.model.roles.samples[:SHOWN]]
        columns: list[Sequence[Any]] = [
            name_column(chunk, self.model.roles, before)[1].take(pa.array(rows)).to_pylist(),
            *(samples if is_text else ()),
            *(self.model.told(labels[rows]).to_pylist() for labels in (found.weak_label, found.soft_label)),
            *(values[rows].tolist() for values in (found.verdict, found.doubt)),
            *([found.probability[rows].tolist()] if self.model.classes else []),
            found.fidelity[rows].tolist(),
            speaking,
            *(() if is_text else samples),
        ]
        return [list(row) for row in zip(*columns, strict=True)]


def judge_file(model: OwnModel, path: Path, most: int, progress: Progress) -> Judged:
    """Judge every weak label of a file and keep the most doubtful.

    Args:
        model: who judges.
        path: the model's weak file.
        most: rows to keep.
        progress: hears of every chunk.
    """
    rows, chunks = chunks_of(path, model.roles.as_text, CHUNK)
    judged, done = Judged(model, most), 0
    progress.start(rows, "judging")
    try:
        for chunk in chunks:
            judged.add(chunk, path, done)
            done += chunk.num_rows
            progress.advance(chunk.num_rows)
    finally:
        progress.finish()
    return judged


def _holds_numbers(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
