"""Frames of other libraries as Arrow tables: pandas, polars and whatever else speaks Arrow's C interface."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from fwl.errors import InvalidInput


def is_frame(X: Any) -> bool:
    """Whether this is a frame: columns by name. A single column (a Series) is not."""
    return isinstance(X, pa.Table) or (hasattr(X, "__arrow_c_stream__") and hasattr(X, "columns"))


def as_table(frame: Any) -> pa.Table:
    """A frame's columns as an Arrow table; of a pandas frame, without its index."""
    if isinstance(frame, pa.Table):
        return _plain(frame)
    try:
        if type(frame).__module__.partition(".")[0] == "pandas":
            # Its own export would add an index other than 0, 1, 2, ... as a column, and warn of numbers for names.
            frame = frame.reset_index(drop=True).rename(columns=str)
        return _plain(pa.table(frame))
    except (pa.ArrowException, TypeError) as error:
        raise InvalidInput(
            f"this frame cannot be read ({str(error).splitlines()[0]}); expected one kind of value in each column"
        ) from error


def _plain(table: pa.Table) -> pa.Table:
    """Categories of every making as texts: each library has another type for them."""
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type) or pa.types.is_large_string(field.type) or _is_view(field.type):
            table = table.set_column(place, field.name, _texts(table[field.name]))
    return table


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.string())


def _is_view(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string_view(kind))
