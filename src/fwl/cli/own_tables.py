"""A user's files as what the estimators take: samples, strong labels, weak labels; ids checked, rows named."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fwl.cli.kinds import of_one_kind
from fwl.cli.labels import CLASSIFY, class_names, mapping, numbers, task_of, weak_classes, weak_numbers
from fwl.cli.roles import Asked, Roles, Sheet, assign_roles
from fwl.errors import InvalidInput
from fwl.estimators.labels import class_labels
from fwl.tables.formats import PARQUET, format_of
from fwl.tables.frames import as_table
from fwl.tables.reading import CHUNK, count_rows, read_chunks, read_table

ROW = "row"  # what rows are named by where there are no ids: their number, from 1


@dataclass(frozen=True, eq=False)
class StrongRows:
    """The strong rows of all files.

    Attributes:
        table: their samples, and their weak labels if every file has them.
        labels: classes as texts, or numbers, [N].
        names: their ids, or where they stand.
        left_out: how many rows of each file have no label.
    """

    table: pa.Table
    labels: Any
    names: list[str]
    left_out: dict[Path, int]


@dataclass(frozen=True, eq=False)
class OwnTables:
    """Everything that `fit` needs of a user's files."""

    roles: Roles
    task: str
    label_kind: str
    strong: StrongRows
    weak: Sheet
    class_map: dict[str, str | None]

    @property
    def classes(self) -> list[str]:
        """Of the strong labels, sorted."""
        return sorted(set(self.strong.labels)) if self.task == CLASSIFY else []

    def weak_of_pool(self) -> Any:
        """The weak labels of the weak file."""
        return read_weak(self.weak, self.roles, self.task, self.classes, self.class_map)

    def weak_of_strong(self) -> Any:
        """What the annotators say of the strong rows; None where some file does not tell."""
        if not set(self.roles.weak_labels) <= set(self.strong.table.column_names):
            return None
        sheet = Sheet(Path("the strong file"), self.strong.table)
        return read_weak(sheet, self.roles, self.task, self.classes, self.class_map)


def read_sheet(path: Path, as_text: set[str]) -> Sheet:
    """A whole file."""
    return Sheet(path, as_table(read_table(path, as_text=as_text)))


def read_own(strong: Sequence[Path], weak: Path, asked: Asked, task: str, assignments: Sequence[str]) -> OwnTables:
    """Read both sets and see that they fit together.

    Args:
        strong: files of strong rows.
        weak: the file of weak rows.
        asked: what the user says of the columns.
        task: one of `TASKS`.
        assignments: what weak classes stand for, WEAK=CLASS each.
    """
    sheets, pool = [read_sheet(path, asked.as_text) for path in strong], read_sheet(weak, asked.as_text)
    roles = assign_roles(asked, sheets, pool)
    *sheets, pool = of_one_kind([*sheets, pool], roles.features)
    columns = [sheet.table[roles.label] for sheet in sheets]
    task = task_of(task, columns, roles.label)
    rows = strong_rows(sheets, roles, task)
    _check_ids(rows, pool, roles, sheets)
    kind = "double" if task != CLASSIFY else str(columns[0].type) if _one_kind(columns) else "string"
    class_map = mapping(assignments, class_labels(rows.labels).classes.tolist()) if task == CLASSIFY else {}
    return OwnTables(roles, task, kind, rows, pool, class_map)


def strong_rows(sheets: Sequence[Sheet], roles: Roles, task: str) -> StrongRows:
    """The rows of all files that have a label, one below the other."""
    beside = set(roles.weak_labels) - {roles.label}
    has_weak = len(beside) == len(roles.weak_labels) and all(beside <= set(sheet.names) for sheet in sheets)
    columns = [*roles.samples, *(roles.weak_labels if has_weak else ())]
    tables, labels, names, left_out = [], [], [], {}
    for sheet in sheets:
        label, there = _labels(sheet, roles.label, task)
        tables.append(sheet.table.select(columns).filter(pa.array(there)))
        labels.append(label[there])
        names += _names(sheet, roles, there, numbered_by_file=len(sheets) > 1)
        left_out[sheet.path] = int((~there).sum())
    _check_labelled(labels, sheets, roles.label)
    return StrongRows(_stacked(tables, sheets), np.concatenate(labels), names, left_out)


def samples_of(table: pa.Table, roles: Roles) -> Any:
    """What is learned from: texts, or a table."""
    return table.select(roles.features) if roles.text is None else table[roles.text].to_pylist()


def read_weak(sheet: Sheet, roles: Roles, task: str, classes: Sequence[str], class_map: dict[str, str | None]) -> Any:
    """Weak labels as the estimator takes them."""
    sheet.check_has(roles.weak_labels)
    if task == CLASSIFY:
        return weak_classes(sheet.table, roles.weak_labels, classes, class_map, sheet.path)
    return weak_numbers(sheet.table, roles.weak_labels, sheet.path)


def chunks_of(path: Path, as_text: set[str], size: int = CHUNK) -> tuple[int, Iterator[pa.Table]]:
    """How many rows a file has, and these a chunk at a time; of Parquet, only a chunk is ever in memory."""
    chunks = (as_table(chunk) for chunk in read_chunks(path, size, as_text=as_text))
    if format_of(path) == PARQUET:
        return count_rows(path) or 0, chunks
    table = as_table(read_table(path, as_text=as_text))
    return table.num_rows, (table.slice(start, size) for start in range(0, table.num_rows, size))


def name_column(table: pa.Table, roles: Roles, before: int) -> tuple[str, pa.Array]:
    """What names the rows of a chunk: their ids, or their numbers, so many rows being before them."""
    if roles.id is not None and roles.id in table.column_names:
        return roles.id, table[roles.id]
    return ROW, pa.array(range(before + 1, before + 1 + table.num_rows))


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _labels(sheet: Sheet, name: str, task: str) -> tuple[Any, Any]:
    """The labels of a file, and which rows have one."""
    if task == CLASSIFY:
        texts = class_names(sheet.table[name])
        return np.array(texts.to_pylist(), dtype=object), np.array(texts.is_valid())
    values = numbers(sheet.table[name], name, sheet.path)
    return values, ~np.isnan(values)


def _check_labelled(labels: Sequence[Any], sheets: Sequence[Sheet], name: str) -> None:
    if not any(len(some) for some in labels):
        where = ", ".join(str(sheet.path) for sheet in sheets)
        raise InvalidInput(f"no row of {where} has a label in column {name!r}; fill some in")


def _names(sheet: Sheet, roles: Roles, there: Any, numbered_by_file: bool) -> list[str]:
    if roles.id is not None:
        ids = sheet.table[roles.id].to_pylist()
    else:
        before = f"{sheet.path.name}:" if numbered_by_file else ""
        ids = [f"{before}{row}" for row in range(1, sheet.table.num_rows + 1)]
    return [id_ for id_, wanted in zip(ids, there.tolist(), strict=True) if wanted]


def _stacked(tables: Sequence[pa.Table], sheets: Sequence[Sheet]) -> pa.Table:
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except pa.ArrowException as error:
        where = ", ".join(str(sheet.path) for sheet in sheets)
        raise InvalidInput(
            f"the columns of {where} are of different kinds ({str(error).splitlines()[0]}); expected the same in all"
        ) from error


def _one_kind(columns: Sequence[pa.ChunkedArray]) -> bool:
    """Whether labels of all files have one type that they can be told in."""
    kind = columns[0].type
    plain = pa.types.is_integer(kind) or pa.types.is_boolean(kind)
    return plain and all(column.type == kind for column in columns)


def _check_ids(strong: StrongRows, pool: Sheet, roles: Roles, sheets: Sequence[Sheet]) -> None:
    if roles.id is None:
        return
    where = ", ".join(str(sheet.path) for sheet in sheets)
    _check_unique(strong.names, where, roles.id)
    _check_unique(pool.table[roles.id].to_pylist(), str(pool.path), roles.id)
    _check_same_samples(strong, pool, roles, where)


def _check_unique(ids: Sequence[str | None], where: str, column: str) -> None:
    first: dict[str, int] = {}
    for row, id_ in enumerate(ids, 1):
        if id_ is None or not id_.strip():
            raise InvalidInput(f"{where}, row {row}: column {column!r} is empty; give every row an id, or drop --id")
        if first.setdefault(id_, row) != row:
            raise InvalidInput(
                f"{where}: id {id_!r} stands in rows {first[id_]} and {row}; give every row an id of its own"
            )


def _check_same_samples(strong: StrongRows, pool: Sheet, roles: Roles, where: str) -> None:
    """Refuse an id that stands for one sample here and for another there."""
    place = {name: row for row, name in enumerate(strong.names)}
    shared = pool.table.filter(pc.is_in(pool.table[roles.id], pa.array(strong.names, pa.string())))
    rows = strong.table.take(pa.array([place[id_] for id_ in shared[roles.id].to_pylist()], pa.int64()))
    for column in roles.samples:
        pairs = zip(shared[roles.id].to_pylist(), rows[column].to_pylist(), shared[column].to_pylist(), strict=True)
        for id_, here, there in pairs:
            if here != there and not (here != here and there != there):
                raise InvalidInput(
                    f"id {id_!r} stands for different samples: column {column!r} is {here!r:.40} in {where} and "
                    f"{there!r:.40} in {pool.path}; give each sample an id of its own"
                )
