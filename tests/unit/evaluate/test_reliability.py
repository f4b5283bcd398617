import numpy as np
import pytest
from scipy.stats import binomtest

from fwl.errors import WrongShape
from fwl.evaluate.reliability import reliability_bins
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA


def test_bins_are_of_one_size_and_in_order():
    rng = np.random.default_rng(0)
    said = rng.random(57)
    bins = reliability_bins(said, (rng.random(57) < said).astype(float), shares=True)
    assert [bin_.count for bin_ in bins] == [12, 12, 11, 11, 11]
    assert [bin_.said for bin_ in bins] == sorted(bin_.said for bin_ in bins)
    assert sum(bin_.count * bin_.said for bin_ in bins) == pytest.approx(said.sum(), abs=ALGEBRA)


def test_there_are_at_most_ten_bins():
    assert len(reliability_bins(np.linspace(0, 1, 1000), np.ones(1000), shares=True)) == 10


@pytest.mark.parametrize("right", [0, 3, 10])
def test_the_interval_of_a_share_is_wilsons(right):
    (bin_,) = reliability_bins(np.full(10, 0.7), (np.arange(10) < right).astype(float), shares=True)
    expected = binomtest(right, 10).proportion_ci(0.95, method="wilson")
    assert (bin_.low, bin_.high) == pytest.approx((expected.low, expected.high), abs=ALGEBRA)


def test_the_interval_of_a_mean_is_the_normal_one():
    was = np.arange(10.0)
    (bin_,) = reliability_bins(np.zeros(10), was, shares=False)
    half = 1.959963984540054 * was.std(ddof=1) / np.sqrt(10)
    assert (bin_.was, bin_.low, bin_.high) == pytest.approx((4.5, 4.5 - half, 4.5 + half), abs=ALGEBRA)


def test_one_sample_says_nothing():
    assert reliability_bins(np.ones(1), np.ones(1), shares=True) == ()


def test_both_have_a_number_for_each_sample():
    with expect_refusal(WrongShape, "said has shape (3,) and was (2,); expected one number for each sample"):
        reliability_bins(np.ones(3), np.ones(2), shares=True)
