"""Tables to files, by the ending of the name; written to the side and moved into place."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from fwl.errors import InvalidInput, OutputTrouble
from fwl.tables.formats import DELIMITERS, JSONL, PARQUET, format_of

Write = Callable[[pa.Table], None]


def write_table(table: pa.Table, path: str | os.PathLike[str]) -> Path:
    """Write a whole table; a file that was there is replaced once the new one is whole."""
    with table_writer(path) as write:
        write(table)
    return Path(path)


@contextmanager
def table_writer(path: str | os.PathLike[str]) -> Iterator[Write]:
    """A function that appends tables of one schema to a file; the file is there when all went well, and not before."""
    target, kind = Path(path), format_of(path)
    if target.name.lower().endswith(".gz"):
        raise InvalidInput(f"{path}: tables are written plain; leave .gz away, and pack the file afterwards")
    if target.is_dir():
        raise OutputTrouble(f"cannot write {target} (Is a directory)")
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with _Writer(beside, kind) as writer:
            yield writer.write
        beside.replace(target)
    except OSError as error:
        raise OutputTrouble(f"cannot write {target} ({error.strerror or error})") from error
    finally:
        beside.unlink(missing_ok=True)


class _Writer:
    """Appends to one open file in one format; its first table decides the columns."""

    def __init__(self, path: Path, kind: str) -> None:
        self._path, self._kind = path, kind
        self._writer: pq.ParquetWriter | None = None
        self._first = True

    def __enter__(self) -> _Writer:
        self._file = self._path.open("wb")
        return self

    def __exit__(self, *_: object) -> None:
        with self._file:  # closed even if the disk has no room for what is left to be written
            if self._writer is not None:
                self._writer.close()

    def write(self, table: pa.Table) -> None:
        if self._kind == PARQUET:
            self._writer = self._writer or pq.ParquetWriter(self._file, table.schema)
            self._writer.write_table(table)
        elif self._kind == JSONL:
            self._file.writelines(_json_lines(table))
        else:
            options = pyarrow.csv.WriteOptions(include_header=self._first, delimiter=DELIMITERS[self._kind])
            pyarrow.csv.write_csv(_flat(table), self._file, options)
        self._first = False


def _json_lines(table: pa.Table) -> Iterator[bytes]:
    for batch in table.to_batches(8192):
        for row in batch.to_pylist():
            yield (json.dumps(row, ensure_ascii=False, default=str) + "\n").encode()


def _flat(table: pa.Table) -> pa.Table:
    """Columns of lists as texts, their entries separated by spaces: a cell of CSV holds one thing."""
    for place, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            cells = [None if cell is None else " ".join(map(str, cell)) for cell in table[field.name].to_pylist()]
            table = table.set_column(place, field.name, pa.array(cells, pa.string()))
    return table
