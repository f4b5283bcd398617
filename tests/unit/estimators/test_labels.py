import numpy as np
import pytest
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput
from fwl.estimators.labels import (
    ClassLabels,
    NumberLabels,
    class_labels,
    mean_of_annotators,
    number_labels,
    with_combiner,
)
from fwl.learn.task import BINARY, MULTICLASS, REGRESSION


def combined(labels, pool, strong=None, truth=None, known=None, how="majority"):
    places = labels.places(truth if truth is not None else labels.classes)
    return with_combiner(labels, how, pool, len(pool), strong, places, known or {})


def test_two_classes_share_one_column_that_of_the_second():
    labels = class_labels(["no", "yes", "no"])
    assert labels.task is BINARY
    assert labels.strong(["no", "yes"]).tolist() == [[0.0], [1.0]]
    assert labels.told(np.array([[0.25]])).tolist() == [[0.75, 0.25]]
    assert labels.named(np.array([[0.75, 0.25]])).tolist() == ["no"]


def test_several_classes_have_a_column_each():
    labels = class_labels([3, 1, 2])
    assert labels.task is MULTICLASS
    assert labels.strong([2]).tolist() == [[0.0, 1.0, 0.0]]


def test_classes_without_a_strong_label_may_be_named():
    labels = class_labels(["a", "b"], classes=["c", "a", "b"])
    assert labels.classes.tolist() == ["a", "b", "c"]
    with expect_refusal(InvalidInput, "strong labels: 'b' is not among the classes ('a', 'c')"):
        class_labels(["a", "b"], classes=["a", "c"])


def test_strong_labels_of_two_kinds_are_refused():
    message = "strong labels mix kinds (int, str); expected one, such as texts"
    with expect_refusal(InvalidInput, message):
        class_labels(np.array([1, "a"], dtype=object))


def test_votes_become_shares_and_silence_nan():
    labels = combined(class_labels(["a", "b", "c"]), np.array([["a", "b"], ["c", "c"], ["", ""]]))
    weak = labels.weak(np.array([["a", "b"], ["", ""]]), 2)
    np.testing.assert_array_equal(weak, [[0.5, 0.5, 0.0], [np.nan] * 3])


def test_annotators_are_judged_on_the_strong_rows_or_on_their_twins():
    labels = class_labels(["a", "b"])
    pool, truth = np.array(["a", "a", "b", ""]), np.array(["a", "b", "b"])
    (asked,) = combined(labels, pool, strong=np.array(["a", "a", ""]), truth=truth).annotators
    assert (asked["compared"], asked["accuracy"], asked["coverage"]) == (2, 0.5, 0.75)
    (twins,) = combined(labels, pool, truth=truth, known={0: 0, 2: 1, 3: 2}).annotators
    assert (twins["compared"], twins["accuracy"]) == (2, 1.0)


def test_distributions_are_judged_by_their_most_probable_class():
    labels = class_labels([0, 1])
    (told,) = combined(
        labels, np.array([[0.6, 0.4], [0.1, 0.9]]), np.array([[0.6, 0.4], [0.1, 0.9]]), [0, 0]
    ).annotators
    assert (told["compared"], told["accuracy"]) == (2, 0.5)


@pytest.mark.parametrize("how", ["majority", "dawid_skene"])
def test_class_labels_come_back(how):
    votes = np.array([["a", "b"], ["b", "b"], ["a", "a"], ["", "a"]])
    labels = combined(class_labels(["a", "b"], {"x": "a"}), votes, how=how)
    again = ClassLabels.from_state(labels.state())
    assert np.array_equal(again.weak(votes, 4), labels.weak(votes, 4))
    assert again.class_map == {"x": "a"}
    assert again.annotators == labels.annotators


def test_numbers_are_standardised_over_both_sets_and_told_on_their_own_scale():
    strong = np.array([10.0, 20.0])
    labels = number_labels(strong, np.array([[30.0, np.nan], [np.nan, np.nan], [30.0, 50.0]]), 3, None, {0: 1})
    assert labels.task is REGRESSION
    both = np.concatenate([labels.strong(strong), labels.weak([[30.0], [40.0]], 2)])
    np.testing.assert_allclose([both.mean(), both.std()], [0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(labels.told(labels.strong(strong)), strong)
    first, second = labels.annotators
    assert (first["compared"], first["mean_error"], second["compared"]) == (1, 10.0, 0)
    assert NumberLabels.from_state(labels.state()).scale == labels.scale


def test_the_mean_is_over_those_who_said_something():
    values = np.array([[1.0, 3.0], [np.nan, 5.0], [np.nan, np.nan]])
    np.testing.assert_array_equal(mean_of_annotators(values), [[2.0], [5.0], [np.nan]])
