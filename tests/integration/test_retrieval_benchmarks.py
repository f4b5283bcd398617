"""The benchmarks of retrieval and of its memory run, small; what they measure is never asserted."""

import json
import math

import numpy as np
import pytest
from benchmarks import ranking_memory, retrieval

from fwl.randomness import Chance

FEW = ranking_memory.SIZES["small"]


@pytest.fixture
def own_alone(monkeypatch):
    """In this process, without the others: compiling and loading them would take most of the time."""
    monkeypatch.setattr(retrieval, "PEERS", {retrieval.OWN: retrieval.Own})
    monkeypatch.setattr(retrieval, "run_child", retrieval.answer)


def test_a_peer_gets_a_whole_row(own_alone):
    (row,) = retrieval.measure([retrieval.OWN], documents=300, queries=60, rounds=2)
    assert (row["name"], row["documents"]) == (retrieval.OWN, 300)
    assert set(row) == {"name", "documents", "build_s", "build_mb", "queries_per_s", "all_cores"}
    assert all(math.isfinite(value) for value in row.values() if not isinstance(value, str))


def test_everybody_is_handed_the_same_documents_and_queries(tmp_path):
    retrieval.draw_task(tmp_path, 30, 12, Chance(3))
    documents, queries = retrieval.read_task(tmp_path)
    assert [len(document) for document in documents] == [retrieval.LENGTH] * 30
    assert all(1 <= len(query) == len(set(query)) <= retrieval.LONGEST for query in queries)
    retrieval.draw_task(tmp_path, 30, 12, Chance(3))
    assert retrieval.read_task(tmp_path) == (documents, queries)


def test_terms_are_drawn_as_is_usual():
    terms = retrieval.draw_terms(Chance(0).numpy(), 200_000)
    assert terms.min() >= 0
    assert terms.max() < retrieval.TERMS
    counts = np.bincount(terms)
    whole = sum(1 / (rank + retrieval.FLATTENED) for rank in range(retrieval.TERMS))
    assert counts[0] / 200_000 == pytest.approx(1 / retrieval.FLATTENED / whole, rel=0.1)


def row_of(name, **numbers):
    return {"name": name, "documents": 10, "build_s": 1.0, "build_mb": 50.0, "queries_per_s": 130.0, **numbers}


def test_promises_of_retrieval_are_kept_at_their_edge_and_missed_beyond_it():
    peer = row_of(retrieval.BM25S, build_mb=100.0, queries_per_s=100.0)
    other = row_of(retrieval.TANTIVY, queries_per_s=90.0)
    assert [kept for _, kept in retrieval.promises([row_of(retrieval.OWN), peer, other])] == [True] * 3
    slow = row_of(retrieval.OWN, build_s=1.1, build_mb=51.0, queries_per_s=129.0)
    assert [kept for _, kept in retrieval.promises([slow, peer])] == [False] * 3


def test_memory_gets_a_row_for_each_number_and_kind(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(ranking_memory, "apart", lambda work, *arguments: work(*arguments))
    monkeypatch.setattr(ranking_memory, "limit_memory", lambda megabytes: None)  # it would stay with this process
    path = tmp_path / "rows.json"
    ranking_memory.main(["--size", "small", "--json", str(path)])
    rows = json.loads(path.read_text())
    assert [row["n"] for row in rows] == [*FEW.pairs, *FEW.documents, FEW.documents[-1]]
    assert {row["outcome"] for row in rows} == {ranking_memory.DONE}
    assert len(capsys.readouterr().out.splitlines()) == 1 + len(rows)  # promises are about the full size


def memory_row(what, n, peak_mb, data_mb=None, outcome=ranking_memory.DONE):
    return ranking_memory.row_of(what, n, 1.0, peak_mb, 100.0, data_mb, outcome)


def test_promises_of_memory_are_kept_at_their_edge_and_missed_beyond_it():
    pairs = [memory_row(ranking_memory.PAIRS, 10, 5.0), memory_row(ranking_memory.PAIRS, 1000, 21.0)]
    index = memory_row(ranking_memory.INDEX, 10, 90.0, data_mb=101.0)
    stopped = memory_row(ranking_memory.IN_MEMORY, 10, 99.0, outcome=ranking_memory.OUT_OF_MEMORY)
    assert [kept for _, kept in ranking_memory.promises([*pairs, index, stopped])] == [True] * 3
    grown = [pairs[0], {**pairs[1], "peak_mb": 21.1}]
    small, not_stopped = {**index, "data_mb": 100.0}, {**stopped, "outcome": ranking_memory.DONE}
    assert [kept for _, kept in ranking_memory.promises([*grown, small, not_stopped])] == [False] * 3
