import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwl.learn.soften import Softener, fidelity, unexplained_share
from fwl.learn.task import REGRESSION
from fwl.records import Posterior


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
