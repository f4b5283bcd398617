"""Columns of a table as columns of numbers: standardised, one-hot, missing cells filled and counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fwl.errors import InvalidInput, NotFinite, UnknownName
from fwl.records import Array

RARE = 5  # a category seen less often is pooled with the other rare ones
MOST = 50  # categories of a column that get a column of numbers each; the rest are pooled too
MISSING = "(missing)"
OTHERS = "(others)"


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers, as one column of mean 0 and deviation 1, and one that says where cells were missing.

    Attributes:
        name: of the column.
        mean: of the cells that are there; what missing ones become.
        scale: their deviation, or 1 where they are all the same.
        had_missing: whether some were missing when it was fitted; only then is there the second column.
    """

    name: str
    mean: float
    scale: float
    had_missing: bool

    @property
    def width(self) -> int:
        """Columns of numbers it becomes."""
        return 1 + self.had_missing

    def fill(self, column: pa.ChunkedArray, out: Array) -> int:
        """Write its columns [N, width]; returns how many cells were missing."""
        values = as_numbers(column, self.name)
        absent = np.isnan(values)
        np.divide(np.where(absent, self.mean, values) - self.mean, self.scale, out=out[:, 0])
        if self.had_missing:
            out[:, 1] = absent
        return int(absent.sum())

    def described(self, missing: int) -> dict[str, Any]:
        """What a report says of it."""
        return {"column": self.name, "kind": "numbers", "missing": missing}


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories, one column of zeros and ones for each that is frequent, and one for all the others.

    Attributes:
        name: of the column.
        values: the frequent ones; `MISSING` among them where cells were missing.
        pooled: how many different ones were too rare.
    """

    name: str
    values: tuple[str, ...]
    pooled: int

    @property
    def width(self) -> int:
        """Columns of numbers it becomes."""
        return len(self.values) + 1

    def fill(self, column: pa.ChunkedArray, out: Array) -> int:
        """Write its columns [N, width]; returns how many cells were missing."""
        texts = as_categories(column)
        place = pc.fill_null(pc.index_in(texts, value_set=pa.array(self.values, pa.string())), len(self.values))
        out[:] = 0.0
        out[np.arange(len(out)), place.to_numpy()] = 1.0
        return int(pc.sum(pc.equal(texts, MISSING)).as_py() or 0)

    def described(self, missing: int) -> dict[str, Any]:
        """What a report says of it."""
        kept = [value for value in self.values if value != MISSING]
        return {
            "column": self.name,
            "kind": "categories",
            "missing": missing,
            "categories": len(kept),
            "pooled": self.pooled,
        }


Column = NumberColumn | CategoryColumn
KINDS: dict[str, type[NumberColumn] | type[CategoryColumn]] = {"numbers": NumberColumn, "categories": CategoryColumn}


@dataclass(frozen=True)
class TableEncoding:
    """From a table to a matrix.

    Attributes:
        columns: those that are used.
        dropped: those that are not, and why.
    """

    columns: tuple[Column, ...]
    dropped: tuple[tuple[str, str], ...] = ()

    @property
    def width(self) -> int:
        """Columns of the matrix."""
        return sum(column.width for column in self.columns)

    @property
    def names(self) -> list[str]:
        """The table's columns that are read."""
        return [column.name for column in self.columns]

    def matrix(self, table: pa.Table) -> tuple[Array, list[int]]:
        """The rows as numbers [N, width], and how many cells of each column were missing."""
        for name in self.names:
            if name not in table.column_names:
                raise UnknownName("column", name, table.column_names)
        matrix, missing, start = np.empty((table.num_rows, self.width)), [], 0
        for column in self.columns:
            missing.append(column.fill(table[column.name], matrix[:, start : start + column.width]))
            start += column.width
        return matrix, missing

    def described(self, missing: Iterable[int]) -> dict[str, Any]:
        """What a report says of the columns."""
        used = [column.described(count) for column, count in zip(self.columns, missing, strict=True)]
        return {"columns": used, "dropped": [{"column": name, "why": why} for name, why in self.dropped]}

    def as_spec(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        kinds = {kind: name for name, kind in KINDS.items()}
        columns = [{"kind": kinds[type(column)], **asdict(column)} for column in self.columns]
        return {"columns": columns, "dropped": [list(pair) for pair in self.dropped]}

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> TableEncoding:
        """The encoding that `as_spec` wrote down."""
        return cls(
            tuple(_column_from(entry) for entry in spec["columns"]), tuple((n, w) for n, w in spec.get("dropped", ()))
        )


def fit_encoding(table: pa.Table) -> TableEncoding:
    """How the columns of a table become numbers, decided on all its rows."""
    columns, dropped = [], []
    for field in table.schema:
        found = _fitted(field, table[field.name])
        if isinstance(found, str):
            dropped.append((field.name, found))
        else:
            columns.append(found)
    if not columns:
        why = "; ".join(f"{name}: {reason}" for name, reason in dropped)
        raise InvalidInput(f"no column can be learned from ({why or 'there is none'})")
    return TableEncoding(tuple(columns), tuple(dropped))


def as_numbers(column: pa.ChunkedArray, name: str) -> Array:
    """A column of numbers in double precision, NaN where a cell is missing."""
    if not _is_number(column.type):
        column = _numbers_in_texts(column, name)
    values = np.array(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
    broken = np.flatnonzero(np.isinf(values))
    if len(broken):
        raise NotFinite(f"column {name!r}: infinity in {len(broken)} of {len(values)} rows (row {broken[0]}); fix them")
    return values


def as_categories(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of categories as texts; a missing or empty cell is a category of its own."""
    texts = column.cast(pa.string())
    return pc.if_else(pc.fill_null(pc.equal(pc.utf8_trim_whitespace(texts), ""), True), MISSING, texts)


def _fitted(field: pa.Field, column: pa.ChunkedArray) -> Column | str:
    """How a column is encoded, or why it is not."""
    if column.null_count == len(column):
        return "every cell is empty"
    if _is_number(field.type):
        return _number_column(field.name, as_numbers(column, field.name))
    if pa.types.is_string(field.type):
        return _category_column(field.name, as_categories(column))
    raise InvalidInput(
        f"column {field.name!r} holds {field.type}; expected numbers, texts or true and false: convert it, or leave "
        "it out"
    )


def _number_column(name: str, values: Array) -> Column | str:
    absent = np.isnan(values)
    if absent.all():
        return "every cell is empty"
    present = values[~absent]
    mean, deviation = float(present.mean()), float(present.std())
    if deviation <= 1e-12 * abs(mean) and not absent.any():
        return "all cells are the same"
    return NumberColumn(name, mean, deviation if deviation > 1e-12 * abs(mean) else 1.0, bool(absent.any()))


def _category_column(name: str, texts: pa.ChunkedArray) -> Column | str:
    counted = pc.value_counts(texts.combine_chunks()).to_pylist()
    by_frequency = sorted(counted, key=lambda entry: (-entry["counts"], entry["values"]))
    frequent = [entry["values"] for entry in by_frequency if entry["counts"] >= min(RARE, len(texts) // 10 + 1)][:MOST]
    pooled = len(by_frequency) - len(frequent)
    if not frequent:
        return f"{len(by_frequency)} different texts, none seen {RARE} times: ids, or free text"
    if len(by_frequency) == 1:
        return "all cells are the same"
    return CategoryColumn(name, tuple(frequent), pooled)


def _numbers_in_texts(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """A column fitted as numbers may come as texts later, where a file has an odd cell: that one is named."""
    try:
        return pc.if_else(pc.equal(as_categories(column), MISSING), None, column.cast(pa.string())).cast(pa.float64())
    except pa.ArrowException as error:
        odd = next(text for text in column.cast(pa.string()).to_pylist() if text and not _reads_as_number(text))
        raise InvalidInput(f"column {name!r}: expected numbers, got {odd!r:.60}") from error


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_number(kind: pa.DataType) -> bool:
    tests = (pa.types.is_floating, pa.types.is_integer, pa.types.is_boolean, pa.types.is_decimal)
    return any(test(kind) for test in tests)


def _column_from(entry: dict[str, Any]) -> Column:
    values = {name: value for name, value in entry.items() if name != "kind"}
    if entry["kind"] not in KINDS:
        raise UnknownName("kind of column", str(entry["kind"]), KINDS)
    if "values" in values:
        values["values"] = tuple(values["values"])
    column: Column = KINDS[entry["kind"]](**values)
    return column
