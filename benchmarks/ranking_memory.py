"""Weak pairs without number and documents without end: does memory stay where it is?

    python -m benchmarks.ranking_memory [--json FILE] [--size full|small]

Weak pairs: 1,000 rankings of 1,000 documents each are held, and 10^5, 10^6 and 10^7 pairs are drawn from them, 65,536
at a time, as a training asks for them.

Index: documents of 200 terms, drawn as in `benchmarks.retrieval`, come one at a time and are indexed into a folder
under a limit that the system sets (RLIMIT_DATA, all memory that no file stands behind), with 64 MB for postings; then a
hundred queries are answered from the folder under the same limit. The largest is tried once more in memory, which the
limit has to stop: else it would limit nothing. Each in a process of its own.

    seconds    to draw all pairs; from the first document to the last answer
    peak_mb    the most memory held above what was held before: anonymous pages, looked up a hundred times a second
    limit_mb   what the system allows above what was held before
    data_mb    all pairs with their labels as arrays; all files of the index
    outcome    "done", or "out of memory"

The goal: the same memory for a hundred times the pairs, and an index that is larger than the limit.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.retrieval import LENGTH, LONGEST, TERMS, draw_terms
from benchmarks.scale import PeakMemory
from fwl.annotate import BM25, InvertedIndex, WeakPairs
from fwl.randomness import Chance

PAIRS, INDEX, IN_MEMORY = "weak pairs", "index from a stream", "index in memory"
DONE, OUT_OF_MEMORY = "done", "out of memory"
A_PAIR = 3 * 4 + 8  # bytes: three numbers and a label
STEADY_MB = 16.0  # that more pairs may take than fewer: what the system gives back late
SOME = 1000  # documents drawn at a time
BEST = 1000


@dataclass(frozen=True)
class Size:
    """How large everything is.

    Attributes:
        pairs: the growing numbers of pairs.
        rankings: that they are drawn from.
        hits: of each ranking.
        at_once: pairs drawn at a time.
        documents: the growing numbers of documents.
        limit_mb: set by the system.
        postings_mb: that the index may use for postings.
        queries: answered from the index.
    """

    pairs: tuple[int, ...]
    rankings: int
    hits: int
    at_once: int
    documents: tuple[int, ...]
    limit_mb: float
    postings_mb: float
    queries: int


SIZES = {
    "full": Size((10**5, 10**6, 10**7), 1000, 1000, 65536, (250_000, 1_000_000), 256.0, 64.0, 100),
    "small": Size((1000, 4000), 20, 50, 512, (2000,), 200.0, 0.5, 10),
}


def draw_pairs(n: int, size: Size) -> dict[str, Any]:
    """One row, measured in this process."""
    rng = Chance(0).child("rankings").numpy()
    documents = 10 * size.hits
    rankings = [(rng.permutation(documents)[: size.hits], rng.gamma(2.0, size=size.hits)) for _ in range(size.rankings)]
    weak = WeakPairs(rankings, unretrieved=0.1, documents=documents, chance=Chance(0))
    weak.weak_set(size.at_once)  # what is loaded on first use
    preferred = drawn = 0
    with PeakMemory() as peak:
        started = time.perf_counter()
        for one in islice(weak.weak_sets(size.at_once), -(-n // size.at_once)):
            drawn += len(one.y)
            preferred += int((one.y > 0.5).sum())
        seconds = time.perf_counter() - started
    if drawn < n or not 0.4 < preferred / drawn < 0.6:
        raise RuntimeError(f"{drawn} pairs came instead of {n}, {preferred} of them with the first document preferred")
    return row_of(PAIRS, n, seconds, peak.mb, None, n * A_PAIR / 2**20, DONE)


def stream(documents: int) -> Iterator[tuple[str, list[str]]]:
    """Documents as they come, a thousand of them in memory."""
    words = [f"term{number}" for number in range(TERMS)]
    rng = Chance(0).child("documents").numpy()
    for start in range(0, documents, SOME):
        for place, row in enumerate(draw_terms(rng, (min(SOME, documents - start), LENGTH)).tolist()):
            yield f"document-{start + place}", [words[term] for term in row]


def limit_memory(megabytes: float) -> None:
    """Let the process take so much more than it has."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmData"))
    held = int(line.split()[1]) * 1024
    resource.setrlimit(resource.RLIMIT_DATA, (held + int(megabytes * 2**20), resource.RLIM_INFINITY))


def search_all(index: InvertedIndex, queries: int) -> int:
    """How many documents some queries find."""
    rng = Chance(0).child("queries").numpy()
    asked = [[f"term{term}" for term in np.unique(draw_terms(rng, LONGEST))] for _ in range(queries)]
    return sum(len(hits.documents) for hits in BM25(index).search(asked, BEST, workers=1))


def build_and_search(kind: str, documents: int, size: Size) -> dict[str, Any]:
    """One row, measured in this process, which is limited from here on."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        search_all(InvertedIndex.write(stream(50), path, memory_mb=0.01), 2)  # what is compiled on first use
        outcome = DONE
        limit_memory(size.limit_mb)
        with PeakMemory() as peak:
            started = time.perf_counter()
            try:
                index = (
                    InvertedIndex.write(stream(documents), path, memory_mb=size.postings_mb)
                    if kind == INDEX
                    else InvertedIndex.of(stream(documents))
                )
                search_all(index, size.queries)
            except MemoryError:
                outcome = OUT_OF_MEMORY
            seconds = time.perf_counter() - started
        files = sum(file.stat().st_size for file in path.iterdir()) / 2**20 if kind == INDEX else None
    return row_of(kind, documents, seconds, peak.mb, size.limit_mb, files, outcome)


def row_of(
    what: str, n: int, seconds: float, peak_mb: float, limit_mb: float | None, data_mb: float | None, outcome: str
) -> dict[str, Any]:
    return {
        "what": what,
        "n": n,
        "seconds": seconds,
        "peak_mb": peak_mb,
        "limit_mb": limit_mb,
        "data_mb": data_mb,
        "outcome": outcome,
    }


def apart(work: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """One row, measured in a new process: what others left in memory would hide its own, and limits stay."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(work, *arguments).result()


def promises(rows: Sequence[dict[str, Any]]) -> list[tuple[str, bool]]:
    """What was promised and whether these rows keep it."""
    pairs = [row for row in rows if row["what"] == PAIRS]
    largest = max((row for row in rows if row["what"] == INDEX), key=lambda row: row["n"])
    (stopped,) = (row for row in rows if row["what"] == IN_MEMORY)
    more = max(row["peak_mb"] for row in pairs) - pairs[0]["peak_mb"]
    beyond = largest["data_mb"] / largest["limit_mb"]
    return [
        (
            f"{pairs[-1]['n']:,} pairs took {more:+.0f} MB over {pairs[0]['n']:,} (at most {STEADY_MB:.0f})",
            more <= STEADY_MB,
        ),
        (f"an index of {beyond:.1f} times the limit: {largest['outcome']}", largest["outcome"] == DONE and beyond > 1),
        (f"the same in memory: {stopped['outcome']}", stopped["outcome"] == OUT_OF_MEMORY),
    ]


def show(row: dict[str, Any]) -> None:
    limit, data = (f"{row[key]:9.0f}" if row[key] is not None else f"{'':9}" for key in ("limit_mb", "data_mb"))
    print(f"{row['what']:22}{row['n']:12,}{row['seconds']:9.1f}{row['peak_mb']:9.0f}{limit}{data}  {row['outcome']}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the rows here")
    parser.add_argument("--size", choices=SIZES, default="full", help="small only shows that everything runs")
    options = parser.parse_args(arguments)
    size, rows = SIZES[options.size], []
    cases: list[tuple[Any, ...]] = [(draw_pairs, pairs, size) for pairs in size.pairs]
    cases += [(build_and_search, INDEX, documents, size) for documents in size.documents]
    cases += [(build_and_search, IN_MEMORY, size.documents[-1], size)]
    print(f"{'':22}{'n':>12}{'seconds':>9}{'peak_mb':>9}{'limit_mb':>9}{'data_mb':>9}  outcome")
    for case in cases:
        rows.append(apart(*case))
        show(rows[-1])
        sys.stdout.flush()
    if options.size == "full":
        for text, kept in promises(rows):
            print(f"{'OK' if kept else 'MISSED':8}{text}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
