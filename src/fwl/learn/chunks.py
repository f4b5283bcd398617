"""Samples a chunk at a time, from wherever they are: arrays, memory maps, iterators, Parquet files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from fwl.errors import InvalidInput, OutputTrouble, UnknownName, WrongShape
from fwl.records import Array, WeakSet, check_encoded

Source = npt.NDArray[Any] | WeakSet | str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Iterable[Any]


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some samples.

    Attributes:
        X: samples, [n, ...].
        weak: what the annotator says of them, [n, C], where it was given.
        kept: columns that are carried along.
    """

    X: npt.NDArray[Any]
    weak: Array | None = None
    kept: pa.Table | None = None


@dataclass(frozen=True)
class Columns:
    """Which columns of a Parquet file are what.

    Attributes:
        features: the samples; None for every column of numbers that is nothing else.
        weak: the annotator's labels, one column for numbers, one per class for classes.
        keep: carried along to the output, such as an id.
    """

    features: tuple[str, ...] | None = None
    weak: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()


def chunks_of(source: Source, size: int, columns: Columns | None = None) -> tuple[Iterator[Chunk], int | None]:
    """The samples in chunks of at most `size` rows, in their order, and how many there are if that is known.

    Args:
        source: an array or memory map; a `WeakSet`; the path of a Parquet file, or several; or an iterator of arrays or
            of (array, weak labels).
        size: the most rows of a chunk.
        columns: which columns of Parquet files are what.
    """
    if size < 1:
        raise InvalidInput(f"chunk is at least 1 row, got {size}")
    if isinstance(source, np.ndarray):
        return _of_arrays(source, None, size), len(source)
    if isinstance(source, WeakSet):
        check_encoded(source)
        return _of_arrays(source.X, source.y, size), len(source.X)
    paths = _as_paths(source)
    if paths is not None:
        files = [_open(path) for path in paths]
        return _of_files(files, size, columns or Columns()), sum(file.metadata.num_rows for file in files)
    return _of_iterator(iter(source), size), None  # type: ignore[arg-type]


def _as_paths(source: Any) -> list[Path] | None:
    if isinstance(source, str | os.PathLike):
        return [Path(source)]
    if isinstance(source, Sequence) and source and all(isinstance(item, str | os.PathLike) for item in source):
        return [Path(item) for item in source]
    return None


def _of_arrays(X: npt.NDArray[Any], weak: Array | None, size: int) -> Iterator[Chunk]:
    for start in range(0, len(X), size):
        rows = slice(start, start + size)
        yield Chunk(np.asarray(X[rows]), None if weak is None else weak[rows])


def _of_iterator(parts: Iterator[Any], size: int) -> Iterator[Chunk]:
    for number, part in enumerate(parts):
        X, weak = part if isinstance(part, tuple) else (part, None)
        if not isinstance(X, np.ndarray):
            raise InvalidInput(f"chunk {number}: expected an array or (array, weak labels), got {type(X).__name__}")
        if weak is not None and len(weak) != len(X):
            raise WrongShape(f"chunk {number}: {len(X)} samples and {len(weak)} weak labels; expected as many")
        yield from _of_arrays(X, weak, size)


def _open(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        raise OutputTrouble(f"{path} cannot be read as Parquet ({str(error).splitlines()[0]})") from error


def _of_files(files: list[pq.ParquetFile], size: int, columns: Columns) -> Iterator[Chunk]:
    features = columns.features
    for file in files:
        names = file.schema_arrow.names
        for name in (*(features or ()), *columns.weak, *columns.keep):
            if name not in names:
                raise UnknownName("column", name, names)
        # The first file says which columns, and in which order; the others are read alike.
        features = features or _numeric(file.schema_arrow, {*columns.weak, *columns.keep})
        wanted = list(dict.fromkeys((*features, *columns.weak, *columns.keep)))
        for batch in file.iter_batches(size, columns=wanted):
            table = pa.Table.from_batches([batch])
            yield Chunk(
                _matrix(table, features),
                _matrix(table, columns.weak).astype(np.float64) if columns.weak else None,
                table.select(list(columns.keep)) if columns.keep else None,
            )


def _numeric(schema: pa.Schema, others: set[str]) -> tuple[str, ...]:
    found = tuple(field.name for field in schema if field.name not in others and _is_number(field.type))
    if not found:
        raise InvalidInput(f"no column of numbers among {', '.join(schema.names)}; name the feature columns")
    return found


def _matrix(table: pa.Table, names: Sequence[str]) -> npt.NDArray[Any]:
    for name in names:
        if not (_is_number(table[name].type) or pa.types.is_boolean(table[name].type)):
            raise InvalidInput(f"column {name!r}: expected numbers, got {table[name].type}; encode it first")
        if table[name].null_count:
            raise InvalidInput(f"column {name!r} has empty cells; fill or drop those rows first")
    return np.stack([table[name].to_numpy() for name in names], axis=1)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))
