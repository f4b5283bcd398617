from pathlib import Path

import pyarrow as pa
from tests.refusals import expect_refusal

from fwl.cli.kinds import of_one_kind
from fwl.cli.roles import Sheet
from fwl.errors import InvalidInput


def sheet(name, values):
    return Sheet(Path(name), pa.table({"a": values}))


def values_of(sheets):
    return [sheet.table["a"].to_pylist() for sheet in sheets]


def test_tables_of_one_kind_stay_as_they_are():
    sheets = [sheet("strong.csv", [1, 2]), sheet("weak.csv", [0.5, None])]
    assert values_of(of_one_kind(sheets, ["a"])) == [[1, 2], [0.5, None]]


def test_an_empty_column_is_of_any_kind():
    sheets = [sheet("strong.csv", [1, 2]), sheet("weak.csv", pa.nulls(2))]
    assert values_of(of_one_kind(sheets, ["a"])) == [[1, 2], [None, None]]


def test_numbers_among_words_are_words():
    sheets = [sheet("strong.csv", [7, 12]), sheet("weak.csv", ["7", "K1", "K2", None])]
    assert values_of(of_one_kind(sheets, ["a"])) == [["7", "12"], ["7", "K1", "K2", None]]


def test_a_word_among_numbers_is_refused_with_its_row():
    sheets = [sheet("strong.csv", [7, 12]), sheet("weak.csv", ["7", "", "much", "8"])]
    message = (
        "weak.csv, row 3: column 'a': expected a number, as in strong.csv, got 'much'; correct the cell, or leave it "
        "empty"
    )
    with expect_refusal(InvalidInput, message):
        of_one_kind(sheets, ["a"])
    assert values_of(of_one_kind(sheets, [])) == [[7, 12], ["7", "", "much", "8"]]  # a column that is not learned from
