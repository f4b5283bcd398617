"""Indices side by side: this package's BM25 against bm25s and tantivy, in one run.

    python -m benchmarks.retrieval [--documents N,...] [--queries N] [--rounds N] [--json FILE]

Documents are 200 terms each, drawn from a seed out of 200,000 with probability 1 / (rank + 50): the commonest is in
two of five documents, as is usual once stop words are gone. Queries are 2 to 6 terms drawn alike: half of them are in
less than one document of a hundred. Everybody ranks by BM25 with k1 = 1.2 and b = 0.75 and gives the best 1,000.

Everybody is handed the same lists of tokens, made before the clock starts, and runs in a process of its own after it
indexed and searched a few documents, in rounds that take turns. bm25s has its numba back end, compiled; tantivy keeps
its index in memory, has one writer thread and is handed the tokens as one text for its whitespace tokeniser. Its
answers are not turned into Python's numbers within the time, ours and bm25s's are arrays.

    build_s        seconds from tokens to an index that can be searched: best round
    build_mb       the most memory held meanwhile, above what was held with libraries and tokens loaded
    queries_per_s  from tokens to the best 1,000 documents, on one thread: best of several times all queries
    all_cores      the same on all cores
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from benchmarks.peers.child import forget_peak, peak_mb
from fwl.randomness import Chance

ROOT = Path(__file__).resolve().parent.parent
TERMS, FLATTENED, LENGTH = 200_000, 50, 200
SHORTEST, LONGEST, BEST = 2, 6, 1000
WARM_UP = 50  # documents and queries that libraries are compiled and loaded with
TIMES = 3  # that all queries are asked, on one thread and on all
CHUNK = 10_000  # documents drawn at a time
DOCUMENTS, QUERIES = "documents.bin", "queries.json"
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")

Tokens = list[list[str]]


class Peer(Protocol):
    """A search engine under measurement."""

    def build(self, documents: Tokens) -> None:
        """Index them."""

    def search(self, queries: Tokens, threads: int) -> None:
        """The best documents of every query."""


class Own:
    """This package's."""

    def build(self, documents: Tokens) -> None:
        """In memory."""
        from fwl.annotate import BM25, InvertedIndex

        self._ranking = BM25(InvertedIndex.of((str(number), tokens) for number, tokens in enumerate(documents)))

    def search(self, queries: Tokens, threads: int) -> None:
        """All of them at once."""
        self._ranking.search(queries, BEST, threads)


class Bm25s:
    """As its documentation advises for speed."""

    def build(self, documents: Tokens) -> None:
        """Its scores are made here already."""
        import bm25s

        self._ranking = bm25s.BM25(method="lucene", k1=1.2, b=0.75, backend="numba")
        self._ranking.compile()
        self._ranking.index(documents, show_progress=False)
        self._best = min(BEST, len(documents))

    def search(self, queries: Tokens, threads: int) -> None:
        """All of them at once."""
        self._ranking.retrieve(queries, k=self._best, show_progress=False, n_threads=threads)


class Tantivy:
    """Rust's, through its bindings."""

    def build(self, documents: Tokens) -> None:
        """One writer thread, merged before it is searched."""
        import tantivy

        schema = tantivy.SchemaBuilder()
        schema.add_text_field("body", tokenizer_name="whitespace", index_option="freq")
        self._schema = schema.build()
        index = tantivy.Index(self._schema)
        writer = index.writer(num_threads=1)
        for tokens in documents:
            writer.add_document(tantivy.Document(body=" ".join(tokens)))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        self._searcher = index.searcher()

    def search(self, queries: Tokens, threads: int) -> None:
        """One after the other, or on so many threads."""
        if threads == 1:
            for query in queries:
                self._answer(query)
            return
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(self._answer, queries))

    def _answer(self, query: list[str]) -> None:
        from tantivy import Occur, Query

        terms = [(Occur.Should, Query.term_query(self._schema, "body", term)) for term in query]
        self._searcher.search(Query.boolean_query(terms), limit=BEST, count=False)


OWN, BM25S, TANTIVY = "fwl BM25", "bm25s", "tantivy"
PEERS: dict[str, Callable[[], Peer]] = {OWN: Own, BM25S: Bm25s, TANTIVY: Tantivy}


def draw_terms(rng: np.random.Generator, size: int | tuple[int, int]) -> np.ndarray:
    """Term numbers with probability 1 / (number + 50), by the inverse of its sum."""
    share = rng.random(size)
    return (FLATTENED * ((TERMS + FLATTENED) / FLATTENED) ** share - FLATTENED).astype(np.int32)


def draw_task(folder: Path, documents: int, queries: int, chance: Chance) -> None:
    """Leave the terms of all documents and the queries in the folder."""
    rng = chance.child("documents").numpy()
    with (folder / DOCUMENTS).open("wb") as file:
        for start in range(0, documents, CHUNK):
            draw_terms(rng, (min(CHUNK, documents - start), LENGTH)).tofile(file)
    rng = chance.child("queries").numpy()
    lengths = rng.integers(SHORTEST, LONGEST + 1, size=queries)
    drawn = [np.unique(draw_terms(rng, length)).tolist() for length in lengths]
    (folder / QUERIES).write_text(json.dumps(drawn))


def read_task(folder: Path) -> tuple[Tokens, Tokens]:
    """Documents and queries as tokens."""
    words = [f"term{number}" for number in range(TERMS)]
    terms = np.fromfile(folder / DOCUMENTS, dtype=np.int32).reshape(-1, LENGTH)
    documents = [[words[term] for term in row.tolist()] for row in terms]
    return documents, [[words[term] for term in query] for query in json.loads((folder / QUERIES).read_text())]


def answer(name: str, folder: Path) -> dict[str, float]:
    """Measure one peer in this process."""
    documents, queries = read_task(folder)
    warm = PEERS[name]()
    warm.build(documents[:WARM_UP])
    for threads in (1, -1):
        warm.search(queries[:WARM_UP], threads)
    peer = PEERS[name]()
    forget_peak()
    before = peak_mb()
    started = time.perf_counter()
    peer.build(documents)
    build_s = time.perf_counter() - started
    build_mb = peak_mb() - before
    one, all_cores = (len(queries) / fastest(peer, queries, threads) for threads in (1, -1))
    return {"build_s": build_s, "build_mb": build_mb, "queries_per_s": one, "all_cores": all_cores}


def fastest(peer: Peer, queries: Tokens, threads: int) -> float:
    seconds = []
    for _ in range(TIMES):
        started = time.perf_counter()
        peer.search(queries, threads)
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def run_child(name: str, folder: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.retrieval", "--child", name, str(folder)]
    environment = os.environ | dict.fromkeys(THREADS, "1")
    done = subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(names: Sequence[str], documents: int, queries: int, rounds: int) -> list[dict[str, Any]]:
    """One row for each; the best of all rounds, but the most memory."""
    answers: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        draw_task(Path(folder), documents, queries, Chance(0).child(documents))
        for _ in range(rounds):
            for name in names:
                answers[name].append(run_child(name, Path(folder)))
    best: dict[str, Callable[..., float]] = {"build_s": min, "build_mb": max, "queries_per_s": max, "all_cores": max}
    return [
        {"name": name, "documents": documents, **{key: pick(row[key] for row in rows) for key, pick in best.items()}}
        for name, rows in answers.items()
    ]


def promises(rows: Sequence[dict[str, Any]]) -> list[tuple[str, bool]]:
    """What was promised and whether these rows, all of one size, keep it."""
    row = {row["name"]: row for row in rows}
    own, other = row[OWN], row[BM25S]
    fastest_other = max((row for row in rows if row is not own), key=lambda row: row["queries_per_s"])
    faster = own["queries_per_s"] / fastest_other["queries_per_s"]
    sooner, less = other["build_s"] / own["build_s"], own["build_mb"] / other["build_mb"]
    return [
        (f"{faster:.2f}x the queries a second of {fastest_other['name']} (at least 1.3x the faster)", faster >= 1.3),
        (f"builds {sooner:.2f}x as fast as bm25s (no slower)", sooner >= 1.0),
        (f"with {less:.2f} of its memory (at most half)", less <= 0.5),
    ]


def show(rows: Sequence[dict[str, Any]]) -> None:
    """The table, and what it says about the promises."""
    print(f"{'':14}{'documents':>11}{'build_s':>10}{'build_mb':>10}{'queries_per_s':>15}{'all_cores':>11}")
    for row in rows:
        built = f"{row['build_s']:10.1f}{row['build_mb']:10.0f}"
        print(f"{row['name']:14}{row['documents']:11,}{built}{row['queries_per_s']:15,.0f}{row['all_cores']:11,.0f}")
    for documents in dict.fromkeys(row["documents"] for row in rows):
        for text, kept in promises([row for row in rows if row["documents"] == documents]):
            print(f"{'OK' if kept else 'MISSED':8}{documents:,} documents: {text}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", default="100000,500000", help="sizes, separated by commas")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=2, help="times that each is built")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        print(json.dumps(answer(options.child[0], Path(options.child[1]))))
        return
    names = [name for name in PEERS if name != TANTIVY or find_spec("tantivy")]
    rows = [
        row
        for documents in options.documents.split(",")
        for row in measure(names, int(documents), options.queries, options.rounds)
    ]
    show(rows)
    if TANTIVY not in names:
        print("tantivy is not installed and has no row.")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
