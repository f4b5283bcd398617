import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwl.errors import InvalidInput
from fwl.evaluate import folds
from fwl.evaluate.folds import stratified_folds
from fwl.randomness import Chance
from tests.properties import PROPERTY
from tests.refusals import expect_refusal


@PROPERTY
@given(n=st.integers(2, 40), k=st.integers(2, 50), seed=st.integers(0, 100))
def test_each_sample_is_left_out_once(n, k, seed):
    made = list(folds(n, k, Chance(seed)))
    np.testing.assert_array_equal(np.sort(np.concatenate([left for _, left in made])), np.arange(n))
    assert len(made) == min(n, k)


@PROPERTY
@given(n=st.integers(2, 40), k=st.integers(2, 50))
def test_a_fold_trains_on_all_the_others(n, k):
    for kept, left_out in folds(n, k, Chance(0)):
        np.testing.assert_array_equal(np.sort(np.concatenate([kept, left_out])), np.arange(n))
        assert len(kept) > 0


@PROPERTY
@given(n=st.integers(2, 40), k=st.integers(2, 50))
def test_folds_are_as_equal_as_can_be(n, k):
    sizes = [len(left_out) for _, left_out in folds(n, k, Chance(0))]
    assert max(sizes) - min(sizes) <= 1


def test_more_folds_than_samples_leave_one_out():
    assert [len(left_out) for _, left_out in folds(4, 10, Chance(0))] == [1, 1, 1, 1]


def test_the_same_chance_gives_the_same_folds():
    one, other, third = ([left.tolist() for _, left in folds(20, 4, Chance(seed))] for seed in (1, 1, 2))
    assert one == other != third


@pytest.mark.parametrize(("n", "k"), [(1, 2), (0, 2), (5, 1), (5, 0)])
def test_too_few_are_refused(n, k):
    message = f"cross-validation needs at least 2 samples and 2 folds, got {n} and {k}"
    with expect_refusal(InvalidInput, message):
        list(folds(n, k, Chance(0)))


@PROPERTY
@given(n=st.integers(2, 40), k=st.integers(2, 50), seed=st.integers(0, 100))
def test_stratified_folds_leave_each_sample_out_once_and_share_the_classes(n, k, seed):
    classes = np.random.default_rng(seed).integers(3, size=n)
    made = list(stratified_folds(classes, k, Chance(seed)))
    np.testing.assert_array_equal(np.sort(np.concatenate([left for _, left in made])), np.arange(n))
    for kept, left_out in made:
        np.testing.assert_array_equal(np.sort(np.concatenate([kept, left_out])), np.arange(n))
    counts = np.array([np.bincount(classes[left], minlength=3) for _, left in made])
    assert (counts.max(axis=0) - counts.min(axis=0)).max() <= 1


def test_stratified_folds_of_one_sample_are_refused():
    with expect_refusal(InvalidInput, "cross-validation needs at least 2 samples and 2 folds, got 1 and 3"):
        list(stratified_folds(np.zeros(1, dtype=int), 3, Chance(0)))
