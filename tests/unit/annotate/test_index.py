import json
from dataclasses import replace

import numpy as np
import pytest

from fwl.annotate import BM25, InvertedIndex, index
from fwl.annotate.names import Names
from fwl.errors import InvalidInput, OutputTrouble, WrongShape
from fwl.storage import MANIFEST
from tests.refusals import expect_refusal
from tests.retrieval import index_of, token_lists

SMALL = [("one", ["good", "day", "good"]), ("two", ["day"]), ("three", []), ("vier", ["día", "day"])]
ARRAYS = ("offsets", "items", "frequencies")


def same(one, other):
    return (
        list(one.documents) == list(other.documents)
        and list(one.terms) == list(other.terms)
        and np.array_equal(one.lengths, other.lengths)
        and all(np.array_equal(getattr(one.postings, name), getattr(other.postings, name)) for name in ARRAYS)
        and dict(one.settings) == dict(other.settings)
    )


@pytest.fixture(scope="module")
def small():
    return InvertedIndex.of(SMALL, {"analyser": {"stemmer": ""}})


def test_it_tells_documents_terms_and_lengths(small):
    assert list(small.documents) == ["one", "two", "three", "vier"]
    assert small.lengths.tolist() == [3, 1, 0, 2]
    assert small.numbers == {"good": 0, "day": 1, "día": 2}
    assert small.document_frequencies.tolist() == [1, 3, 1]
    assert small.forward.items.tolist() == [0, 1, 1, 1, 2]
    assert small.forward.frequencies.tolist() == [2, 1, 1, 1, 1]
    assert small.forward.offsets.tolist() == [0, 2, 3, 3, 5]


def test_documents_are_found_by_their_ids(small):
    numbers = small.document_numbers(["vier", "one", "vier"])
    assert numbers.tolist() == [3, 0, 3]
    assert numbers.dtype == np.int32
    assert small.document_numbers([]).tolist() == []
    with expect_refusal(InvalidInput, "document id 'five' is not among the 4 of the index"):
        small.document_numbers(["one", "five"])


def test_nothing_in_it_can_be_changed(small):
    with pytest.raises(ValueError, match="read-only"):
        small.lengths[0] = 7


def test_saved_and_loaded_it_is_the_same(small, tmp_path):
    loaded = InvertedIndex.load(small.save(tmp_path / "index"))
    assert same(loaded, small)
    assert isinstance(loaded.postings.items.base, np.memmap) or isinstance(loaded.postings.items, np.memmap)
    assert same(InvertedIndex.load(loaded.save(tmp_path / "again")), small)


def test_a_loaded_one_ranks_alike(tmp_path):
    made = index_of(token_lists(50))
    loaded = InvertedIndex.load(made.save(tmp_path / "index"))
    for one, other in zip(*(BM25(one).search([["w1", "w5"]], workers=1)[0] for one in (made, loaded)), strict=True):
        assert np.array_equal(one, other)


def test_it_replaces_itself_in_place(small, tmp_path):
    path = small.save(tmp_path / "index")
    loaded = InvertedIndex.load(path)
    InvertedIndex.of(SMALL[:2]).save(path)
    assert list(InvertedIndex.load(path).documents) == ["one", "two"]
    assert list(loaded.documents) == ["one", "two", "three", "vier"]  # what was mapped stays
    assert [entry.name for entry in tmp_path.iterdir()] == ["index"]


@pytest.mark.parametrize("memory_mb", [1e-6, 1e-4, 1024])
def test_written_from_a_stream_it_is_the_same(small, tmp_path, memory_mb):
    written = InvertedIndex.write(iter(SMALL), tmp_path / "index", small.settings, memory_mb)
    assert same(written, small)
    assert {entry.name for entry in tmp_path.iterdir()} == {"index"}
    assert not [entry for entry in (tmp_path / "index").iterdir() if entry.is_dir()]


@pytest.mark.parametrize("documents", [[("one", [])], [("one", []), ("", [])]])
def test_documents_without_a_term_are_kept_and_never_found(documents, tmp_path):
    for made in (InvertedIndex.of(documents), InvertedIndex.write(documents, tmp_path / "index")):
        assert list(made.documents) == [name for name, _ in documents]
        assert made.lengths.tolist() == [0] * len(documents)
        (hits,) = BM25(made).search([["good"]], workers=1)
        assert hits.documents.tolist() == []


def test_strange_ids_and_terms_come_back(tmp_path):
    strange = [("\ud800", ["\udfff", "a\nb"]), ("\x00", ["", "ü" * 300]), ("q 7\t", ["a\nb"])]
    made = InvertedIndex.write(strange, tmp_path / "index")
    assert list(made.documents) == [name for name, _ in strange]
    assert list(made.terms) == ["\udfff", "a\nb", "", "ü" * 300]


def test_an_id_that_comes_twice_is_refused(tmp_path):
    twice = [*SMALL, ("two", ["other"])]
    message = "document id 'two' comes twice, as document 2 and 5; give every document its own"
    with expect_refusal(InvalidInput, message):
        InvertedIndex.of(twice)
    with expect_refusal(InvalidInput, message):
        InvertedIndex.write(twice, tmp_path / "index")
    assert not list(tmp_path.iterdir())


def test_a_stream_that_breaks_leaves_nothing_behind(small, tmp_path):
    def broken():
        yield from SMALL
        raise InvalidInput("corpus.jsonl, line 5: broken")

    path = small.save(tmp_path / "index")
    with expect_refusal(InvalidInput, "corpus.jsonl, line 5: broken"):
        InvertedIndex.write(broken(), path, memory_mb=1e-6)
    assert same(InvertedIndex.load(path), small)
    assert [entry.name for entry in tmp_path.iterdir()] == ["index"]


def test_an_empty_collection_is_refused(tmp_path):
    for index_it in (InvertedIndex.of, lambda documents: InvertedIndex.write(documents, tmp_path / "index")):
        with expect_refusal(InvalidInput, "documents: expected at least one, got none"):
            index_it([])


@pytest.mark.parametrize("memory_mb", [0, -1.0, float("nan")])
def test_no_memory_at_all_is_refused(tmp_path, memory_mb):
    with expect_refusal(InvalidInput, f"memory_mb: expected a number above 0, got {memory_mb}"):
        InvertedIndex.write(SMALL, tmp_path / "index", memory_mb=memory_mb)


def test_parts_that_do_not_belong_together_are_refused(small):
    with expect_refusal(
        WrongShape,
        "index: expected an id and a length for each of 4 documents and a name for each of 3 terms, got 1, 4 and 3",
    ):
        replace(small, documents=Names.of(["one"]))


def test_arrays_that_are_whole_but_no_index_are_refused(small, tmp_path, monkeypatch):
    monkeypatch.setattr(index, "_append", lambda out, ends, lengths, terms: None)
    path = tmp_path / "index"
    small.save(path)
    with expect_refusal(
        OutputTrouble,
        f"{path} is no index of this package (postings: expected ascending offsets and numbers from 0 to -1); "
        "build it again",
    ):
        InvertedIndex.load(path)


def test_settings_are_kept_as_json_has_them(tmp_path):
    path = InvertedIndex.of(SMALL, {"b": [1, None], "a": "ü"}).save(tmp_path / "index")
    assert json.loads((path / MANIFEST).read_text())["settings"] == {"a": "ü", "b": [1, None]}
    assert InvertedIndex.load(path).settings == {"b": [1, None], "a": "ü"}
