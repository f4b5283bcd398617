import warnings

import numpy as np
import pytest
import torch
from torch.nn import Parameter

from fwl.errors import NumericalTrouble
from fwl.randomness import Chance
from fwl.teach import RBF, Linear, Matern32, Sum, White
from fwl.teach.gpytorch_bridge import Translation, careful, climb
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # its own, on import
    pytest.importorskip("gpytorch")

KERNELS = [
    RBF(0.7, 2.0) + White(0.1),
    Matern32(1.3, 0.4) + White(0.1),
    Linear(0.0, 0.6) + White(0.1),
    Linear(0.5, 0.0) + White(0.1),
    RBF() + Matern32(2.0) + Linear(0.5, 0.3) + White(0.1),
    White(0.2) + Sum((RBF(3.0), Linear())),
    RBF(0.5),
    RBF(0.5, 0.0) + Matern32(),
]


def raw() -> Parameter:
    return Parameter(torch.zeros(1, dtype=torch.float64))


def samples(n: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(n, 3)))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_kernel_is_the_same_function_in_gpytorch(kernel):
    translation = Translation(kernel, raw(), learn=False)
    A, B = samples(6), samples(4, seed=1)
    noise = float(kernel.noise)
    np.testing.assert_allclose(translation.covariance(A, B).to_dense().detach(), kernel(A, B), rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(translation.covariance(A, A).to_dense().detach(), kernel(A, A), rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(translation.covariance(A, diag=True).detach() + noise, kernel.diag(A), atol=ALGEBRA)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_kernel_there_and_back_is_the_same(kernel):
    raw_noise = raw()
    back = Translation(kernel, raw_noise, learn=True).fitted()
    assert back.parameters() == pytest.approx(kernel.parameters(), rel=ALGEBRA)
    assert raw_noise.exp().item() == pytest.approx(float(kernel.noise), abs=ALGEBRA)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_what_is_learned_is_what_can_be_fitted(kernel):
    assert Translation(kernel, raw(), learn=False).learned == []
    off = {"0.lengthscale"} if kernel == KERNELS[-1] else set()
    assert len(Translation(kernel, raw(), learn=True).learned) == len(set(kernel.parameters()) - off)


def test_moved_parameters_come_back_confined():
    translation = Translation(RBF() + White(), raw(), learn=True)
    with torch.no_grad():
        for parameter in translation.learned:
            parameter += 100.0
    translation.confine()
    assert translation.fitted().parameters() == pytest.approx(
        {"0.lengthscale": 1e3, "0.variance": 1e3, "1.constant": 1e2}
    )


def test_a_climb_ends_at_the_top():
    x = Parameter(torch.tensor(3.0))
    climb(lambda: -((x - 1.0) ** 2), [{"params": [x], "lr": 0.1}], 200, lambda: None)
    assert x.item() == pytest.approx(1.0, abs=1e-3)


def test_a_climb_that_leaves_the_numbers_is_trouble():
    x = Parameter(torch.tensor(1.0))
    message = "the bound is nan after 1 steps; try a smaller learning_rate, or look for huge values among the inputs"
    with expect_refusal(NumericalTrouble, message):
        climb(lambda: x.log(), [{"params": [x], "lr": 5.0}], 10, lambda: x.data.fill_(-1.0))


def test_careful_draws_from_its_chance_and_gives_the_generator_back():
    before = torch.get_rng_state()
    draws = []
    for _ in range(2):
        with careful(1.0, Chance(5)):
            draws.append(torch.randn(3))
    np.testing.assert_array_equal(*draws)
    np.testing.assert_array_equal(torch.get_rng_state(), before)
