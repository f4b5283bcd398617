import numpy as np
import pytest
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput
from fwl.experiments.shares import check_share, some_rows
from fwl.randomness import Chance


def test_a_larger_share_has_what_a_smaller_one_has():
    few, many = (some_rows(100, share, Chance(1)) for share in (0.1, 0.4))
    assert (len(few), len(many)) == (10, 40)
    assert set(few) < set(many)
    assert np.array_equal(many, np.sort(many))


def test_there_is_always_one():
    assert len(some_rows(10, 0.001, Chance(1))) == 1


@pytest.mark.parametrize("share", [0.0, -0.1, 1.1, float("nan")])
def test_what_is_no_share_is_refused(share):
    with expect_refusal(
        InvalidInput, f"setting weak_share={share}: expected a share above 0, and 1 for all weak labels"
    ):
        check_share(share)
