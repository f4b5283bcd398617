from functools import cache

import numpy as np
import pytest
import torch

from fwl.randomness import Chance
from fwl.teach import RBF, ExactGP, White
from fwl.teach.algebra import cholesky, log_evidence
from fwl.teach.blocks import one_block
from fwl.teach.evidence import PRIOR_WIDTHS, fit_kernel, shrinkage
from fwl.teach.given import as_lesson
from tests.oracles import gaussian_process as oracle
from tests.tolerances import ALGEBRA, OPTIMISED

X = np.random.default_rng(0).uniform(-3, 3, size=(25, 1))
Y = np.sin(2 * X) + 0.1 * np.random.default_rng(1).normal(size=X.shape)
START = RBF() + White()


def fitted(y: np.ndarray = Y, mean: np.ndarray | None = None, kernel=START, **changes):
    how = {"with_prior": False, "starts": 3, "chance": Chance(0)} | changes
    return fit_kernel(kernel, [one_block(*as_lesson(X, y, mean))], **how)


@cache
def optimum():
    return fitted()


def test_fitting_raises_the_evidence():
    assert oracle.log_evidence(optimum(), X, Y) > oracle.log_evidence(START, X, Y)


@pytest.mark.parametrize("name", START.parameters())
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_no_neighbour_of_the_optimum_is_better(name, factor):
    best = optimum()
    moved = best.with_parameters(best.parameters() | {name: factor * best.parameters()[name]})
    assert oracle.log_evidence(moved, X, Y) < oracle.log_evidence(best, X, Y)


def test_the_noise_that_was_added_is_found():
    assert optimum().noise == pytest.approx(0.01, rel=0.5)


def test_parameters_stay_within_their_bounds():
    for y in (0 * Y, 1e6 * Y, np.random.default_rng(2).normal(size=Y.shape)):
        kernel = fitted(y)
        for name, (low, high) in kernel.bounds().items():
            assert low * (1 - ALGEBRA) <= kernel.parameters()[name] <= high * (1 + ALGEBRA)


def test_more_starts_are_never_worse():
    reached = [oracle.log_evidence(fitted(kernel=RBF(300.0) + White(), starts=n), X, Y) for n in (1, 2, 4)]
    assert reached[0] <= reached[1] + OPTIMISED
    assert reached[1] <= reached[2] + OPTIMISED


def test_the_same_chance_gives_the_same_kernel():
    assert fitted() == optimum()


def test_a_zero_stays_switched_off():
    assert fitted(kernel=RBF() + White(0.0)).noise == 0.0


def test_the_prior_holds_the_parameters_nearer_to_their_start():
    """Two labels say little: the prior keeps what the bare likelihood throws away."""
    free, near = (
        distance(ExactGP(hyperparameters=choice).fit(X[:2], Y[:2]).kernel_)
        for choice in ("evidence", "evidence_with_prior")
    )
    assert near < free


def distance(kernel) -> float:
    names = START.parameters()
    return max(abs(np.log(kernel.parameters()[name] / names[name])) for name in names)


@cache
def held():
    return fitted(with_prior=True)


def with_its_prior(kernel) -> float:
    """The log evidence and, up to a constant, the log density of the log-normal prior around the start."""
    pulls = {
        name: np.log(kernel.parameters()[name] / value) / PRIOR_WIDTHS[name.split(".")[1]]
        for name, value in START.parameters().items()
    }
    return oracle.log_evidence(kernel, X, Y) - 0.5 * sum(pull**2 for pull in pulls.values())


@pytest.mark.parametrize("name", START.parameters())
@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_no_neighbour_is_better_when_the_prior_counts(name, factor):
    moved = held().with_parameters(held().parameters() | {name: factor * held().parameters()[name]})
    assert with_its_prior(moved) < with_its_prior(held())


def test_many_labels_overrule_the_prior():
    assert held().parameters() == pytest.approx(optimum().parameters(), rel=0.5)


@pytest.mark.parametrize("move", [-0.01, 0.01])
def test_the_shrinkage_is_the_most_likely_factor(move):
    mean = torch.from_numpy(Y + 0.5 * np.cos(X))
    y, L = torch.from_numpy(Y), cholesky(START.gram(torch.from_numpy(X)))
    (best,) = shrinkage([one_block(*as_lesson(X, Y, mean.numpy()))], [L[None]])
    assert 0.01 < best < 0.99
    assert log_evidence(L, y - (best + move) * mean) < log_evidence(L, y - best * mean)


def test_a_kernel_fitted_with_a_mean_fits_what_the_mean_leaves():
    """A mean that explains all but the noise leaves the kernel nothing but the noise."""
    kernel = fitted(mean=np.sin(2 * X))
    residual = Y - np.sin(2 * X)
    assert kernel.gram(torch.from_numpy(X)).diagonal().mean() < 0.1
    assert oracle.log_evidence(kernel, X, residual) > oracle.log_evidence(optimum(), X, Y)
