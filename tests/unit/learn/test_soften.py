import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.properties import PROPERTY
from tests.tolerances import ALGEBRA

from fwl.learn.fitted import FittedTeacher
from fwl.learn.prior import PriorMean
from fwl.learn.recipe import Teaching
from fwl.learn.soften import Softener, fidelity, unexplained_share
from fwl.learn.task import BINARY, MULTICLASS, PREFERENCE, REGRESSION, sigmoid, softmax
from fwl.records import Posterior
from fwl.teach.calibration import Calibration

MEANS = arrays(np.float64, (5, 3), elements=st.floats(-50, 50))
ONE_COLUMN = arrays(np.float64, (5, 1), elements=st.floats(-50, 50))
CALIBRATIONS = st.builds(Calibration, st.floats(0.05, 5), st.floats(1e-3, 5), st.tuples(*[st.floats(-2, 2)] * 3))
OF_TWO = st.builds(Calibration, st.floats(0.05, 5), st.floats(1e-3, 5), st.tuples(*[st.floats(-2, 2)] * 2))


class Believing:
    """As much of a fitted teacher as softening asks for."""

    task = REGRESSION

    def label(self, posterior):
        return self.task.link(posterior.mean)


def posterior(variance, prior=2.0, noise=0.5):
    variance = np.atleast_2d(variance)
    return Posterior(np.ones_like(variance), variance, np.full_like(variance, prior), noise)


def test_a_soft_set_holds_link_aggregate_and_fidelity():
    belief = Posterior([[1.0, 2.0]], [[0.1, 0.3]], [[1.0, 1.0]])
    soft = Softener(Believing(), beta=2.0).of(np.zeros((1, 4)), belief)
    assert soft.label.tolist() == [[1.0, 2.0]]
    assert soft.uncertainty == pytest.approx([0.2])  # h: the mean over outputs
    assert soft.fidelity == pytest.approx([np.exp(-0.4)])


def test_beta_zero_trusts_everything_equally():
    assert fidelity(np.array([0.0, 1.0, 1e9]), 0.0).tolist() == [1.0, 1.0, 1.0]


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_fidelity_lies_above_zero_and_at_most_at_one(sigma, beta):
    (eta2,) = fidelity(np.array([sigma]), beta)
    assert 0.0 < eta2 <= 1.0


def test_relative_uncertainty_is_the_share_of_the_signal_left_unexplained():
    share = unexplained_share(posterior([[0.5], [1.25], [2.0]]))
    assert share[:, 0] == pytest.approx([0.0, 0.5, 1.0])


def test_relative_uncertainty_of_a_prior_that_is_all_noise_is_finite():
    assert np.isfinite(unexplained_share(posterior([[0.5]], prior=0.5))).all()


def test_raw_and_relative_differ_only_in_scale_for_a_stationary_kernel():
    belief = posterior([[0.6], [1.0], [1.9]])
    X = np.zeros((3, 1))
    raw = Softener(Believing(), 1.0).of(X, belief).uncertainty
    relative = Softener(Believing(), 1.0, "relative").of(X, belief).uncertainty
    assert np.corrcoef(raw, relative)[0, 1] == pytest.approx(1.0)


def softened(task, mean, calibration=None, rebalance=0.0):
    """The soft set of beliefs with these means, labelled as a fitted teacher labels them."""
    columns = mean.shape[1]
    teaching = Teaching(calibrate=calibration is not None, rebalance=rebalance)
    shares = np.full(columns, 1 / max(2, columns))
    teacher = FittedTeacher(None, None, PriorMean("zero", np.zeros(columns)), teaching, task, shares, calibration)
    belief = Posterior(mean, np.full_like(mean, 0.5), np.ones_like(mean))
    return Softener(teacher).of(np.zeros((len(mean), 2)), belief)


@PROPERTY
@given(MEANS)
def test_soft_labels_of_classes_are_the_softmax_of_the_mean(mean):
    label = softened(MULTICLASS, mean).label
    assert np.array_equal(label, softmax(mean))
    np.testing.assert_allclose(label.sum(axis=1), 1.0, atol=ALGEBRA)


@PROPERTY
@given(MEANS, CALIBRATIONS, st.sampled_from([0.0, 0.5, 1.0]))
def test_calibrated_soft_labels_of_classes_lie_on_the_simplex(mean, calibration, rebalance):
    label = softened(MULTICLASS, mean, calibration, rebalance).label
    assert ((label >= 0) & (label <= 1)).all()
    np.testing.assert_allclose(label.sum(axis=1), 1.0, atol=ALGEBRA)


@PROPERTY
@given(ONE_COLUMN)
@pytest.mark.parametrize("task", [BINARY, PREFERENCE], ids=["binary", "preference"])
def test_a_soft_label_of_one_column_is_the_sigmoid_of_labels_seen_as_signs(task, mean):
    assert np.array_equal(softened(task, mean).label, sigmoid(2 * mean - 1))


@PROPERTY
@given(ONE_COLUMN, OF_TWO, st.sampled_from([0.0, 0.5]))
def test_calibrated_it_is_a_probability(mean, calibration, rebalance):
    label = softened(BINARY, mean, calibration, rebalance).label
    assert label.shape == mean.shape
    assert ((label >= 0) & (label <= 1)).all()


@PROPERTY
@given(ONE_COLUMN)
def test_a_soft_number_is_the_mean_itself(mean):
    assert np.array_equal(softened(REGRESSION, mean).label, mean)


def test_samples_are_softened_by_the_teachers_belief_about_them_and_their_weak_labels():
    class Listening(Believing):
        def posterior(self, X, weak=None):
            return Posterior(X + (0.0 if weak is None else weak), np.ones_like(X), np.ones_like(X))

    X, weak = np.array([[1.0], [2.0]]), np.array([[10.0], [20.0]])
    softener = Softener(Listening())
    assert softener(X).label.tolist() == [[1.0], [2.0]]
    assert softener(X, weak).label.tolist() == [[11.0], [22.0]]
    assert np.array_equal(softener(X).X, X)
