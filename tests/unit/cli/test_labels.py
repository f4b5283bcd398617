from pathlib import Path

import pyarrow as pa
import pytest
from tests.refusals import expect_refusal

from fwl.cli.labels import class_names, mapping, task_of, told, weak_classes
from fwl.errors import InvalidInput

FILE = Path("weak.csv")


def column(values, kind=None):
    return pa.chunked_array([pa.array(values, kind)])


@pytest.mark.parametrize(
    ("values", "names"),
    [
        ([" ham", "very good ", "", None], ["ham", "very good", None, None]),
        ([1.0, 2.5, float("nan"), None], ["1", "2.5", None, None]),
        ([3, None, -1], ["3", None, "-1"]),
        ([True, False], ["true", "false"]),
        ([None, None], [None, None]),
    ],
)
def test_classes_are_texts_whatever_the_format_made_of_them(values, names):
    assert class_names(column(values)).to_pylist() == names


def test_lists_are_no_classes():
    message = "labels of kind list<item: int64>; expected texts, numbers, or true and false"
    with expect_refusal(InvalidInput, message):
        class_names(column([[1]]))


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b"], "classify"),
        ([True, False], "classify"),
        ([0, 1, 1, None], "classify"),
        ([1.0, 5.0], "classify"),
        ([0.5, 1.0], "regress"),
        (list(range(11)), "regress"),
    ],
)
def test_labels_look_like_classes_or_numbers(values, task):
    assert task_of("auto", [column(values)], "y") == task


def test_the_user_decides_what_labels_are():
    assert task_of("regress", [column([0, 1])], "y") == "regress"
    assert task_of("classify", [column(list(range(11)))], "y") == "classify"


def test_among_numbers_minus_one_abstains_unless_it_is_a_class():
    assert mapping([], ["0", "1"]) == {"-1": None}
    assert mapping([], ["-1", "1"]) == {}
    assert mapping(["meh=a", "dunno="], ["a", "b"]) == {"meh": "a", "dunno": None}


def test_a_column_for_each_class_holds_probabilities():
    table = pa.table({"b": [0.25, None], "a": [0.75, None]})
    got = weak_classes(table, ["b", "a"], ["a", "b"], {}, FILE)
    assert got["a"].to_pylist()[0] == 0.75
    assert pa.types.is_floating(got["a"].type)


@pytest.mark.parametrize(
    ("labels", "kind", "values"),
    [
        (["0", None, "2"], "int64", [0, None, 2]),
        (["true", "false"], "bool", [True, False]),
        (["ham"], "string", ["ham"]),
        ([1.5, float("nan")], "double", [1.5, None]),
    ],
)
def test_labels_are_told_as_they_came(labels, kind, values):
    assert told(labels, kind).to_pylist() == values
