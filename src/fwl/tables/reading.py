"""Tables from files: CSV, TSV, JSON lines and Parquet; whatever is wrong is named by file, line and column."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from fwl.errors import InvalidInput, UnknownName
from fwl.tables.csv_trouble import check_lengths, check_quotes
from fwl.tables.formats import DELIMITERS, JSONL, PARQUET, format_of
from fwl.tables.json_lines import read_json_lines
from fwl.text.files import damage_told, decoded, numbered_lines, open_bytes

CHUNK = 65536
BLOCK = 1 << 22  # bytes that Arrow parses at a time; a row longer than that needs a larger one

Path_ = str | os.PathLike[str]


def read_table(path: Path_, columns: Sequence[str] | None = None, as_text: Collection[str] = ()) -> pa.Table:
    """Read a whole table.

    Args:
        path: its ending says what it is (see `format_of`); CSV, TSV and JSON lines may be gzipped.
        columns: those that are wanted, in that order; None for all.
        as_text: columns that are texts even where all their cells look like numbers: ids, classes, words.
    """
    kind = format_of(path)
    if kind == PARQUET:
        table = _read_parquet(path, columns)
    else:
        table = read_json_lines(path, as_text) if kind == JSONL else _read_csv(path, DELIMITERS[kind], as_text)
    _check_names(table.column_names, path)
    if not table.num_rows:
        raise InvalidInput(f"{path} holds no rows; expected at least one")
    return _with_texts(select(table, columns, path), as_text)


def read_chunks(
    path: Path_, size: int = CHUNK, columns: Sequence[str] | None = None, as_text: Collection[str] = ()
) -> Iterator[pa.Table]:
    """A table in chunks of at most `size` rows, in their order; of Parquet no more than that is ever in memory."""
    if size < 1:
        raise InvalidInput(f"chunk is at least 1 row, got {size}")
    if format_of(path) != PARQUET:
        table = read_table(path, columns, as_text)
        yield from (table.slice(start, size) for start in range(0, table.num_rows, size))
        return
    file = _open_parquet(path)
    names = select_names(file.schema_arrow.names, columns, path)
    for batch in file.iter_batches(size, columns=names):
        yield _with_texts(pa.Table.from_batches([batch]).select(names), as_text)


def count_rows(path: Path_) -> int | None:
    """How many rows a table has, if that can be told without reading it; None if not."""
    return int(_open_parquet(path).metadata.num_rows) if format_of(path) == PARQUET else None


def column_names(path: Path_) -> list[str]:
    """The names of a table's columns, reading no more of it than needed."""
    if format_of(path) == PARQUET:
        return list(_open_parquet(path).schema_arrow.names)
    return list(read_table(path).column_names)


def select(table: pa.Table, columns: Sequence[str] | None, where: object) -> pa.Table:
    """The columns that are wanted; one that is not there is answered with the nearest name."""
    return table if columns is None else table.select(select_names(table.column_names, columns, where))


def select_names(known: Sequence[str], columns: Sequence[str] | None, where: object) -> list[str]:
    """The names that are wanted, all of them known."""
    for name in columns or ():
        if name not in known:
            raise UnknownName(f"column of {where}", name, known)
    return list(known) if columns is None else list(columns)


def _read_csv(path: Path_, delimiter: str, as_text: Collection[str]) -> pa.Table:
    with open_bytes(path) as file, damage_told(path):
        content = file.read()
    if not content.strip():
        raise InvalidInput(f"{path} is empty; expected a header with the names of the columns, and a row below it")
    check_quotes(content, delimiter, path)
    try:
        table = _parse_csv(content, delimiter, as_text)
    except pa.ArrowInvalid as error:
        _check_encoding(path)
        check_lengths(content, delimiter, path)
        raise InvalidInput(f"{path} cannot be read as CSV ({str(error).splitlines()[0]})") from error
    if any(pa.types.is_binary(field.type) for field in table.schema):
        _check_encoding(path)
    return table


def _parse_csv(content: bytes, delimiter: str, as_text: Collection[str]) -> pa.Table:
    parsing = pyarrow.csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    conversion = pyarrow.csv.ConvertOptions(column_types={name: pa.string() for name in as_text})
    for block in (BLOCK, len(content) + 1):
        reading = pyarrow.csv.ReadOptions(use_threads=False, block_size=block)
        try:
            return pyarrow.csv.read_csv(pa.BufferReader(content), reading, parsing, conversion)
        except pa.ArrowInvalid as error:
            if "straddl" not in str(error) or block > BLOCK:
                raise
    raise AssertionError("unreachable: the larger block holds every row")


def _check_encoding(path: Path_) -> None:
    for number, line in numbered_lines(path):
        decoded(line, path, number)


def _open_parquet(path: Path_) -> pq.ParquetFile:
    if not Path(path).is_file():
        with open_bytes(path):  # says why it cannot be opened
            pass
    try:
        return pq.ParquetFile(path, pre_buffer=False)  # what is not asked for stays on disk
    except (OSError, pa.ArrowException) as error:
        raise InvalidInput(
            f"{path} cannot be read as Parquet ({str(error).splitlines()[0]}); copy it again, or name it by what it is"
        ) from error


def _read_parquet(path: Path_, columns: Sequence[str] | None) -> pa.Table:
    file = _open_parquet(path)
    try:
        return file.read(select_names(file.schema_arrow.names, columns, path))
    except (OSError, pa.ArrowException) as error:
        raise InvalidInput(f"{path} is damaged or cut off ({str(error).splitlines()[0]}); copy it again") from error


def _check_names(names: Sequence[str], path: Path_) -> None:
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InvalidInput(f"{path}: column {twice[0]!r} comes twice; give every column a name of its own")
    if "" in names:
        raise InvalidInput(f"{path}: column {list(names).index('') + 1} has no name; name it in the header")


def _with_texts(table: pa.Table, as_text: Collection[str]) -> pa.Table:
    """The named columns as texts, where a format gave them another type."""
    for place, name in enumerate(table.column_names):
        column = table[name]
        if name in as_text and not pa.types.is_string(column.type):
            table = table.set_column(place, name, column.cast(pa.string()))
    return table
