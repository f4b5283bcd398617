"""Tables written a chunk at a time, with a bar that knows how many rows are left."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import pyarrow as pa

from fwl.errors import OutputTrouble
from fwl.progress import Progress
from fwl.tables.formats import format_of
from fwl.tables.writing import table_writer


def write_chunks(chunks: Iterable[pa.Table], path: Path, rows: int, what: str, progress: Progress) -> None:
    """Write tables of one schema to a file, which is there when all went well.

    Args:
        chunks: made while they are written.
        path: of the file; its ending says what it is.
        rows: that there will be.
        what: is being done, for the bar.
        progress: who listens.
    """
    check_place(path)
    coming = iter(chunks)
    progress.start(rows, what)
    try:
        first = next(coming)  # most of what can be wrong with the rows is wrong here: before a file is opened
        with table_writer(path) as write:
            for chunk in chain([first], coming):
                write(chunk)
                progress.advance(chunk.num_rows)
    finally:
        progress.finish()


def check_place(path: Path) -> None:
    """Refuse a name of no known ending, in no folder, or where one may not write, before work is done for it."""
    format_of(path)
    folder = path.absolute().parent
    if not folder.is_dir():
        raise OutputTrouble(f"cannot write {path} (there is no folder {path.parent}); make it, or name another file")
    if not all(os.access(place, os.W_OK) for place in (folder, path) if place.exists()):
        raise OutputTrouble(f"cannot write {path} (Permission denied); name another file")
