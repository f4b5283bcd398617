"""Tables of JSON lines: one object a row, its keys the columns."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa

from fwl.errors import InvalidInput
from fwl.text.files import glance, text_lines

KINDS = {bool: "true or false", int: "numbers", float: "numbers", str: "texts", list: "lists", dict: "objects"}
BLOCK = 16384  # rows whose values are Python objects at a time: each takes ten times the memory that it needs


def read_json_lines(path: str | os.PathLike[str], as_text: Collection[str] = ()) -> pa.Table:
    """Read a file of JSON objects; a key that a row lacks is an empty cell.

    Args:
        path: plain or gzipped.
        as_text: columns whose numbers are taken as texts.
    """
    kinds: dict[str, str] = {}
    lines = text_lines(path)
    blocks = []
    while some := list(islice(lines, BLOCK)):
        blocks.append(_block(some, kinds, as_text, path))
    try:
        return pa.concat_tables(blocks, promote_options="permissive") if blocks else pa.table({})
    except pa.ArrowException as error:
        raise InvalidInput(f"{path} cannot be read ({str(error).splitlines()[0]})") from error


def _block(
    lines: Sequence[tuple[int, str]], kinds: dict[str, str], as_text: Collection[str], path: str | os.PathLike[str]
) -> pa.Table:
    """Some rows, of which every column holds the kind that it held before."""
    columns: dict[str, list[Any]] = {}
    for row, (number, line) in enumerate(lines):
        where = f"{path}, line {number}"
        for name, value in _parsed(line, where).items():
            if name not in columns:
                columns[name] = [None] * len(lines)
            columns[name][row] = value = _as_text(value) if name in as_text else value
            _check_kind(name, value, kinds, where)
    counted = pa.table({"": pa.nulls(len(lines))}).select([])  # rows may be all that there is: {} is one
    for name, cells in columns.items():
        counted = counted.append_column(name, _column(name, cells, path))
    return counted


def _parsed(line: str, where: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{where}: this is not JSON ({error}): {glance(line)}") from error
    if not isinstance(entry, dict):
        raise InvalidInput(f"{where}: expected a JSON object, one for each row, got {glance(line)}")
    return entry


def _check_kind(name: str, value: Any, kinds: dict[str, str], where: str) -> None:
    if value is None:
        return
    kind = KINDS[type(value)]
    before = kinds.setdefault(name, kind)
    if kind != before:
        raise InvalidInput(
            f"{where}: column {name!r} holds {' and '.join(sorted((before, kind)))}, here {value!r:.60}; "
            "expected one kind in all rows"
        )


def _column(name: str, values: list[Any], path: str | os.PathLike[str]) -> pa.Array:
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError) as error:
        raise InvalidInput(f"{path}: column {name!r} cannot be read ({str(error).splitlines()[0]})") from error


def _as_text(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, bool | int | float) else value
