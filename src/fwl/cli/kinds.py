"""Columns that hold numbers in one file and texts in another: an odd cell, or categories that look like numbers."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from fwl.cli.labels import is_number, reads_as_number
from fwl.cli.roles import Sheet
from fwl.errors import InvalidInput

MOSTLY = 0.5  # of a column's texts that read as numbers: then it is one of numbers, and the others are odd


def of_one_kind(sheets: Sequence[Sheet], columns: Sequence[str]) -> list[Sheet]:
    """The same tables, with no column that is numbers here and texts there.

    Where most of the texts are words, numbers are categories too: house numbers, sizes, codes. Where most of them are
    numbers, the first that is none is refused by name.
    """
    mixed = [name for name in columns if _of_numbers(sheets, name) and _of_texts(sheets, name)]
    for name in mixed:
        for sheet in _of_texts(sheets, name):
            _check_categories(sheet, name, _of_numbers(sheets, name)[0])
    return [_with_texts(sheet, mixed) for sheet in sheets]


def _of_numbers(sheets: Sequence[Sheet], name: str) -> list[Sheet]:
    return [sheet for sheet in sheets if is_number(sheet.table[name].type)]


def _of_texts(sheets: Sequence[Sheet], name: str) -> list[Sheet]:
    return [sheet for sheet in sheets if pa.types.is_string(sheet.table[name].type)]


def _check_categories(sheet: Sheet, name: str, of_numbers: Sheet) -> None:
    cells = [(row, text) for row, text in enumerate(sheet.table[name].to_pylist(), 1) if text and text.strip()]
    odd = [(row, text) for row, text in cells if not reads_as_number(text)]
    if odd and len(odd) < (1 - MOSTLY) * len(cells):
        row, text = odd[0]
        raise InvalidInput(
            f"{sheet.path}, row {row}: column {name!r}: expected a number, as in {of_numbers.path}, got {text!r:.40}; "
            "correct the cell, or leave it empty"
        )


def _with_texts(sheet: Sheet, names: Sequence[str]) -> Sheet:
    table = sheet.table
    for name in names:
        table = table.set_column(table.column_names.index(name), name, table[name].cast(pa.string()))
    return Sheet(sheet.path, table)
