"""What is wrong with a CSV file, and in which line: quotes that nobody closed, rows of another length.

Arrow reads a file whose quote is never closed as one that ends in a very long cell. Python's own reader, in its strict
mode, notices; it is slow, so it only sees files that hold a quote at all, or that Arrow refused.
"""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from fwl.errors import InvalidInput

QUOTE = b'"'


def check_quotes(content: bytes, delimiter: str, path: str | os.PathLike[str]) -> None:
    """Refuse a file whose quotes do not pair, with the line where the row begins."""
    if QUOTE in content:
        for _ in _rows(content, delimiter, path):
            pass


def check_lengths(content: bytes, delimiter: str, path: str | os.PathLike[str]) -> None:
    """Refuse a file with a row that has more or fewer cells than the header."""
    rows = _rows(content, delimiter, path)
    _, header = next(rows)
    for line, cells in rows:
        if cells and len(cells) != len(header):
            raise InvalidInput(
                f"{path}, line {line}: expected {len(header)} cells as in the header, got {len(cells)}; "
                'put quotes (") around cells that hold a separator'
            )


def _rows(content: bytes, delimiter: str, path: str | os.PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    """Every row with the line it begins in."""
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", errors="replace", newline="")
    reader, line = csv.reader(text, delimiter=delimiter, strict=True), 1
    with _cells_of_any_size():
        try:
            for cells in reader:
                yield line, cells
                line = reader.line_num + 1
        except csv.Error as error:
            raise InvalidInput(
                f"{path}, line {line}: the quotes of the row that begins here do not pair ({error}); "
                'close the quote, or write a quote inside a quoted cell twice ("")'
            ) from error


@contextmanager
def _cells_of_any_size() -> Iterator[None]:
    """The csv module has one limit for the whole process: it is put back."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)
