"""Label columns of tables: classes as texts, whatever a format made of them, or numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from fwl.errors import InvalidInput, UnknownName
from fwl.records import Array
from fwl.tables.encoding import as_numbers

AUTO, CLASSIFY, REGRESS = "auto", "classify", "regress"
TASKS = (AUTO, CLASSIFY, REGRESS)
FEW = 10  # whole numbers of at most so many different values are taken for classes
MANY = 20  # more classes than this, and more than half the rows, are no classes
ABSTAINS = "-1"  # among classes that are numbers, unless it is one
SHOWN = 5


def class_names(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Classes as texts without spaces around them; 1.0 is `1`; None where a cell is empty."""
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
    try:
        texts = pc.utf8_trim_whitespace(column.cast(pa.string()))
    except pa.ArrowException as error:
        raise InvalidInput(f"labels of kind {column.type}; expected texts, numbers, or true and false") from error
    return pc.if_else(pc.equal(texts, ""), None, texts)


def numbers(column: pa.ChunkedArray, name: str, path: Path) -> Array:
    """Numbers, NaN where a cell is empty."""
    try:
        return as_numbers(column, name)
    except InvalidInput as error:
        raise type(error)(f"{path}: {error}") from error


def task_of(asked: str, columns: Sequence[pa.ChunkedArray], name: str) -> str:
    """Whether strong labels are classes or numbers, as the user says or as they look.

    Args:
        asked: one of `TASKS`.
        columns: the strong labels of each file, as they came.
        name: of the column.
    """
    if asked not in TASKS:
        raise UnknownName("task", asked, TASKS)
    different = {text for column in columns for text in pc.unique(class_names(column)).to_pylist() if text is not None}
    if asked == AUTO:
        asked = CLASSIFY if not _all_numbers(columns) or _look_like_classes(different) else REGRESS
    rows = sum(len(column) for column in columns)
    if asked == CLASSIFY and len(different) > max(MANY, rows // 2):
        raise InvalidInput(
            f"column {name!r} holds {len(different)} different labels in {rows} rows; expected classes: name another "
            "column by --label, or give --task regress if these are numbers"
        )
    return asked


def is_number(kind: pa.DataType) -> bool:
    """Whether a column holds numbers; true and false are none."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def reads_as_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def weak_classes(
    table: pa.Table, names: Sequence[str], classes: Sequence[str], class_map: Mapping[str, str | None], path: Path
) -> pa.Table:
    """Weak labels as the classifier takes them: a column for each annotator, or probabilities, one for each class.

    Args:
        table: with the columns of the weak labels.
        names: of those columns.
        classes: of the strong labels.
        class_map: what other names stand for.
        path: where they come from, for messages.
    """
    if len(names) > 1 and set(names) == set(classes):
        return pa.table({name: numbers(table[name], name, path) for name in names})
    columns = {name: class_names(table[name]) for name in names}
    unknown = sorted(_different(columns) - {*classes, *class_map})
    if unknown:
        raise InvalidInput(_complaint(unknown, classes, path))
    return pa.table(columns)


def weak_numbers(table: pa.Table, names: Sequence[str], path: Path) -> pa.Table:
    """Weak labels as the regressor takes them: a column for each annotator."""
    return pa.table({name: numbers(table[name], name, path) for name in names})


def mapping(assignments: Sequence[str], classes: Sequence[str]) -> dict[str, str | None]:
    """What `--map WEAK=CLASS` says; without a class, an abstention."""
    found: dict[str, str | None] = {}
    if all(reads_as_number(name) for name in classes) and ABSTAINS not in classes:
        found[ABSTAINS] = None
    for assignment in assignments:
        name, equals, target = (part.strip() for part in assignment.partition("="))
        if not equals or not name:
            raise InvalidInput(f"--map {assignment}: expected WEAK=CLASS, or WEAK= for an abstention")
        if target and target not in classes:
            raise UnknownName(f"class in --map {assignment}:", target, classes)
        found[name] = target or None
    return found


def told(labels: Sequence[Any], kind: str) -> pa.Array:
    """Labels as a column of the kind that the strong labels had."""
    if kind == "double":
        return pa.array([None if x is None or x != x else float(x) for x in labels], pa.float64())
    return pa.array([None if x is None else str(x) for x in labels], pa.string()).cast(kind)


def _all_numbers(columns: Sequence[pa.ChunkedArray]) -> bool:
    return all(is_number(column.type) or pa.types.is_null(column.type) for column in columns)


def _look_like_classes(different: set[str]) -> bool:
    return len(different) <= FEW and all(text.lstrip("-").isdigit() for text in different)


def _different(columns: Mapping[str, pa.ChunkedArray]) -> set[str]:
    return {text for column in columns.values() for text in pc.unique(column).to_pylist() if text is not None}


def _complaint(unknown: Sequence[str], classes: Sequence[str], path: Path) -> str:
    shown = ", ".join(map(repr, unknown[:SHOWN])) + (f" and {len(unknown) - SHOWN} more" if unknown[SHOWN:] else "")
    return (
        f"{path}: weak labels {shown} are not among the strong ones ({', '.join(map(repr, classes))}); map each with "
        f"--map '{unknown[0]}={classes[0]}', or --map '{unknown[0]}=' for an abstention, or label a row of it by hand"
    )
