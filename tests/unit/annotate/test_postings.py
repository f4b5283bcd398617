import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwl.annotate.postings import Postings, offsets_of
from fwl.errors import InvalidInput, WrongShape
from tests.properties import PROPERTY
from tests.refusals import expect_refusal

LISTS = st.lists(st.dictionaries(st.integers(0, 6), st.integers(1, 65535), max_size=7), max_size=6)


def postings(lists, range_=7):
    """From dictionaries: member -> how often."""
    ordered = [sorted(one.items()) for one in lists]
    flat = [entry for one in ordered for entry in one]
    return Postings(
        offsets_of(np.array([len(one) for one in ordered], dtype=np.int64)),
        np.array([item for item, _ in flat], dtype=np.int32),
        np.array([count for _, count in flat], dtype=np.uint16),
        range_,
    )


def as_lists(made):
    return [
        {int(item): int(count) for item, count in zip(made.items[a:b], made.frequencies[a:b], strict=True)}
        for a, b in zip(made.offsets[:-1], made.offsets[1:], strict=True)
    ]


def test_offsets_add_up_counts():
    assert offsets_of(np.array([2, 0, 3])).tolist() == [0, 2, 2, 5]
    assert offsets_of(np.array([], dtype=np.int64)).tolist() == [0]


@PROPERTY
@given(LISTS)
def test_transposed_each_member_has_its_lists(lists):
    made = postings(lists).transposed()
    assert as_lists(made) == [{i: one[item] for i, one in enumerate(lists) if item in one} for item in range(7)]
    assert made.range == len(lists)


@PROPERTY
@given(LISTS)
def test_transposed_twice_they_are_what_they_were(lists):
    again = postings(lists).transposed().transposed()
    for one, other in zip(again.arrays, postings(lists).arrays, strict=True):
        assert np.array_equal(one, other)


def test_nothing_in_them_can_be_changed():
    made = postings([{1: 2}])
    for array in made.arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_a_missing_frequency_is_refused():
    with expect_refusal(WrongShape, "postings: expected a frequency for each, got 1"):
        Postings(np.array([0, 2]), np.array([0, 1], dtype=np.int32), np.ones(1, dtype=np.uint16), 3)


@pytest.mark.parametrize("offsets", [[], [1, 2], [0, 1], [0, 3]])
def test_offsets_that_do_not_span_them_are_refused(offsets):
    with expect_refusal(WrongShape, "postings: expected offsets from 0 to 2, the number of postings"):
        Postings(np.array(offsets, dtype=np.int64), np.zeros(2, dtype=np.int32), np.ones(2, dtype=np.uint16), 3)


@pytest.mark.parametrize(("offsets", "items"), [([0, 2], [0, 3]), ([0, 2], [-1, 0]), ([0, 2, 1, 2], [0, 1])])
def test_what_would_lead_compiled_loops_astray_is_refused(offsets, items):
    with expect_refusal(InvalidInput, "postings: expected ascending offsets and numbers from 0 to 2"):
        Postings(np.array(offsets), np.array(items, dtype=np.int32), np.ones(2, dtype=np.uint16), 3)
