"""Soft labels for ten million samples: does the time grow with the samples, and the memory not?

    python -m benchmarks.scale [--json FILE] [--most N] [--jobs N] [--size full|small]

A `ClusteredGP` of 2,000 strong samples in 10 clusters softens 100,000, a million and ten million samples of 300 columns
to Parquet, through `fwl.learn.stream.soften` and a `Softener` as a user would. The samples are random numbers, made a
chunk at a time while the softening asks for them. Besides, a million from a memory-mapped file and from an array in
memory. Each in a process of its own.

    seconds        from the call to the finished file
    features_s     of these, spent on making samples: none where they are there before
    samples_per_s  over the rest of the seconds
    peak_mb        the most memory held above what was held before the call: anonymous pages, looked up a hundred times
                   a second. Pages of a mapped file are not counted: they are the input's own, and the system takes them
                   back when it needs them. An array in memory is held before the call.
    file_mb        the Parquet file

The goal: time in proportion to the samples, and for a million less than 1 GB above the input's own.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from fwl.learn.eyes import OneStudent
from fwl.learn.fitted import fit_teacher
from fwl.learn.recipe import Teaching
from fwl.learn.soften import Softener
from fwl.learn.stream import CHUNK, soften
from fwl.learn.task import REGRESSION
from fwl.randomness import Chance
from fwl.records import StrongSet
from fwl.students.perceptron import Perceptron
from fwl.teach import ClusteredGP
from fwl.teach.selection import starting_kernel

MOST_MB = 1000.0  # above the input's own, for a million samples
MADE, MAPPED, IN_MEMORY = "made as asked for", "memory-mapped file", "array in memory"


@dataclass(frozen=True)
class Size:
    """How large everything is.

    Attributes:
        samples: the growing numbers of samples that are made while they are softened.
        beforehand: samples of the file and of the array.
        columns: of every sample.
        strong: strong samples.
        clusters: of the teacher.
        chunk: samples softened at a time.
    """

    samples: tuple[int, ...]
    beforehand: int
    columns: int
    strong: int
    clusters: int
    chunk: int


SIZES = {
    "full": Size((10**5, 10**6, 10**7), 10**6, 300, 2000, 10, CHUNK),
    "small": Size((1000, 4000), 4000, 20, 200, 2, 512),
}


class Stopwatch:
    """Random samples, a chunk at a time, and the seconds it took to make them."""

    def __init__(self, samples: int, size: Size) -> None:
        self._samples, self._size, self.seconds = samples, size, 0.0

    def __iter__(self) -> Iterator[np.ndarray]:
        for start in range(0, self._samples, self._size.chunk):
            started = time.perf_counter()
            made = make_chunk(start, min(self._size.chunk, self._samples - start), self._size.columns)
            self.seconds += time.perf_counter() - started
            yield made


class PeakMemory:
    """Inside, a thread keeps looking how much anonymous memory the process holds; `mb` is the most above the start."""

    EVERY_S = 0.01

    def __enter__(self) -> PeakMemory:
        self._start = self._peak = anonymous_mb()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
        self.mb = self._peak - self._start

    def _look(self) -> None:
        while not self._over.wait(self.EVERY_S):
            self._peak = max(self._peak, anonymous_mb())


def anonymous_mb() -> float:
    """Memory of this process that no file stands behind."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) / 1024


def make_chunk(start: int, samples: int, columns: int) -> np.ndarray:
    """The samples from number `start` on, in single precision."""
    rng = Chance(0).child("samples", start).numpy()
    return rng.standard_normal((samples, columns), dtype=np.float32)


def new_softener(size: Size) -> Softener:
    """A fitted teacher that looks at the samples as they are; it never asks its student."""
    rng = Chance(0).child("strong").numpy()
    X = rng.standard_normal((size.strong, size.columns))
    y = np.tanh(X @ rng.normal(size=(size.columns, 1)) / np.sqrt(size.columns))
    kernel = starting_kernel(X, y)
    teaching = Teaching(lambda: ClusteredGP(size.clusters, kernel=kernel), input="x", standardise=True)
    nobody = OneStudent(Perceptron(size.columns, 1, (2,), chance=Chance(0)))
    return Softener(fit_teacher(nobody, StrongSet(X, y), X, teaching, REGRESSION))


def array_of(kind: str, samples: int, size: Size, folder: Path) -> np.ndarray:
    """All samples beforehand, in memory or in a file that is mapped."""
    shape, path = (samples, size.columns), folder / "samples.npy"
    mapped = kind == MAPPED
    array = np.lib.format.open_memmap(path, "w+", np.float32, shape) if mapped else np.empty(shape, dtype=np.float32)
    for start in range(0, samples, size.chunk):
        rows = array[start : start + size.chunk]
        rows[:] = make_chunk(start, len(rows), size.columns)
    if not mapped:
        return array
    array.flush()
    return np.load(path, mmap_mode="r", allow_pickle=False)


def measure(kind: str, samples: int, size: Size, jobs: int) -> dict[str, Any]:
    """One row, measured in this process."""
    softener = new_softener(size)
    softener(make_chunk(0, size.chunk, size.columns))  # what is compiled on first use: the same second for any number
    with tempfile.TemporaryDirectory() as folder:
        out, made = Path(folder) / "soft.parquet", Stopwatch(samples, size)
        source = made if kind == MADE else array_of(kind, samples, size, Path(folder))
        with PeakMemory() as peak:
            started = time.perf_counter()
            soften(source, softener, out, chunk=size.chunk, jobs=jobs)
            seconds = time.perf_counter() - started
        written = pq.ParquetFile(out).metadata.num_rows
        if written != samples:
            raise RuntimeError(f"{samples} samples went in and {written} soft labels came out")
        return {
            "source": kind,
            "samples": samples,
            "columns": size.columns,
            "seconds": seconds,
            "features_s": made.seconds,
            "samples_per_s": samples / (seconds - made.seconds),
            "peak_mb": peak.mb,
            "file_mb": out.stat().st_size / 2**20,
        }


def measure_apart(kind: str, samples: int, size: Size, jobs: int) -> dict[str, Any]:
    """One row, measured in a new process: what others left in memory would hide its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(measure, kind, samples, size, jobs).result()


def show_growth(rows: Sequence[dict[str, Any]]) -> None:
    """How time and memory grow with the samples."""
    for less, more in pairwise(row for row in rows if row["source"] == MADE):
        time_, memory = (more[key] / max(less[key], 1e-3) for key in ("seconds", "peak_mb"))
        print(f"{less['samples']:,} to {more['samples']:,} samples: time x {time_:.2f}, memory x {memory:.2f}")


def show_promise(rows: Sequence[dict[str, Any]]) -> None:
    """Whether a million samples took little enough memory, wherever they came from."""
    held = [row["peak_mb"] for row in rows if row["samples"] == 10**6]
    if held:
        verdict = "OK" if max(held) < MOST_MB else "MISSED"
        print(
            f"{verdict:8}a million samples took {max(held):.0f} MB above the input's own (less than {MOST_MB:.0f} MB)"
        )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the rows here")
    parser.add_argument("--most", type=int, default=10**7, help="leave out what has more samples")
    parser.add_argument("--jobs", type=int, default=-1, help="workers; -1 for one per core")
    parser.add_argument("--size", choices=SIZES, default="full", help="small only shows that everything runs")
    options = parser.parse_args(arguments)
    size, rows = SIZES[options.size], []
    cases = [(MADE, samples) for samples in size.samples]
    cases += [(kind, size.beforehand) for kind in (MAPPED, IN_MEMORY)]
    heads = f"{'seconds':>9}{'features_s':>12}{'samples_per_s':>15}{'peak_mb':>9}{'file_mb':>9}"
    print(f"{'source':22}{'samples':>12}{heads}")
    for kind, samples in cases:
        if samples > options.most:
            continue
        print(f"{samples:,} samples, {kind}", file=sys.stderr)
        row = measure_apart(kind, samples, size, options.jobs)
        rows.append(row)
        speed = f"{row['seconds']:9.1f}{row['features_s']:12.1f}{row['samples_per_s']:15,.0f}"
        print(f"{kind:22}{samples:12,}{speed}{row['peak_mb']:9.0f}{row['file_mb']:9.1f}")
    show_growth(rows)
    show_promise(rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
