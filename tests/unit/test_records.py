import dataclasses

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse

from fwl.errors import InvalidInput, NotFinite, WrongShape
from fwl.records import (
    Posterior,
    Result,
    Row,
    SoftSet,
    StrongSet,
    WeakSet,
    as_matrix,
    as_samples,
    as_vector,
    check_encoded,
)
from tests.refusals import expect_refusal


def checked_weak(X, y):
    """A weak set as a `Problem` takes it."""
    weak = WeakSet(X, y)
    check_encoded(weak)
    return weak


LABELLED = pytest.mark.parametrize(("record", "name"), [(checked_weak, "weak"), (StrongSet, "strong")])
BROKEN = pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])


@LABELLED
def test_a_vector_of_labels_becomes_a_column_of_floats(record, name):
    labelled = record([[1, 2], [3, 4]], [0, 1])
    np.testing.assert_array_equal(labelled.y, [[0.0], [1.0]])
    assert labelled.y.dtype == np.float64


@LABELLED
def test_samples_keep_their_type_and_their_dimensions(record, name):
    images = np.zeros((2, 3, 4), dtype=np.uint8)
    assert record(images, [0, 1]).X.dtype == np.uint8
    assert record(images, [0, 1]).X.shape == (2, 3, 4)


@LABELLED
def test_labels_of_another_length_are_refused(record, name):
    message = f"{name} samples has 3 rows and {name} labels has 2; they describe the same samples"
    with expect_refusal(WrongShape, message):
        record(np.zeros((3, 1)), [0.0, 1.0])


@LABELLED
@BROKEN
def test_broken_samples_are_refused_with_their_rows(record, name, broken):
    X = np.zeros((9, 2))
    X[[1, 4], 1] = broken
    message = f"{name} samples: NaN or infinity in 2 of 9 rows (rows 1, 4); drop or fill them first"
    with expect_refusal(NotFinite, message):
        record(X, np.zeros(9))


@LABELLED
@BROKEN
def test_broken_labels_are_refused_with_their_rows(record, name, broken):
    message = f"{name} labels: NaN or infinity in 7 of 9 rows (rows 0, 1, 2, 3, 4, ...); drop or fill them first"
    with expect_refusal(NotFinite, message):
        record(np.zeros((9, 2)), [broken] * 7 + [0.0] * 2)


@LABELLED
def test_no_samples_are_refused(record, name):
    with expect_refusal(InvalidInput, f"{name} samples: the set is empty, expected at least one row"):
        record(np.zeros((0, 2)), [])


@LABELLED
def test_no_labels_are_refused(record, name):
    with expect_refusal(InvalidInput, f"{name} labels: the set is empty, expected at least one row"):
        record(np.zeros((2, 2)), [])


@LABELLED
def test_a_single_number_is_not_a_set_of_samples(record, name):
    with expect_refusal(WrongShape, f"{name} samples: expected one row per sample, got a single float"):
        record(1.0, [1.0])


@LABELLED
def test_rows_of_different_lengths_are_refused(record, name):
    with expect_refusal(WrongShape, f"{name} samples: expected rows of one length, got [[1, 2], [3]]"):
        record([[1, 2], [3]], [0, 1])


@LABELLED
def test_words_are_no_samples(record, name):
    with expect_refusal(InvalidInput, f"{name} samples: expected numbers, got <U4; encode other columns first"):
        record(["good", "bad"], [1, 0])


@LABELLED
def test_words_are_no_labels(record, name):
    with expect_refusal(InvalidInput, f"{name} labels: expected numbers, got ['good', 'bad']"):
        record(np.zeros((2, 1)), ["good", "bad"])


@LABELLED
def test_labels_of_three_dimensions_are_refused(record, name):
    message = f"{name} labels: expected a vector or a matrix [N, C], got shape (2, 1, 1)"
    with expect_refusal(WrongShape, message):
        record(np.zeros((2, 1)), np.zeros((2, 1, 1)))


@LABELLED
def test_a_record_cannot_be_changed(record, name):
    labelled = record([[1.0]], [1.0])
    with pytest.raises(dataclasses.FrozenInstanceError):
        labelled.y = np.zeros((1, 1))


@LABELLED
def test_labels_are_a_copy(record, name):
    y = np.ones((1, 1))
    labelled = record([[1.0]], y)
    y[0] = 5.0
    assert labelled.y[0, 0] == 1.0


def test_strong_samples_carry_no_weak_labels_unless_the_annotator_was_asked():
    assert StrongSet([[1.0]], [1.0]).weak is None


def test_weak_labels_of_strong_samples_are_a_copy_in_a_column_of_floats():
    weak = np.array([0, 1])
    strong = StrongSet([[1.0], [2.0]], [0.5, 0.5], weak)
    weak[0] = 7
    np.testing.assert_array_equal(strong.weak, [[0.0], [1.0]])
    assert strong.weak.dtype == np.float64


@pytest.mark.parametrize("shape", [(2, 1), (3, 2), (2,)])
def test_weak_labels_of_another_shape_than_the_strong_are_refused(shape):
    got = (*shape, 1)[:2]
    message = f"weak labels of the strong samples has shape {got} and strong labels has shape (2, 2); expected the same"
    with expect_refusal(WrongShape, message):
        StrongSet(np.zeros((2, 3)), np.zeros((2, 2)), np.zeros(shape))


@BROKEN
def test_broken_weak_labels_of_strong_samples_are_refused(broken):
    message = "weak labels of the strong samples: NaN or infinity in 1 of 2 rows (rows 1); drop or fill them first"
    with expect_refusal(NotFinite, message):
        StrongSet([[1.0], [2.0]], [0.0, 1.0], [0.0, broken])


def test_words_are_no_weak_labels_of_strong_samples():
    with expect_refusal(InvalidInput, "weak labels of the strong samples: expected numbers, got ['good']"):
        StrongSet([[1.0]], [1.0], ["good"])


def test_the_weak_pool_has_no_length_to_slice():
    assert not hasattr(WeakSet([[1.0]], [1.0]), "__len__")


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (["a text", "another"], [0, 1]),
        (np.zeros((2, 1)), ["good", "bad"]),
        (np.zeros((2, 1)), [0.0, np.nan]),
        (np.zeros((2, 1)), [None, 1]),
        (scipy.sparse.eye(2), [0, 1]),
        (pa.table({"a": ["x", "y"]}), [0, 1]),
    ],
    ids=["texts", "names", "gaps", "none", "sparse", "frame"],
)
def test_a_weak_set_keeps_what_estimators_encode_as_it_came(X, y):
    weak = WeakSet(X, y)
    assert weak.X is X
    assert weak.y is y
    assert not weak.encoded


def test_a_weak_set_of_numbers_is_encoded_already():
    assert WeakSet([[1.0]], [1.0]).encoded


def posterior(**changes) -> Posterior:
    return Posterior(**{"mean": np.zeros((3, 2)), "variance": np.ones((3, 2)), "prior": np.ones((3, 2))} | changes)


def test_a_posterior_has_one_shape():
    assert posterior().mean.shape == posterior().variance.shape == posterior().prior.shape == (3, 2)


@pytest.mark.parametrize("name", ["variance", "prior"])
def test_a_posterior_of_two_shapes_is_refused(name):
    with expect_refusal(WrongShape, f"{name} has shape (3, 1) and mean has shape (3, 2); expected the same"):
        posterior(**{name: np.ones(3)})


@pytest.mark.parametrize("name", ["mean", "variance", "prior"])
@BROKEN
def test_a_broken_posterior_is_refused(name, broken):
    message = f"posterior {name}: NaN or infinity in 3 of 3 rows (rows 0, 1, 2); drop or fill them first"
    with expect_refusal(NotFinite, message):
        posterior(**{name: np.full((3, 2), broken)})


def test_an_empty_posterior_is_refused():
    with expect_refusal(InvalidInput, "posterior mean: the set is empty, expected at least one row"):
        posterior(mean=[])


def test_a_negative_variance_is_refused():
    with expect_refusal(InvalidInput, "a variance is never negative, got -0.25"):
        posterior(variance=np.full((3, 2), -0.25))


def soft(**changes) -> SoftSet:
    given = {"X": np.zeros((3, 2)), "label": np.zeros(3), "uncertainty": np.zeros(3), "fidelity": np.ones(3)}
    return SoftSet(**given | changes)


def test_soft_labels_are_a_matrix_and_their_weights_vectors():
    assert soft().label.shape == (3, 1)
    assert soft().uncertainty.shape == soft().fidelity.shape == (3,)


@pytest.mark.parametrize("name", ["uncertainty", "fidelity"])
def test_weights_of_another_length_are_refused(name):
    with expect_refusal(WrongShape, f"{name} has 2 rows and soft labels has 3; they describe the same samples"):
        soft(**{name: np.ones(2)})


@pytest.mark.parametrize("name", ["uncertainty", "fidelity"])
def test_weights_in_a_matrix_are_refused(name):
    with expect_refusal(WrongShape, f"{name}: expected a vector [N], got shape (3, 1)"):
        soft(**{name: np.ones((3, 1))})


@pytest.mark.parametrize("name", ["uncertainty", "fidelity"])
@BROKEN
def test_broken_weights_are_refused(name, broken):
    with expect_refusal(NotFinite, f"{name}: NaN or infinity in 1 of 3 rows (rows 2); drop or fill them first"):
        soft(**{name: [0.0, 0.0, broken]})


def test_soft_samples_of_another_length_are_refused():
    with expect_refusal(WrongShape, "samples has 2 rows and soft labels has 3; they describe the same samples"):
        soft(X=np.zeros((2, 2)))


def test_an_empty_soft_set_is_refused():
    with expect_refusal(InvalidInput, "soft samples: the set is empty, expected at least one row"):
        soft(X=np.zeros((0, 2)))


def test_rows_and_results_share_no_defaults():
    one, other = (Row("toy", "FWL", "rmse", True, (0.1,), 0.1, 0.0) for _ in range(2))
    assert one.p_values is not other.p_values
    assert Result("toy", "Toy", "tiny", {}, {}, (one,)).curves == {}


@pytest.mark.parametrize("read", [as_matrix, as_vector])
def test_a_single_broken_number_is_refused_like_any_other(read):
    with expect_refusal(NotFinite, "labels: NaN or infinity in 1 of 1 rows (rows 0); drop or fill them first"):
        read(np.nan, "labels")


def test_a_single_number_is_not_a_matrix():
    with expect_refusal(WrongShape, "labels: expected a vector or a matrix [N, C], got shape ()"):
        as_matrix(1.0, "labels")


def test_a_long_wrong_value_is_shown_in_part():
    with expect_refusal(InvalidInput, f"labels: expected numbers, got {str(['word'] * 20)[:57]}..."):
        as_matrix(["word"] * 20, "labels")


@pytest.mark.parametrize("make", [np.asfortranarray, lambda a: a[::-1], lambda a: a.astype(np.float32)])
def test_a_matrix_is_contiguous_double_precision(make):
    given = make(np.arange(6.0).reshape(3, 2))
    matrix = as_matrix(given, "labels")
    assert matrix.flags["C_CONTIGUOUS"]
    assert matrix.dtype == np.float64
    np.testing.assert_array_equal(matrix, given)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32])
def test_samples_of_any_number_type_pass(dtype):
    assert as_samples(np.ones((2, 2), dtype=dtype), "weak").dtype == dtype


@pytest.mark.parametrize("values", [np.array([1, "a"], dtype=object), np.ones(2, dtype=complex)])
def test_samples_of_other_types_are_refused(values):
    with expect_refusal(
        InvalidInput, f"weak samples: expected numbers, got {values.dtype}; encode other columns first"
    ):
        as_samples(values, "weak")


def parts(**values) -> np.ndarray:
    """Two samples with named parts."""
    X = np.zeros(2, dtype=[(name, value.dtype, value.shape[1:]) for name, value in values.items()])
    for name, value in values.items():
        X[name] = value
    return X


def test_samples_may_have_named_parts():
    X = parts(tokens=np.ones((2, 5), dtype=np.int32), vector=np.ones((2, 3), dtype=np.float32))
    assert as_samples(X, "weak") is X
    assert WeakSet(X, [0, 1]).X.dtype.names == ("tokens", "vector")
    assert SoftSet(np.concatenate([X, X]), np.zeros(4), np.zeros(4), np.ones(4)).X.shape == (4,)


@BROKEN
def test_a_broken_part_is_refused_with_its_name(broken):
    X = parts(tokens=np.ones((2, 5), dtype=np.int32), vector=np.array([[1.0, 2.0], [3.0, broken]]))
    message = "weak samples, part 'vector': NaN or infinity in 1 of 2 rows (rows 1); drop or fill them first"
    with expect_refusal(NotFinite, message):
        as_samples(X, "weak")


def test_a_part_of_words_is_refused_with_its_name():
    X = parts(words=np.array([["good"], ["bad"]]))
    message = "weak samples, part 'words': expected numbers, got <U4; encode other columns first"
    with expect_refusal(InvalidInput, message):
        as_samples(X, "weak")


def test_named_parts_have_one_row_per_sample():
    X = parts(tokens=np.ones((2, 5), dtype=np.int32))
    message = "weak samples: with named parts, expected one row per sample [N], got shape (2, 1)"
    with expect_refusal(WrongShape, message):
        as_samples(X[:, None], "weak")


def test_no_samples_with_named_parts_are_refused():
    with expect_refusal(InvalidInput, "weak samples: the set is empty, expected at least one row"):
        as_samples(parts(tokens=np.ones((2, 5), dtype=np.int32))[:0], "weak")
