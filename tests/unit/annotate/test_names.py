import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwl.annotate.names import Names
from tests.properties import PROPERTY

ANY = st.text(st.characters(), max_size=5)  # lone surrogates too: JSON can hold them


@PROPERTY
@given(st.lists(ANY, max_size=8))
def test_names_are_read_as_the_list_that_they_were(listed):
    names = Names.of(listed)
    assert len(names) == len(listed)
    assert list(names) == listed
    assert [names[place] for place in range(-len(listed), len(listed))] == listed + listed
    assert names[1:] == listed[1:]
    assert names[::-2] == listed[::-2]


def test_a_number_of_numpy_is_a_place_too():
    names = Names.of(["good", "día"])
    assert [names[number] for number in np.array([1, 0], dtype=np.int32)] == ["día", "good"]


@pytest.mark.parametrize("place", [2, -3])
def test_a_place_beyond_them_is_refused(place):
    with pytest.raises(IndexError):
        Names.of(["a", "b"])[place]


def test_they_are_a_sequence():
    names = Names.of(["a", "b", "a"])
    assert "b" in names
    assert "c" not in names
    assert names.index("b") == 1
    assert names.count("a") == 2
