import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fwl.errors import InvalidInput
from fwl.tables.frames import as_table, is_frame

ROWS = {"n": [1, 2, 3], "c": ["x", "y", "x"]}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_every_library_are_the_same_table(make):
    assert is_frame(make(ROWS))
    assert as_table(make(ROWS)).to_pydict() == ROWS


@pytest.mark.parametrize("other", [np.zeros((2, 2)), [[1]], pd.Series([1]), pl.Series([1]), pa.array([1]), {"a": [1]}])
def test_what_is_no_frame(other):
    assert not is_frame(other)


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(["x", "y", "x"]),
        pa.array(["x", "y", "x"], pa.large_string()),
        pa.array(["x", "y", "x"], pa.string_view()),
    ],
)
def test_categories_of_every_making_are_texts(column):
    make = pd.DataFrame if isinstance(column, pd.Categorical) else pa.table
    table = as_table(make({"c": column}))
    assert table.schema.field("c").type == pa.string()
    assert table["c"].to_pylist() == ["x", "y", "x"]


def test_numbered_categories_are_texts():
    table = as_table(pd.DataFrame({"c": pd.Categorical([3, 1, 3])}))
    assert table["c"].to_pylist() == ["3", "1", "3"]


@pytest.mark.parametrize("index", [[5, 1, 7], pd.Index(["p", "q", "r"], name="key")])
def test_a_pandas_index_is_no_column(index):
    assert as_table(pd.DataFrame(ROWS, index=index)).column_names == ["n", "c"]


def test_columns_named_by_numbers_are_taken():
    assert as_table(pd.DataFrame(np.zeros((2, 2)))).column_names == ["0", "1"]


def test_a_column_of_mixed_values_is_refused():
    with pytest.raises(InvalidInput, match=r"this frame cannot be read \(.*\); expected one kind of value"):
        as_table(pd.DataFrame({"a": [1, "x"]}))
