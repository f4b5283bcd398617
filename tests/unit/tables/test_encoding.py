import json

import numpy as np
import pyarrow as pa
import pytest
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput, NotFinite, UnknownName
from fwl.tables.encoding import MISSING, MOST, TableEncoding, fit_encoding


def columns(**values):
    return pa.table(values)


def matrix(table, encoding=None):
    return (encoding or fit_encoding(table)).matrix(table)


def test_numbers_are_standardised():
    rows, missing = matrix(columns(a=[1.0, 2.0, 3.0, 6.0]))
    np.testing.assert_allclose([rows.mean(), rows.std()], [0.0, 1.0], atol=1e-12)
    assert missing == [0]


@pytest.mark.parametrize("values", [[1, 2, 4], [True, False, True], pa.array([1, 2, 4], pa.int8())])
def test_numbers_of_every_type_are_numbers(values):
    assert matrix(columns(a=values))[0].shape == (3, 1)


def test_missing_numbers_become_the_mean_and_are_marked_and_counted():
    table = columns(a=[1.0, None, 3.0, float("nan")])
    rows, missing = matrix(table)
    np.testing.assert_allclose(rows, [[-1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    assert missing == [2]


def test_numbers_missing_later_become_the_mean_and_are_counted():
    encoding = fit_encoding(columns(a=[1.0, 3.0]))
    rows, missing = encoding.matrix(columns(a=[None, 1.0]))
    assert rows.tolist() == [[0.0], [-1.0]]
    assert missing == [1]


def test_categories_have_a_column_each_and_one_for_the_others():
    table = columns(c=["x"] * 6 + ["y"] * 5 + ["z"])
    encoding = fit_encoding(table)
    rows, _ = encoding.matrix(columns(c=["x", "y", "z", "never seen"]))
    assert rows.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    assert encoding.described([0])["columns"] == [
        {"column": "c", "kind": "categories", "missing": 0, "categories": 2, "pooled": 1}
    ]


def test_missing_categories_are_a_category():
    table = columns(c=["x", "x", None, "", "  ", "x"])
    encoding = fit_encoding(table)
    rows, missing = encoding.matrix(table)
    assert encoding.columns[0].values == ("(missing)", "x")
    assert rows.tolist() == [[0, 1, 0]] * 2 + [[1, 0, 0]] * 3 + [[0, 1, 0]]
    assert missing == [3]
    assert MISSING in encoding.columns[0].values


def test_very_many_categories_are_pooled():
    table = columns(c=[f"c{i}" for i in range(80) for _ in range(10)])
    (column,) = fit_encoding(table).columns
    assert (len(column.values), column.pooled) == (MOST, 30)


def test_columns_that_say_nothing_are_dropped_and_told():
    table = columns(
        same=[3, 3, 3], empty=pa.nulls(3), name=["x", "x", "x"], used=[1, 2, 3], none=pa.array([None] * 3, pa.float64())
    )
    encoding = fit_encoding(table)
    assert encoding.names == ["used"]
    assert dict(encoding.dropped) == {
        "same": "all cells are the same",
        "empty": "every cell is empty",
        "name": "all cells are the same",
        "none": "every cell is empty",
    }


def test_ids_and_free_texts_are_dropped_and_told():
    table = columns(id=[f"row {i}" for i in range(100)], x=list(range(100)))
    assert dict(fit_encoding(table).dropped) == {"id": "100 different texts, none seen 5 times: ids, or free text"}


def test_an_encoding_comes_back_from_json():
    table = columns(a=[1.0, None, 7.1], c=["x", "y", "x"], d=[1, 1, 1])
    encoding = fit_encoding(table)
    again = TableEncoding.from_spec(json.loads(json.dumps(encoding.as_spec())))
    assert again == encoding
    assert np.array_equal(again.matrix(table)[0], encoding.matrix(table)[0])


def test_an_unknown_kind_of_column_is_refused():
    with pytest.raises(UnknownName, match="unknown kind of column 'exec'"):
        TableEncoding.from_spec({"columns": [{"kind": "exec"}]})


def test_no_column_left_is_refused():
    message = "no column can be learned from (a: all cells are the same)"
    with expect_refusal(InvalidInput, message):
        fit_encoding(columns(a=[1, 1]))


def test_dates_are_refused_by_name():
    import datetime

    message = "column 'when' holds date32[day]; expected numbers, texts or true and false: convert it, or leave it out"
    with expect_refusal(InvalidInput, message):
        fit_encoding(columns(when=[datetime.date(2020, 1, 1)] * 2))


def test_infinity_is_refused_by_name():
    with expect_refusal(NotFinite, "column 'a': infinity in 1 of 2 rows (row 1); fix them"):
        fit_encoding(columns(a=[1.0, float("inf")]))


def test_a_column_that_is_missing_later_is_named():
    with expect_refusal(UnknownName, "unknown column 'ab'; did you mean 'abc'? known: abc"):
        fit_encoding(columns(ab=[1, 2])).matrix(columns(abc=[1]))


def test_numbers_that_come_as_texts_later_are_read_and_an_odd_one_is_named():
    encoding = fit_encoding(columns(a=[1.0, 3.0]))
    rows, missing = encoding.matrix(columns(a=["1", "", "3.0"]))
    assert rows.tolist() == [[-1.0], [0.0], [1.0]]
    assert missing == [1]
    with expect_refusal(InvalidInput, "column 'a': expected numbers, got 'odd'"):
        encoding.matrix(columns(a=["1", "odd"]))
