"""A million rows of a user's own through `fwl fit`, `soft-labels`, `suggest` and `predict`: how long, how much memory?

    python -m benchmarks.million_rows [--rows N] [--formats parquet,csv] [--json FILE]

Twenty columns of normal numbers in double precision and an id; the class says whether x0 + x1 x2 is above zero; weak
labels are wrong every fourth time; 300 more rows have strong labels. Each command in a process of its own.

    file_mb      the weak file's size
    seconds      from start to end, everything loaded anew
    cpu_s        the processor's time for it, which a busy machine does not lengthen
    peak_mb      the most memory the process ever held
    above_mb     the same less the weak file's size

The goal: above_mb stays under 2,048.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from fwl.randomness import Chance
from fwl.tables.writing import table_writer, write_table

ROWS = 1_000_000
STRONG = 300
COLUMNS = 20
WRONG = 0.25
AT_ONCE = 50_000  # rows drawn at a time: this process has to stay small, its size counts as its children's at birth
FORMATS = ("parquet", "csv")
RUN = "from fwl.cli.main import run; run()"


def drawn(rows: int) -> Iterator[pa.Table]:
    """So many rows with id, features, class and weak label, some at a time."""
    rng = Chance(0).child("a million rows").numpy()
    for start in range(0, rows, AT_ONCE):
        n = min(AT_ONCE, rows - start)
        X = rng.normal(size=(n, COLUMNS))
        label = np.where(X[:, 0] + X[:, 1] * X[:, 2] > 0, "up", "down")
        other = np.where(label == "up", "down", "up")
        weak = np.where(rng.random(n) < WRONG, other, label)
        features = {f"x{i}": X[:, i] for i in range(COLUMNS)}
        ids = pa.array([f"r{row}" for row in range(start, start + n)])
        yield pa.table({"id": ids, **features, "label": label, "weak": weak})


def write_files(folder: Path, rows: int, ending: str) -> tuple[Path, Path]:
    """The strong file and the weak one; the weak labels of the strong rows are known too."""
    strong, weak = folder / f"strong.{ending}", folder / f"weak.{ending}"
    chunks = drawn(STRONG + rows)
    first = next(chunks)
    write_table(first.slice(0, STRONG), strong)
    with table_writer(weak) as write:
        write(first.slice(STRONG).drop_columns(["label"]))
        for chunk in chunks:
            write(chunk.drop_columns(["label"]))
    return strong, weak


def commands(folder: Path, strong: Path, weak: Path) -> dict[str, list[str]]:
    """Each command's arguments, in the order in which they have to run."""
    model, ending = str(folder / "model"), weak.suffix
    files = ["--strong", str(strong), "--weak", str(weak), "--label", "label", "--weak-label", "weak"]
    return {
        "fit": ["fit", *files, "--out", model],
        "soft-labels": ["soft-labels", model, "--out", str(folder / f"soft{ending}")],
        "suggest": ["suggest", model, "-n", "50", "--out", str(folder / f"next{ending}")],
        "predict": ["predict", model, str(weak), "--out", str(folder / f"predicted{ending}")],
    }


def measured(arguments: Sequence[str]) -> dict[str, float]:
    """Run `fwl` in a process of its own, and what that took."""
    started = time.perf_counter()
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", RUN, *arguments], os.environ)
    _, status, used = os.wait4(child, 0)
    if status:
        raise SystemExit(f"fwl {' '.join(arguments)}: ended with {os.waitstatus_to_exitcode(status)}")
    return {
        "seconds": time.perf_counter() - started,
        "cpu_s": used.ru_utime + used.ru_stime,
        "peak_mb": used.ru_maxrss / 1024,
    }


def measure(rows: int, ending: str) -> Iterator[dict[str, Any]]:
    """A row for each command on files of that format."""
    with tempfile.TemporaryDirectory() as name:
        strong, weak = write_files(Path(name), rows, ending)
        size = weak.stat().st_size / 2**20
        for command, arguments in commands(Path(name), strong, weak).items():
            found = measured(arguments)
            about = {"command": command, "format": ending, "rows": rows, "file_mb": size}
            yield {**about, **found, "above_mb": found["peak_mb"] - size}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--formats", default=",".join(FORMATS), help="with commas between")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    options = parser.parse_args(arguments)
    rows: list[dict[str, Any]] = []
    for ending in options.formats.split(","):
        for row in measure(options.rows, ending):
            rows.append(row)
            figures = "".join(f"  {key} {row[key]:,.0f}" for key in ("seconds", "cpu_s", "peak_mb", "above_mb"))
            print(
                f"{row['command']:12}{ending:8}{row['rows']:>10,} rows, {row['file_mb']:,.0f} MB:{figures}", flush=True
            )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
