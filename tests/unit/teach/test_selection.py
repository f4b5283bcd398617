import math

import numpy as np
import pytest

from fwl.teach import RBF, ExactGP, White
from fwl.teach.selection import score, starting_kernel
from tests.tolerances import ALGEBRA


def test_the_lengthscale_starts_at_half_the_median_distance():
    kernel = starting_kernel(np.array([[0.0], [4.0], [8.0]]), np.array([[0.0], [2.0]]))
    assert kernel == RBF(2.0, 1.0) + White(0.02)


def test_one_row_and_constant_labels_start_from_one():
    assert starting_kernel(np.zeros((1, 2)), np.ones((3, 1))) == RBF(0.5, 1.0) + White(0.02)


@pytest.mark.parametrize(("scale", "bound"), [(0.0, 0), (1e-9, 0), (1e9, 1)])
def test_extreme_distances_stop_at_the_bounds(scale, bound):
    kernel = starting_kernel(scale * np.arange(5.0)[:, None], np.array([[0.0], [2.0]]))
    assert kernel.parts[0].lengthscale == RBF.BOUNDS["lengthscale"][bound]


def test_many_rows_are_judged_by_some():
    Z = np.random.default_rng(0).normal(size=(5000, 1))
    few, many = starting_kernel(Z[::5], np.zeros((2, 1))), starting_kernel(Z, np.zeros((2, 1)))
    assert few == many


def test_the_score_is_the_evidence_less_the_price_of_the_factor():
    Z = np.linspace(-1, 1, 8)[:, None]
    y = np.sin(3 * Z)
    without, with_factor = ExactGP().fit(Z, y), ExactGP(shrink_mean=True).fit(Z, y, y + 0.1)
    assert score(without, 8) == without.log_evidence_
    price = with_factor.log_evidence_ - score(with_factor, 8)
    assert price == pytest.approx(0.5 * math.log(8), abs=ALGEBRA)
