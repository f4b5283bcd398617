from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwl.annotate import gathering as room
from fwl.annotate.gathering import Gathering, Spilled, merged
from fwl.annotate.names import Names
from fwl.annotate.postings import offsets_of
from fwl.errors import InvalidInput
from tests.properties import PROPERTY
from tests.refusals import expect_refusal

TEXTS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), min_size=1, max_size=9)


def gathered(documents, most=None):
    ids = bytearray()
    gathering = Gathering(ids.extend)
    runs = list(gathering.runs(documents, most))
    return gathering, runs, Names(np.frombuffer(ids, dtype=np.uint8), gathering.id_ends)


def named(texts):
    return [(f"d{i}", text) for i, text in enumerate(texts)]


def plain_postings(texts):
    """Term -> document -> how often, in the order in which terms first come."""
    counts = [Counter(text) for text in texts]
    terms = dict.fromkeys(term for text in texts for term in text)
    return {term: {i: count[term] for i, count in enumerate(counts) if term in count} for term in terms}


def as_dictionary(terms, offsets, items, frequencies):
    return {
        term: dict(zip(items[a:b].tolist(), frequencies[a:b].tolist(), strict=True))
        for term, a, b in zip(terms, offsets[:-1], offsets[1:], strict=True)
    }


@PROPERTY
@given(TEXTS)
def test_a_run_has_each_term_its_documents_in_order(texts):
    gathering, (run,), ids = gathered(named(texts))
    made = run.postings(gathering.terms)
    found = as_dictionary(gathering.vocabulary(), *made.arrays)
    assert found == plain_postings(texts)
    assert all(list(of_term) == sorted(of_term) for of_term in found.values())
    assert list(ids) == [f"d{i}" for i in range(len(texts))]
    assert gathering.lengths.tolist() == [len(text) for text in texts]


@PROPERTY
@given(TEXTS, st.integers(1, 8))
def test_runs_end_with_the_document_that_makes_them_full(texts, most):
    gathering, runs, _ = gathered(named(texts), most)
    assert [run.first for run in runs] == [0, *np.cumsum([len(run.lengths) for run in runs])[:-1].tolist()]
    assert np.concatenate([run.lengths for run in runs]).tolist() == [len(text) for text in texts]
    for run in runs[:-1]:
        assert run.lengths.sum() >= most > run.lengths[:-1].sum()
    assert np.concatenate([run.tokens for run in runs]).tolist() == [
        list(gathering.vocabulary()).index(token) for text in texts for token in text
    ]


@pytest.mark.parametrize(("most", "at_once"), [(1, 1), (3, 2), (7, 100)])
def test_runs_put_aside_and_merged_are_one(tmp_path, most, at_once):
    texts = [list(text) for text in ("abca", "", "bd", "dde", "a", "fabc", "e")]
    gathering = Gathering(lambda _: None)
    spilled = []
    for run in gathering.runs(named(texts), most):
        spilled.append(Spilled.write(run.postings(gathering.terms), tmp_path / str(len(spilled))))
    offsets = offsets_of(sum(run.counts(gathering.terms) for run in spilled))
    pieces = list(merged(spilled, offsets, at_once))
    items, frequencies = (np.concatenate(column) for column in zip(*pieces, strict=True))
    assert as_dictionary(gathering.vocabulary(), offsets, items, frequencies) == plain_postings(texts)
    assert all(len(piece) <= max(at_once, np.diff(offsets).max()) for piece, _ in pieces)


def test_more_occurrences_than_can_be_told_apart_count_as_the_most():
    gathering, (run,), _ = gathered([("d0", ["a"] * 70_000), ("d1", ["a"])])
    made = run.postings(gathering.terms)
    assert made.frequencies.tolist() == [65535, 1]
    assert gathering.lengths.tolist() == [70_000, 1]


def test_an_id_that_comes_twice_is_refused_with_both_places():
    gathering, _, ids = gathered([("d0", []), ("d1", ["a"]), ("d2", []), ("d1", ["b"])])
    with expect_refusal(InvalidInput, "document id 'd1' comes twice, as document 2 and 4; give every document its own"):
        gathering.check_ids(ids)


def test_ids_of_the_same_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(room, "hash", lambda _: 7, raising=False)
    gathering, _, ids = gathered([("d0", []), ("d1", []), ("d2", [])])
    gathering.check_ids(ids)


def test_no_documents_are_refused():
    with expect_refusal(InvalidInput, "documents: expected at least one, got none"):
        gathered([])


def test_a_text_in_place_of_tokens_is_refused():
    with expect_refusal(InvalidInput, "document 'd1': expected its tokens, got a text; tokenise it first"):
        gathered([("d0", ["a"]), ("d1", "a text")])


def test_an_id_that_is_no_string_is_refused():
    with expect_refusal(InvalidInput, "documents: expected ids that are strings, got 7"):
        gathered([(7, ["a"])])


def test_tokens_that_are_no_strings_are_refused():
    gathering, _, _ = gathered([("d0", ["a", 3])])
    with expect_refusal(InvalidInput, "documents: expected tokens that are strings, got 3"):
        gathering.vocabulary()
