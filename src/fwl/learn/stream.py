"""Soft labels for more samples than fit in memory: a chunk at a time, on all cores, to Parquet.

Every chunk is judged by itself on one thread, so the numbers are the same bits however many workers share them. Chunks
go out in waves of one per worker: no more than that is ever in memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from joblib import Parallel, delayed, effective_n_jobs

from fwl.errors import InvalidInput, OutputTrouble
from fwl.learn.chunks import Chunk, Columns, Source, chunks_of
from fwl.progress import Progress, Silent
from fwl.records import SoftSet
from fwl.threads import one_thread

CHUNK = 16384

Soften = Callable[..., SoftSet]  # (samples, weak labels or None) -> soft set; a `Softener`, or anything like it


def soften(
    source: Source,
    softener: Soften,
    out: str | os.PathLike[str],
    *,
    columns: Columns | None = None,
    classes: Sequence[str] | None = None,
    chunk: int = CHUNK,
    jobs: int = -1,
    progress: Progress | None = None,
) -> int:
    """Write the soft label, uncertainty and fidelity of every sample to a Parquet file, in the samples' order.

    Args:
        source: where the samples come from (see `chunks_of`).
        softener: makes the soft set of one chunk.
        out: the file, written to the side and moved into place.
        columns: which columns of Parquet files are what.
        classes: names of the classes; the label columns are then `soft_NAME` instead of `soft_0`, `soft_1`, ...
        chunk: the most samples judged at a time.
        jobs: workers; -1 for one per core. Any joblib back end serves: run it inside `joblib.parallel_config`.
        progress: hears of every sample that is done.

    Returns:
        The number of samples.
    """
    chunks, total = chunks_of(source, chunk, columns)
    listener, target = progress or Silent(), Path(out)
    listener.start(total or 0, "soft labels")
    try:
        with one_thread(), _beside(target) as beside:
            return _write(_softened(chunks, softener, jobs), beside, classes, listener)
    finally:
        listener.finish()


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A file next to the target that takes its place if all goes well, and is gone if not."""
    if target.is_dir():
        raise OutputTrouble(f"cannot write {target} (Is a directory)")
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        beside.touch()
    except OSError as error:
        raise OutputTrouble(f"cannot write {target} ({error.strerror})") from error
    try:
        yield beside
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)


def _softened(chunks: Iterator[Chunk], softener: Soften, jobs: int) -> Iterator[tuple[Chunk, SoftSet]]:
    with Parallel(n_jobs=jobs, prefer="threads") as pool:
        wave = effective_n_jobs(jobs)
        while waiting := list(islice(chunks, wave)):
            softened = pool(delayed(_soften_one)(softener, part) for part in waiting)
            while waiting:  # what is written is let go before the next wave comes in
                yield waiting.pop(0), softened.pop(0)


def _soften_one(softener: Soften, chunk: Chunk) -> SoftSet:
    torch.set_num_threads(1)  # a worker is a thread or process of its own, with its own setting
    return softener(chunk.X, chunk.weak)


def _write(
    softened: Iterator[tuple[Chunk, SoftSet]], path: Path, classes: Sequence[str] | None, progress: Progress
) -> int:
    rows, writer = 0, None
    try:
        for chunk, soft in softened:
            table = _table(chunk, soft, classes)
            writer = writer or pq.ParquetWriter(path, table.schema)
            writer.write_table(table)
            rows += len(table)
            progress.advance(len(table))
    finally:
        if writer is not None:
            writer.close()
    if writer is None:
        raise OutputTrouble("there is no sample to soften; nothing was written")
    return rows


def _table(chunk: Chunk, soft: SoftSet, classes: Sequence[str] | None) -> pa.Table:
    names = _label_columns(soft.label.shape[1], classes)
    made = dict(zip(names, soft.label.T, strict=True)) | {"uncertainty": soft.uncertainty, "fidelity": soft.fidelity}
    table = pa.table({name: np.ascontiguousarray(values) for name, values in made.items()})
    if chunk.kept is None:
        return table
    for name in chunk.kept.column_names:
        if name in made:
            raise InvalidInput(
                f"column {name!r} cannot be kept: the soft labels have one of that name; rename it first"
            )
    return pa.table({**_columns_of(chunk.kept), **_columns_of(table)})


def _label_columns(count: int, classes: Sequence[str] | None) -> list[str]:
    if classes is None:
        return ["soft_label"] if count == 1 else [f"soft_{i}" for i in range(count)]
    if len(classes) != count or len(set(classes)) != count:
        raise InvalidInput(f"classes: expected {count} different names, got {', '.join(classes)}")
    return [f"soft_{name}" for name in classes]


def _columns_of(table: pa.Table) -> dict[str, pa.ChunkedArray]:
    return {name: table[name] for name in table.column_names}
