"""Tables of JSON lines: one object a row, its keys the columns."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from typing import Any

import pyarrow as pa

from fwl.errors import InvalidInput
from fwl.text.files import glance, text_lines

KINDS = {bool: "true or false", int: "numbers", float: "numbers", str: "texts", list: "lists", dict: "objects"}
Cells = tuple[int, Any]  # the line a value stands in, and the value


def read_json_lines(path: str | os.PathLike[str], as_text: Collection[str] = ()) -> pa.Table:
    """Read a file of JSON objects; a key that a row lacks is an empty cell.

    Args:
        path: plain or gzipped.
        as_text: columns whose numbers are taken as texts.
    """
    columns: dict[str, list[Cells]] = {}
    rows = 0
    for number, line in text_lines(path):
        for name, value in _parsed(line, f"{path}, line {number}").items():
            cells = columns.setdefault(name, [])
            if len(cells) < rows:
                cells.extend([(0, None)] * (rows - len(cells)))
            cells.append((number, value))
        rows += 1
    for cells in columns.values():
        cells.extend([(0, None)] * (rows - len(cells)))
    return pa.table({name: _column(name, cells, name in as_text, path) for name, cells in columns.items()})


def _parsed(line: str, where: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{where}: this is not JSON ({error}): {glance(line)}") from error
    if not isinstance(entry, dict):
        raise InvalidInput(f"{where}: expected a JSON object, one for each row, got {glance(line)}")
    return entry


def _column(name: str, cells: list[Cells], as_text: bool, path: str | os.PathLike[str]) -> pa.Array:
    values = [_as_text(value) if as_text else value for _, value in cells]
    kinds = {KINDS[type(value)] for value in values if value is not None}
    if len(kinds) > 1:
        line, odd = _first_of_another_kind(cells)
        raise InvalidInput(
            f"{path}, line {line}: column {name!r} holds {' and '.join(sorted(kinds))}, here {odd!r:.60}; "
            "expected one kind in all rows"
        )
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError) as error:
        raise InvalidInput(f"{path}: column {name!r} cannot be read ({str(error).splitlines()[0]})") from error


def _first_of_another_kind(cells: list[Cells]) -> Cells:
    present = [(line, value) for line, value in cells if value is not None]
    first = KINDS[type(present[0][1])]
    return next((line, value) for line, value in present if KINDS[type(value)] != first)


def _as_text(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, bool | int | float) else value
