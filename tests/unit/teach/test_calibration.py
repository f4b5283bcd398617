import json
from dataclasses import asdict
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import check_grad
from scipy.special import softmax

from fwl.errors import InvalidInput, WrongShape
from fwl.evaluate.calibration import accuracy, expected_calibration_error, negative_log_likelihood
from fwl.experiments.synthetic import SmoothClasses
from fwl.randomness import Chance
from fwl.records import Posterior
from fwl.teach import RBF, ExactGP, White
from fwl.teach.calibration import Calibration, _loss, _start, fit_calibration, with_class_prior
from tests.properties import PROPERTY
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA, SINGLE

MEANS = arrays(np.float64, (6, 3), elements=st.floats(-50, 50))
LINKS = st.builds(Calibration, st.floats(0.05, 5), st.floats(1e-3, 5), st.tuples(*[st.floats(-2, 2)] * 3).map(tuple))


def posterior(mean):
    mean = np.asarray(mean, dtype=float)
    return Posterior(mean, np.ones_like(mean), np.ones_like(mean))


def drawn(probabilities, seed=0):
    """One-hot labels that mean what the probabilities say."""
    rng = np.random.default_rng(seed)
    return np.array([rng.multinomial(1, p) for p in probabilities], dtype=float)


@cache
def lesson(n=400, classes=3):
    """Means that are shrunk logarithms of true probabilities, and labels drawn from those."""
    p = softmax(2 * np.random.default_rng(1).normal(size=(n, classes)), axis=1)
    return 0.6 * p + 0.4 / classes, drawn(p), p


@PROPERTY
@given(LINKS, MEANS)
def test_labels_lie_on_the_simplex(link, mean):
    p = link(mean)
    assert p.shape == mean.shape
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=ALGEBRA)


@PROPERTY
@given(LINKS, MEANS, st.integers(0, 2), st.floats(0, 10))
def test_a_larger_mean_never_makes_a_class_less_likely(link, mean, c, more):
    raised = mean.copy()
    raised[:, c] += more
    assert (link(raised)[:, c] >= link(mean)[:, c] - ALGEBRA).all()


@PROPERTY
@given(MEANS, st.permutations([0, 1, 2]))
def test_classes_have_no_order(mean, order):
    link = Calibration(0.5, 0.1, (0.3, -0.2, 0.0))
    moved = Calibration(0.5, 0.1, tuple(np.array(link.bias)[order]))
    np.testing.assert_allclose(moved(mean[:, order]), link(mean)[:, order], atol=ALGEBRA)


def test_by_hand():
    mean = np.array([[0.7, 0.2, -0.1]])
    s = mean + np.sqrt(mean**2 + 4 * 0.1**2)
    expected = np.exp([[0.0, 0.5, 0.0]]) * s**2
    np.testing.assert_allclose(Calibration(0.5, 0.1, (0.0, 0.5, 0.0))(mean), expected / expected.sum(), rtol=ALGEBRA)


def test_probabilities_stay_as_they_are_at_temperature_one_without_a_floor():
    p = np.array([[0.7, 0.2, 0.1], [0.05, 0.05, 0.9]])
    np.testing.assert_allclose(Calibration(1.0, 1e-9, (0.0, 0.0, 0.0))(p), p, atol=ALGEBRA)


def test_a_large_floor_is_the_softmax_at_a_temperature():
    mean = np.array([[0.7, 0.2, -0.1]])
    near = Calibration(0.25 / 2e4, 1e4, (0.0, 0.0, 0.0))(mean)
    np.testing.assert_allclose(near, softmax(mean / 0.25, axis=1), atol=SINGLE)


def test_one_column_is_the_second_of_two_classes():
    m = np.array([[-0.2], [0.5], [0.9]])
    link = Calibration(0.5, 0.1, (0.1, -0.1))
    assert link(m).shape == (3, 1)
    np.testing.assert_array_equal(link(m)[:, 0], link(np.hstack([1 - m, m]))[:, 1])
    y = np.array([[0.0], [1.0], [1.0]])
    assert fit_calibration(posterior(m), y) == fit_calibration(posterior(np.hstack([1 - m, m])), np.hstack([1 - y, y]))


def test_the_slope_is_the_slope():
    mean, labels, _ = lesson(50)
    start, width = _start(3)
    for move in (0.0, 0.4, -0.7):
        args = (mean, labels, start, width)
        off = check_grad(lambda x, args=args: _loss(x, *args)[0], lambda x, args=args: _loss(x, *args)[1], start + move)
        assert off < 1e-3  # of slopes in the tens


@pytest.mark.parametrize("change", ["temperature", "floor", "bias"])
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_no_neighbour_of_the_optimum_is_more_likely(change, factor):
    mean, labels, _ = lesson()
    found = fit_calibration(posterior(mean), labels)
    start, width = _start(3)

    def loss(c):
        return _loss(np.array([np.log(c.temperature), np.log(c.floor), *c.bias]), mean, labels, start, width)[0]

    values = asdict(found)
    values[change] = (
        tuple(b + factor - 1 for b in found.bias[:1]) + found.bias[1:]
        if change == "bias"
        else (factor * values[change])
    )
    assert loss(found) < loss(Calibration(**values))


def test_shrunk_means_are_stretched_back():
    mean, labels, p = lesson(3000)
    link = fit_calibration(posterior(mean), labels)
    assert link.temperature < 1
    assert np.abs(link(mean) - p).mean() < 0.05
    assert expected_calibration_error(p, link(mean)) < 0.03 < expected_calibration_error(p, softmax(mean, axis=1))


@pytest.mark.parametrize("n", [1, 2, 20])
def test_labels_of_one_class_give_a_finite_and_open_mind(n):
    mean = np.tile([0.8, 0.1, 0.1], (n, 1))
    link = fit_calibration(posterior(mean), np.tile([1.0, 0.0, 0.0], (n, 1)))
    p = link(mean)[0]
    assert 0.8 < p[0] < 0.9999
    assert 0.05 < link.temperature < 1


def test_separable_labels_give_a_finite_temperature():
    labels = np.eye(2)[np.arange(1000) % 2]
    link = fit_calibration(posterior(0.8 * labels + 0.1), labels)
    assert link.temperature > 0.05
    assert link(np.array([[0.5, 0.5]]))[0, 0] == pytest.approx(0.5, abs=0.01)


def test_labels_that_have_nothing_to_do_with_the_means_flatten_them():
    rng = np.random.default_rng(3)
    mean, labels = rng.uniform(size=(2000, 3)), np.eye(3)[rng.integers(0, 3, 2000)]
    assert np.abs(fit_calibration(posterior(mean), labels)(mean) - 1 / 3).mean() < 0.05


def test_labels_may_be_distributions():
    mean, _, p = lesson(3000)
    soft, hard = fit_calibration(posterior(mean), p), fit_calibration(posterior(mean), lesson(3000)[1])
    assert np.abs(soft(mean) - p).mean() <= np.abs(hard(mean) - p).mean() + 0.005


def test_it_is_plain_numbers():
    link = fit_calibration(posterior(lesson()[0]), lesson()[1])
    back = json.loads(json.dumps(asdict(link)))
    assert Calibration(back["temperature"], back["floor"], tuple(back["bias"])) == link


@pytest.mark.parametrize("task", [SmoothClasses(), SmoothClasses(classes=2, imbalance=10)], ids=["three", "rare"])
def test_a_teachers_labels_can_be_believed(task):
    chance = Chance(5000)
    X, fresh = task.draw(600, chance.child("strong")), task.draw(5000, chance.child("fresh"))
    y, truth = task.label(X, chance.child("strong")), task.label(fresh, chance.child("fresh"))
    prior = np.tile(y.mean(axis=0), (600, 1))
    teacher = ExactGP(RBF(3.0, 0.1) + White(0.1), "evidence_with_prior", starts=1).fit(X, y, prior)
    mean = teacher.posterior(fresh, np.tile(prior[0], (5000, 1))).mean
    link = fit_calibration(teacher.leave_one_out(), y)
    plain = softmax(mean, axis=1)
    assert expected_calibration_error(truth, link(mean)) < 0.04 < 0.12 < expected_calibration_error(truth, plain)
    assert negative_log_likelihood(truth, link(mean)) < negative_log_likelihood(truth, plain) - 0.1
    assert accuracy(truth, link(mean)) > accuracy(truth, plain) - 0.01


def test_another_class_prior_by_hand():
    p = with_class_prior([[0.8, 0.2], [0.5, 0.5]], prior=[0.8, 0.2], target=[0.5, 0.5])
    np.testing.assert_allclose(p, [[0.5, 0.5], [0.2, 0.8]], atol=ALGEBRA)
    np.testing.assert_allclose(with_class_prior([[0.2], [0.5]], [0.2], [0.5]), [[0.5], [0.8]], atol=ALGEBRA)


@PROPERTY
@given(MEANS, st.tuples(*[st.floats(0.05, 1)] * 3))
def test_changing_the_prior_there_and_back_changes_nothing(mean, weights):
    p, target, prior = softmax(mean / 10, axis=1), np.array(weights) / sum(weights), np.full(3, 1 / 3)
    there = with_class_prior(p, prior, target)
    np.testing.assert_allclose(there.sum(axis=1), 1.0, atol=ALGEBRA)
    np.testing.assert_allclose(with_class_prior(there, target, prior), p, atol=ALGEBRA)
    np.testing.assert_allclose(with_class_prior(p, target, target), p, atol=ALGEBRA)


def test_what_cannot_be_is_refused():
    with expect_refusal(InvalidInput, "temperature=0.0: expected a number above 0"):
        Calibration(0.0, 0.1, (0.0, 0.0))
    with expect_refusal(InvalidInput, "floor=nan: expected a number above 0"):
        Calibration(1.0, float("nan"), (0.0, 0.0))
    with expect_refusal(WrongShape, "posterior mean: expected 2 classes as calibrated, got shape (4, 3)"):
        Calibration(1.0, 0.1, (0.0, 0.0))(np.zeros((4, 3)))
    with expect_refusal(WrongShape, "strong labels have shape (4, 1) and the means (4, 3); expected the same"):
        fit_calibration(posterior(np.zeros((4, 3))), np.zeros(4))
    with expect_refusal(InvalidInput, "strong labels: expected one-hot rows or distributions, got 0 to 2"):
        fit_calibration(posterior(np.zeros((2, 1))), [0.0, 2.0])
    with expect_refusal(WrongShape, "prior has 2 classes and probabilities have shape (1, 3)"):
        with_class_prior(np.full((1, 3), 1 / 3), [0.5, 0.5], np.full(3, 1 / 3))
    with expect_refusal(InvalidInput, "target: expected every share above 0, got 0; add 1 to each class's count"):
        with_class_prior(np.full((1, 2), 1 / 2), [0.5, 0.5], [1.0, 0.0])
