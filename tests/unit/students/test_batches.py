import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwl.errors import InvalidInput
from fwl.randomness import Chance
from fwl.students.batches import Alternating, ByProbability, LikeLengths, Shuffled
from tests.properties import PROPERTY
from tests.refusals import expect_refusal

LENGTHS = np.random.default_rng(0).integers(1, 40, size=2000)
SEVERAL = {
    "shuffled": Shuffled(23, 5, Chance(0)),
    "like lengths": LikeLengths(LENGTHS[:23], 5, Chance(0)),
    "by probability": ByProbability(np.arange(1.0, 24.0), 5, Chance(0)),
    "alternating": Alternating(20, 3, 6, Chance(0)),
}


@pytest.mark.parametrize("batches", SEVERAL.values(), ids=SEVERAL)
def test_a_step_has_its_rows_whenever_it_is_asked(batches):
    forwards = [batches.rows(step).copy() for step in range(150)]
    for step in reversed(range(150)):
        np.testing.assert_array_equal(batches.rows(step), forwards[step])


@PROPERTY
@given(n=st.integers(1, 40), batch_size=st.integers(1, 50), epoch=st.integers(0, 5))
def test_an_epoch_visits_every_row_once(n, batch_size, epoch):
    batches = Shuffled(n, batch_size, Chance(0))
    steps = range(epoch * batches.per_epoch, (epoch + 1) * batches.per_epoch)
    seen = np.concatenate([batches.rows(step) for step in steps])
    np.testing.assert_array_equal(np.sort(seen), np.arange(n))


def test_no_batch_is_larger_than_asked_and_none_is_a_small_remainder():
    sizes = [len(Shuffled(23, 5, Chance(0)).rows(step)) for step in range(5)]
    assert sorted(sizes) == [4, 4, 5, 5, 5]


def test_each_epoch_has_an_order_of_its_own():
    batches = Shuffled(20, 10, Chance(0))
    assert not np.array_equal(batches.rows(0), batches.rows(2))


def test_another_chance_gives_another_order():
    assert not np.array_equal(Shuffled(20, 10, Chance(0)).rows(0), Shuffled(20, 10, Chance(1)).rows(0))


@PROPERTY
@given(n=st.integers(1, 60), batch_size=st.integers(1, 70), epoch=st.integers(0, 5), group=st.integers(1, 9))
def test_an_epoch_of_like_lengths_visits_every_row_once(n, batch_size, epoch, group):
    batches = LikeLengths(LENGTHS[:n], batch_size, Chance(0))
    batches.GROUP = group
    steps = range(epoch * batches.per_epoch, (epoch + 1) * batches.per_epoch)
    each = [batches.rows(step) for step in steps]
    np.testing.assert_array_equal(np.sort(np.concatenate(each)), np.arange(n))
    sizes = [len(rows) for rows in each]
    assert max(sizes) <= batch_size
    assert max(sizes) - min(sizes) <= 1


def test_batches_of_like_lengths_hold_little_padding():
    def padded(batches):
        return sum(LENGTHS[rows].max() * len(rows) for rows in map(batches.rows, range(batches.per_epoch)))

    assert padded(LikeLengths(LENGTHS, 20, Chance(0))) < 1.05 * LENGTHS.sum()
    assert padded(Shuffled(len(LENGTHS), 20, Chance(0))) > 1.5 * LENGTHS.sum()


def test_batches_of_like_lengths_come_in_no_order_of_length():
    batches = LikeLengths(LENGTHS, 20, Chance(0))
    means = [LENGTHS[batches.rows(step)].mean() for step in range(batches.per_epoch)]
    assert abs(np.corrcoef(means, np.arange(len(means)))[0, 1]) < 0.4  # four standard deviations of 100 batches


def test_each_epoch_of_like_lengths_has_other_batches():
    batches = LikeLengths(np.ones(40, dtype=np.int64), 10, Chance(0))
    company = [{frozenset(batches.rows(step)) for step in range(start, start + 4)} for start in (0, 4)]
    assert not company[0] & company[1]


def test_samples_of_like_length_have_other_company_in_each_epoch():
    batches = LikeLengths(LENGTHS, 20, Chance(0))
    company = [{frozenset(batches.rows(step)) for step in range(start, start + 100)} for start in (0, 100)]
    assert not company[0] & company[1]


def test_one_batch_of_all_lengths_is_in_the_order_of_the_samples():
    np.testing.assert_array_equal(LikeLengths(LENGTHS[:7], 7, Chance(0)).rows(3), np.arange(7))


def test_frequencies_follow_weights():
    weight = np.array([0.0, 1.0, 2.0, 5.0, 0.0])
    batches = ByProbability(weight, 100, Chance(0))
    drawn = np.concatenate([batches.rows(step) for step in range(400)])
    share = np.bincount(drawn, minlength=5) / len(drawn)
    expected = weight / weight.sum()
    # Six standard deviations of a share of 40,000 draws: one seed in 10^8 falls outside.
    np.testing.assert_allclose(share, expected, rtol=0, atol=6 * 0.5 / np.sqrt(len(drawn)))
    assert share[0] == share[4] == 0.0


def test_a_single_weight_is_always_drawn():
    batches = ByProbability(np.array([0.0, 0.0, 1e-300]), 7, Chance(0))
    assert set(batches.rows(0)) == {2}


@pytest.mark.parametrize("weight", [[0.0, 0.0], [1.0, -1.0, 3.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_weights_that_are_no_probabilities_are_refused(weight):
    with expect_refusal(InvalidInput, "sampling weights must be non-negative, finite and not all zero"):
        ByProbability(np.array(weight), 2, Chance(0))


@pytest.mark.parametrize(("n_weak", "n_strong", "batch_size"), [(20, 3, 6), (21, 3, 8), (2, 50, 32), (5, 5, 1)])
def test_as_many_strong_as_weak(n_weak, n_strong, batch_size):
    batches = Alternating(n_weak, n_strong, batch_size, Chance(0))
    for step in range(30):
        rows = batches.rows(step)
        assert (rows < n_weak).sum() == (rows >= n_weak).sum() > 0
        assert rows.max() < n_weak + n_strong


def test_weak_samples_come_without_replacement():
    batches = Alternating(20, 3, 8, Chance(0))
    weak = np.concatenate([rows[rows < 20] for rows in map(batches.rows, range(5))])
    np.testing.assert_array_equal(np.sort(weak), np.arange(20))


def test_strong_samples_come_with_replacement():
    batches = Alternating(20, 3, 8, Chance(0))
    strong = np.concatenate([rows[rows >= 20] for rows in map(batches.rows, range(5))])
    assert set(strong) == {20, 21, 22}
    assert len(strong) == 20
