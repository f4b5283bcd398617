import math

import numpy as np
import pytest
from scipy.stats import norm

from fwl.teach import RBF, ExactGP, White
from fwl.teach.selection import KERNELS, evidence_score, left_out_score, starting_kernel
from tests.tolerances import ALGEBRA


def test_the_lengthscale_starts_at_half_the_median_distance():
    kernel = starting_kernel(np.array([[0.0], [4.0], [8.0]]), np.array([[0.0], [2.0]]))
    assert kernel == RBF(2.0, 1.0) + White(0.02)


def test_one_row_and_constant_labels_start_from_one():
    assert starting_kernel(np.zeros((1, 2)), np.ones((3, 1))) == RBF(0.5, 1.0) + White(0.02)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_lengthscale_follows_the_inputs_to_any_scale(scale):
    kernel = starting_kernel(scale * np.arange(5.0)[:, None], np.array([[0.0], [2.0]]))
    assert kernel.parts[0].lengthscale == pytest.approx(scale)


def test_samples_that_are_all_the_same_start_from_one():
    assert starting_kernel(np.ones((5, 2)), np.array([[0.0], [2.0]])) == RBF(1.0, 1.0) + White(0.02)


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_by_name_can_be_fitted_from_its_start(name):
    Z = np.random.default_rng(0).normal(size=(15, 3))
    y = np.sin(Z[:, :1])
    start = starting_kernel(Z, y, name)
    fitted = ExactGP(start, "evidence_with_prior").fit(Z, y)
    assert fitted.log_evidence_ > ExactGP(start).fit(Z, y).log_evidence_


def test_the_left_out_score_is_the_density_of_labels_not_seen():
    Z = np.random.default_rng(0).normal(size=(12, 1))
    y = np.sin(Z)
    teacher = ExactGP(RBF() + White(0.1)).fit(Z, y)
    expected = 0.0
    for i in range(12):
        rest = np.delete(np.arange(12), i)
        belief = ExactGP(RBF() + White(0.1)).fit(Z[rest], y[rest]).posterior(Z[[i]])
        expected += norm.logpdf(y[i, 0], belief.mean[0, 0], np.sqrt(belief.variance[0, 0]))
    assert left_out_score(teacher.leave_one_out(), y) == pytest.approx(expected, abs=ALGEBRA)


def test_many_rows_are_judged_by_some():
    Z = np.random.default_rng(0).normal(size=(5000, 1))
    few, many = starting_kernel(Z[::5], np.zeros((2, 1))), starting_kernel(Z, np.zeros((2, 1)))
    assert few == many


def test_the_score_is_the_evidence_less_the_price_of_the_factor():
    Z = np.linspace(-1, 1, 8)[:, None]
    y = np.sin(3 * Z)
    without, with_factor = ExactGP().fit(Z, y), ExactGP(shrink_mean=True).fit(Z, y, y + 0.1)
    assert evidence_score(without, 8) == without.log_evidence_
    price = with_factor.log_evidence_ - evidence_score(with_factor, 8)
    assert price == pytest.approx(0.5 * math.log(8), abs=ALGEBRA)
