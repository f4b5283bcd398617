import numpy as np
import torch

from fwl.randomness import Chance
from fwl.teach import RBF, White
from fwl.teach.algebra import cholesky
from fwl.teach.inducing import Belief, starting_points
from tests.tolerances import ALGEBRA, EXACT

KERNEL = RBF(0.7, 2.0) + White(0.3)


def samples(n: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(n, 3)))


def belief(spread: float, columns: int = 2) -> Belief:
    points = samples(5)
    root = spread * torch.eye(5, dtype=torch.float64).expand(columns, 5, 5)
    return Belief(KERNEL, points, cholesky(KERNEL(points, points)), samples(5, seed=2)[:, :columns], root)


def test_few_rows_are_their_own_starting_points():
    Z = torch.tensor([[2.0], [1.0], [2.0], [9.0]], dtype=torch.float64)
    np.testing.assert_array_equal(starting_points(Z, 3, Chance(0)), [[2.0], [1.0], [9.0]])


def test_many_rows_start_from_their_centres():
    Z = torch.tensor([[2.0], [1.0], [2.0], [9.0], [9.2]], dtype=torch.float64)
    centres = starting_points(Z, 2, Chance(0))
    np.testing.assert_allclose(np.sort(centres, axis=0), [[5 / 3], [9.1]], rtol=0, atol=ALGEBRA)


def test_rows_as_good_as_equal_share_a_centre():
    Z = samples(20)
    assert 20 <= len(starting_points(torch.cat([Z, Z + 1e-12]), 30, Chance(0))) <= 30


def test_what_is_believed_is_read_off_at_the_points():
    certain = belief(0.0)
    mean, variance, _ = certain.at(certain.points)
    np.testing.assert_allclose(mean, certain.L @ certain.mean, rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(variance, 0.3, rtol=0, atol=ALGEBRA)


def test_knowing_nothing_is_the_prior():
    _, variance, prior = belief(1.0).at(samples(9, seed=1))
    np.testing.assert_allclose(variance, prior, rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(prior, 2.3, rtol=0, atol=ALGEBRA)


def test_knowing_less_than_nothing_is_the_prior_too():
    _, variance, prior = belief(3.0).at(samples(9, seed=1))
    np.testing.assert_allclose(variance, prior, rtol=0, atol=EXACT)


def test_columns_may_share_their_uncertainty():
    each, shared = belief(0.5), belief(0.5)
    shared = Belief(KERNEL, shared.points, shared.L, shared.mean, shared.root[:1])
    for one, other in zip(each.at(samples(9, seed=1)), shared.at(samples(9, seed=1)), strict=True):
        assert one.shape == (9, 2)
        np.testing.assert_allclose(one, other, rtol=0, atol=ALGEBRA)
