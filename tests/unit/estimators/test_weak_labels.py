import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from tests.refusals import expect_refusal

from fwl.annotate.votes import Ballots, Votes
from fwl.errors import InvalidInput, WrongShape
from fwl.estimators.weak_labels import ClassReader, read_numbers

READER = ClassReader(("ham", "spam"))
NUMBERED = ClassReader((0, 1))

VOTES_AS = {
    "texts": np.array([["ham", ""], ["spam", "spam"], ["", "ham"]]),
    "objects": np.array([["ham", None], ["spam", "spam"], [np.nan, "ham"]], dtype=object),
    "pandas": pd.DataFrame({"a": ["ham", "spam", None], "b": [None, "spam", "ham"]}),
    "polars": pl.DataFrame({"a": ["ham", "spam", None], "b": [None, "spam", "ham"]}),
    "coded": Votes(np.array([[0, -1], [1, 1], [-1, 0]]), codes={0: "ham", 1: "spam"}),
    "coded floats": Votes(np.array([[0.0, np.nan], [1.0, 1.0], [np.nan, 0.0]]), codes={0: "ham", 1: "spam"}),
    "sparse": Votes(scipy.sparse.csr_matrix([[1, 0], [2, 2], [0, 1]]), codes={1: "ham", 2: "spam"}),
}


@pytest.mark.parametrize("given", VOTES_AS.values(), ids=VOTES_AS.keys())
def test_votes_are_the_same_however_they_come(given):
    read = READER.read(given, 3)
    assert isinstance(read, Ballots)
    assert read.matrix().tolist() == [[0, -1], [1, 1], [-1, 0]]


def test_a_frames_columns_name_the_annotators():
    assert READER.read(VOTES_AS["pandas"], 3).names == ("a", "b")
    assert READER.read(VOTES_AS["texts"], 3).names == ("annotator 0", "annotator 1")
    assert READER.read(Votes(VOTES_AS["texts"], names=["x", "y"]), 3).names == ("x", "y")


ONE_EACH = {
    "list": ["ham", None, "spam"],
    "series": pd.Series(["ham", None, "spam"]),
    "missing": pd.Series(["ham", pd.NA, "spam"], dtype="string"),
    "polars": pl.Series(["ham", None, "spam"]),
    "blank": np.array(["ham", "  ", "spam"]),
}


@pytest.mark.parametrize("given", ONE_EACH.values(), ids=ONE_EACH.keys())
def test_one_class_a_sample_is_one_annotators_vote(given):
    read = READER.read(given, 3)
    assert read.names == ("weak",)
    assert read.matrix().tolist() == [[0], [-1], [1]]


@pytest.mark.parametrize("given", [[0, 1, -1], [0.0, 1.0, np.nan], [[0.0], [1.0], [-1.0]]])
def test_numbers_as_classes_abstain_by_minus_one_or_nan(given):
    assert NUMBERED.read(given, 3).matrix().tolist() == [[0], [1], [-1]]


def test_minus_one_may_be_a_class():
    assert ClassReader((-1, 1)).read([-1, 1], 2).matrix().tolist() == [[0], [1]]


def test_distributions_are_told_from_votes_by_their_rows():
    given = np.array([[0.2, 0.8], [1.0, 0.0], [np.nan, np.nan]])
    np.testing.assert_array_equal(NUMBERED.read(given, 3), given)
    assert isinstance(NUMBERED.read(np.array([[0, 0], [1, 1]]), 2), Ballots)
    assert isinstance(NUMBERED.read(Votes(np.array([[0, 1], [1, 0]])), 2), Ballots)  # said so


def test_a_frame_with_a_column_for_each_class_holds_distributions():
    frame = pl.DataFrame({"spam": [0.9, None], "ham": [0.1, None]})
    np.testing.assert_array_equal(READER.read(frame, 2), [[0.1, 0.9], [np.nan, np.nan]])


def test_a_column_for_each_class_has_to_sum_to_one():
    message = (
        "weak labels: a column for each class holds probabilities, expected rows that sum to 1, got [0.5, 0.9] in row "
        "0; leave all cells of a row empty for an abstention"
    )
    with expect_refusal(InvalidInput, message):
        READER.read(pl.DataFrame({"spam": [0.9], "ham": [0.5]}), 1)


def test_other_names_are_mapped_to_classes_or_to_abstentions():
    reader = ClassReader(("ham", "spam"), {"junk": "spam", "unsure": None})
    assert reader.read(["junk", "unsure", "ham"], 3).matrix().tolist() == [[1], [-1], [0]]


def test_classes_that_no_strong_label_names_are_refused_by_name():
    message = (
        "weak labels: 'eggs', 'junk' not among the classes of the strong labels ('ham', 'spam'); map them with "
        "class_map={'eggs': 'ham'}, or to None for an abstention, or name all classes"
    )
    with expect_refusal(InvalidInput, message):
        READER.read(["junk", "ham", "eggs"], 3)


def test_many_unknown_classes_are_named_in_part():
    with pytest.raises(InvalidInput, match="'c0', 'c1', 'c2', 'c3', 'c4' and 3 more not among"):
        READER.read([f"c{i}" for i in range(8)], 8)


def test_numbers_without_a_fraction_are_shown_whole():
    with pytest.raises(InvalidInput, match=r"weak labels: 8 not among .* class_map=\{8: 0\}"):
        NUMBERED.read(np.array([8.0, 1.0]), 2)


def test_unknown_codes_are_refused_with_the_known_ones():
    with pytest.raises(InvalidInput, match=r"weak labels: 2 not among .*, nor among the codes \(0, 1\)"):
        READER.read(Votes([[2]], codes={0: "ham", 1: "spam"}), 1)


def test_a_map_to_no_class_is_refused():
    message = "class_map: 'junk' is mapped to 'eggs', which is no class of the strong labels ('ham', 'spam')"
    with expect_refusal(InvalidInput, message):
        ClassReader(("ham", "spam"), {"junk": "eggs"})


def test_a_sparse_matrix_in_which_zero_is_a_class_is_refused():
    message = (
        "sparse votes: 0 is a class here, and a sparse matrix stores no zeros; number the classes from 1 and say what "
        "they stand for with Votes(matrix, codes={1: ..., 2: ...}), or give a dense matrix"
    )
    with expect_refusal(InvalidInput, message):
        NUMBERED.read(scipy.sparse.csr_matrix([[0, 1]]), 1)


def test_explicit_zeros_of_a_sparse_matrix_are_votes():
    entries = scipy.sparse.csr_matrix(([0, 1], ([0, 1], [0, 0])), shape=(2, 2))
    assert NUMBERED.read(entries, 2).matrix().tolist() == [[0, -1], [1, -1]]


def test_labels_of_another_length_than_their_samples_are_refused():
    with expect_refusal(WrongShape, "weak labels have 2 rows and their samples 3; expected as many"):
        READER.read(["ham", "spam"], 3)


def test_labels_of_three_dimensions_are_refused():
    with expect_refusal(WrongShape, "weak labels: expected [N], or [N, L] for L annotators, got shape (1, 1, 1)"):
        READER.read(np.array([[["ham"]]]), 1)


def test_names_that_are_not_as_many_as_annotators_are_refused():
    with expect_refusal(WrongShape, "votes: 2 annotators and 1 names (x); expected as many"):
        READER.read(Votes(VOTES_AS["texts"], names=["x"]), 3)


def test_numbers_of_annotators_come_in_columns_with_gaps():
    values, names = read_numbers([1.0, None, 3.0], 3)
    np.testing.assert_array_equal(values, [[1.0], [np.nan], [3.0]])
    assert names == ("weak",)
    values, names = read_numbers(pl.DataFrame({"a": [1, 2], "b": [None, 4.5]}), 2)
    np.testing.assert_array_equal(values, [[1.0, np.nan], [2.0, 4.5]])
    assert names == ("a", "b")


def test_infinite_numbers_are_refused():
    message = "weak labels: infinity among them; drop those rows, or make them NaN for an abstention"
    with expect_refusal(InvalidInput, message):
        read_numbers([1.0, np.inf], 2)


def test_numbers_of_another_length_are_refused():
    with expect_refusal(WrongShape, "weak labels have shape (2,) and there are 3 samples; expected as many"):
        read_numbers([1.0, 2.0], 3)
