import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import norm

from fwl.errors import InvalidInput, NotFinite, WrongShape
from fwl.evaluate.calibration import (
    accuracy,
    expected_calibration_error,
    gaussian_nll,
    interval_calibration_error,
    interval_coverage,
    negative_log_likelihood,
    set_coverage,
)
from tests.properties import PROPERTY
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA

OF_CLASSES = [expected_calibration_error, negative_log_likelihood, accuracy, set_coverage]
OF_NUMBERS = [gaussian_nll, interval_coverage, interval_calibration_error]


def slow_calibration_error(labels, probabilities, bins):
    """One sample and one bin at a time."""
    total = 0.0
    for i in range(bins):
        surplus = 0.0
        for label, p in zip(labels, probabilities, strict=True):
            confidence, guess = max(p), list(p).index(max(p))
            if (i / bins < confidence or i == 0) and confidence <= (i + 1) / bins:
                surplus += confidence - label[guess]
        total += abs(surplus)
    return total / len(labels)


@st.composite
def tasks(draw):
    """Labels, one-hot, and probabilities, of up to 30 samples and 5 classes."""
    n, classes = draw(st.integers(1, 30)), draw(st.integers(2, 5))
    raw = draw(arrays(np.float64, (n, classes), elements=st.floats(0.01, 1)))
    labels = np.eye(classes)[draw(arrays(np.int64, n, elements=st.integers(0, classes - 1)))]
    return labels, raw / raw.sum(axis=1, keepdims=True)


@PROPERTY
@given(tasks(), st.integers(1, 20))
def test_calibration_error_is_the_slow_loops(task, bins):
    expected = slow_calibration_error(*task, bins)
    assert expected_calibration_error(*task, bins) == pytest.approx(expected, abs=ALGEBRA)


@PROPERTY
@given(tasks(), st.randoms(use_true_random=False))
def test_neither_the_order_of_samples_nor_of_classes_matters(task, random):
    rows, columns = list(range(len(task[0]))), list(range(task[0].shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    labels, probabilities = task
    # Ties between classes are broken by their order, so there are none here.
    probabilities = probabilities + 1e-7 * np.arange(probabilities.size).reshape(probabilities.shape)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    for measure in OF_CLASSES:
        moved = measure(labels[rows][:, columns], probabilities[rows][:, columns])
        assert moved == pytest.approx(measure(labels, probabilities), abs=ALGEBRA)


@PROPERTY
@given(tasks())
def test_measures_stay_in_their_range(task):
    assert 0 <= expected_calibration_error(*task) <= 1
    assert 0 <= accuracy(*task) <= 1
    assert negative_log_likelihood(*task) >= 0
    assert set_coverage(*task, 0.5) <= set_coverage(*task, 0.9) + ALGEBRA


@PROPERTY
@given(tasks())
def test_a_label_that_says_itself_is_perfect(task):
    labels, _ = task
    assert expected_calibration_error(labels, labels) == 0.0
    assert negative_log_likelihood(labels, labels) == 0.0
    assert accuracy(labels, labels) == set_coverage(labels, labels) == 1.0


@PROPERTY
@given(tasks())
def test_a_distribution_is_calibrated_against_itself(task):
    """Labels that are distributions count by their mass."""
    _, probabilities = task
    assert expected_calibration_error(probabilities, probabilities) == pytest.approx(0.0, abs=ALGEBRA)
    assert accuracy(probabilities, probabilities) == pytest.approx(probabilities.max(axis=1).mean(), abs=ALGEBRA)


@PROPERTY
@given(tasks())
def test_no_other_distribution_explains_labels_better_than_their_own(task):
    _, probabilities = task
    flatter = 0.5 * probabilities + 0.5 / probabilities.shape[1]
    own = negative_log_likelihood(probabilities, probabilities)
    assert own <= negative_log_likelihood(probabilities, flatter) + ALGEBRA


@pytest.mark.parametrize("measure", OF_CLASSES)
def test_one_column_is_the_second_of_two_classes(measure):
    rng = np.random.default_rng(0)
    p, y = rng.uniform(size=50), rng.integers(0, 2, 50).astype(float)
    both = measure(np.column_stack([1 - y, y]), np.column_stack([1 - p, p]))
    assert measure(y, p) == measure(y[:, None], p[:, None]) == both


def test_by_hand():
    labels = np.eye(3)[[0, 1, 2, 2]]
    p = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.6, 0.3, 0.1], [0.2, 0.2, 0.6]])
    assert accuracy(labels, p) == 0.75
    assert negative_log_likelihood(labels, p) == pytest.approx(-np.log([0.5, 0.8, 0.1, 0.6]).mean(), abs=ALGEBRA)
    assert expected_calibration_error(labels, p, bins=1) == pytest.approx(abs(0.625 - 0.75), abs=ALGEBRA)
    assert expected_calibration_error(labels, p, bins=10) == pytest.approx((0.5 + 0.2 + 0.2) / 4, abs=ALGEBRA)
    assert set_coverage(labels, p, 0.8) == 0.75
    assert set_coverage(labels, p, 0.81) == 0.75
    assert set_coverage(labels, p, 0.91) == 1.0


def test_an_impossible_label_costs_much_but_not_all():
    assert negative_log_likelihood([1.0], [0.0]) == pytest.approx(-np.log(1e-12), abs=ALGEBRA)


def test_over_confidence_is_seen():
    """Nine in ten said, six in ten right."""
    y = np.array([1.0] * 6 + [0.0] * 4)
    assert expected_calibration_error(y, np.full(10, 0.9)) == pytest.approx(0.3, abs=ALGEBRA)


@pytest.mark.parametrize("measure", OF_CLASSES)
def test_shapes_and_ranges_are_checked(measure):
    with expect_refusal(
        WrongShape,
        "labels have shape (2, 1) and probabilities (2, 3); expected the same, with labels one-hot or as distributions",
    ):
        measure(np.array([0, 2]), np.full((2, 3), 1 / 3))
    with expect_refusal(InvalidInput, "labels: expected numbers in [0, 1], got 0 to 2"):
        measure(np.array([0.0, 2.0]), np.array([0.5, 0.5]))
    with expect_refusal(InvalidInput, "probabilities: expected rows that sum to 1, got 1.2 in row 1; normalise them"):
        measure(np.eye(2), np.array([[0.5, 0.5], [0.6, 0.6]]))
    with expect_refusal(NotFinite, "probabilities: NaN or infinity in 1 of 2 rows (rows 1); drop or fill them first"):
        measure(np.eye(2), np.array([[0.5, 0.5], [0.6, np.nan]]))


def test_bins_and_levels_are_checked():
    with expect_refusal(InvalidInput, "bins=0: expected at least 1; 15 is usual"):
        expected_calibration_error([1.0], [0.5], bins=0)
    with expect_refusal(InvalidInput, "level=90: expected a share between 0 and 1, such as 0.9"):
        set_coverage([1.0], [0.5], level=90)
    with expect_refusal(InvalidInput, "level=0.0: expected a share between 0 and 1, such as 0.9"):
        interval_coverage([1.0], [0.5], [1.0], level=0.0)


def test_gaussian_nll_is_scipys():
    rng = np.random.default_rng(1)
    y, mean, variance = rng.normal(size=(9, 2)), rng.normal(size=(9, 2)), rng.uniform(0.1, 2, (9, 2))
    expected = -norm.logpdf(y, mean, np.sqrt(variance)).mean()
    assert gaussian_nll(y, mean, variance) == pytest.approx(expected, abs=ALGEBRA)


def test_intervals_by_hand():
    y = np.array([0.0, 1.9, 2.0, -3.0])
    assert interval_coverage(y, np.zeros(4), np.ones(4)) == 0.5
    assert interval_coverage(y, np.zeros(4), np.full(4, 4.0)) == 1.0
    assert interval_coverage(y, y, np.zeros(4)) == 1.0


def test_the_true_density_covers_what_it_says():
    rng = np.random.default_rng(2)
    mean, variance = rng.normal(size=20_000), rng.uniform(0.1, 2, 20_000)
    y = mean + np.sqrt(variance) * rng.normal(size=20_000)
    assert interval_coverage(y, mean, variance) == pytest.approx(0.95, abs=0.01)
    assert interval_calibration_error(y, mean, variance) < 0.01
    assert interval_calibration_error(y, mean, 0.25 * variance) > 0.15
    assert interval_calibration_error(y, mean, 4 * variance) > 0.15


@PROPERTY
@given(arrays(np.float64, 7, elements=st.floats(-3, 3)), st.floats(0.1, 0.8))
def test_wider_intervals_cover_no_less(y, level):
    assert interval_coverage(y, 0 * y, 1 + 0 * y, level) <= interval_coverage(y, 0 * y, 1 + 0 * y, level + 0.1)
    assert 0 <= interval_calibration_error(y, 0 * y, 1 + 0 * y) <= 1


@pytest.mark.parametrize("measure", OF_NUMBERS)
def test_beliefs_are_checked(measure):
    with expect_refusal(WrongShape, "y has shape (2, 1), mean (2, 1) and variance (1, 1); expected the same for all"):
        measure(np.zeros(2), np.zeros(2), np.ones(1))
    with expect_refusal(InvalidInput, "a variance is never negative, got -1"):
        measure(np.zeros(2), np.zeros(2), np.array([1.0, -1.0]))


def test_no_variance_has_no_density():
    with expect_refusal(
        InvalidInput, "got a variance of 0, expected above 0: no density there; include the noise of a label"
    ):
        gaussian_nll([0.0], [0.0], [0.0])
