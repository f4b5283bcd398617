import numpy as np
import pytest

from fwl.errors import InvalidInput, UnknownName
from fwl.experiments.collections import Sources, _graded, _judged, _of_splits, load
from fwl.experiments.made_collection import MadeCollection
from fwl.randomness import Chance
from fwl.text.beir import BeirFolder
from fwl.text.collection import Judgments

MADE = Sources("", "bm25", "", "", 8, "auto", "auto", 100, 50)


def but(**changes):
    return Sources(**{**vars(MADE), **changes})


@pytest.fixture(scope="module")
def ready():
    return load(MADE)


@pytest.fixture
def split(tmp_path):
    """A collection with judgments in two splits: 12 queries each."""
    MadeCollection(documents=40, queries=24).write(tmp_path, Chance(0))
    lines = (tmp_path / "qrels.tsv").read_text().splitlines(keepends=True)[1:]
    for name, low in (("train", 0), ("test", 12)):
        part = [line for line in lines if low <= int(line.split("\t")[0][1:]) < low + 12]
        (tmp_path / f"qrels_{name}.tsv").write_text("".join(part))
    (tmp_path / "qrels.tsv").unlink()
    return BeirFolder(tmp_path)


def test_every_part_has_its_size(ready):
    Q, N, T = len(ready.queries), len(ready.searcher.index.lengths), len(ready.searcher.index.terms)
    assert ready.relevant.shape == (Q, N)
    assert ready.words.shape == (T, 8)
    assert len(ready.query_bags) == Q + len(ready.weak)
    assert len(ready.document_bags) == N
    assert np.isfinite(ready.importance).all()


def test_every_query_has_a_relevant_document(ready):
    assert ready.relevant.any(axis=1).all()
    assert set(ready.judgments) == {query.id for query in ready.queries}


def test_no_judged_query_is_a_weak_one_by_its_id(ready):
    assert len(ready.weak) <= MADE.weak_queries
    assert all(len(hits.documents) >= 10 for hits in ready.weak.hits)


def test_few_judged_queries_are_drawn_alike_each_time():
    one, same = (load.__wrapped__(but(most_queries=7)) for _ in range(2))
    assert len(one.queries) == 7
    assert one.queries == same.queries
    assert one.sha256 == same.sha256


def test_a_train_split_is_left_out_only_where_the_others_are_enough(split, monkeypatch):
    every = _of_splits(split, "auto")
    assert len(every) > len(split.judgments("test"))
    monkeypatch.setattr("fwl.experiments.collections.ENOUGH_QUERIES", 3)
    assert set(_of_splits(split, "auto")) == set(split.judgments("test"))
    assert set(_of_splits(split, "train, test")) == set(every)


def test_queries_judged_in_another_split_may_serve_as_weak_ones(split):
    queries, judgments = _judged(split, but(splits="test"))
    assert {query.id for query in queries} == set(judgments) <= set(split.judgments("test"))


def test_codes_are_no_scale():
    codes, scale = Judgments({"q": {"a": 1, "b": 4, "c": -1}}), Judgments({"q": {"a": 1, "b": 4, "c": 0}})
    assert _graded(codes, "auto")["q"] == {"a": 1, "b": 1, "c": 0}
    assert _graded(scale, "auto")["q"] == {"a": 1, "b": 4, "c": 0}
    assert _graded(scale, "binary")["q"] == {"a": 1, "b": 1, "c": 0}
    with pytest.raises(UnknownName, match="grades"):
        _graded(scale, "stars")


def test_more_documents_than_it_can_hold_are_refused(monkeypatch):
    monkeypatch.setattr("fwl.experiments.collections.MOST_CELLS", 3000)
    with pytest.raises(InvalidInput, match="240 documents: this experiment holds the scores of all of them"):
        load.__wrapped__(MADE)
