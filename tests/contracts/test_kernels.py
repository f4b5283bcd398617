"""What every kernel promises, asked of each of them."""

import numpy as np
import pytest
import torch

from fwl.teach import RBF, Linear, Matern32, White
from tests.oracles import gaussian_process as oracle
from tests.tolerances import ALGEBRA

KERNELS = [
    RBF(),
    RBF(0.3, 2.0),
    Matern32(),
    Matern32(2.0, 0.5),
    Linear(),
    Linear(0.5, 2.0),
    White(),
    White(0.3),
    RBF() + White(),
    Matern32(0.5) + Linear(0.1) + White(0.2),
    White(0.1) + RBF() + White(0.2),
]
pytestmark = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def samples(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def assert_near(a: torch.Tensor, b: torch.Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=ALGEBRA)


def test_equals_the_loop(kernel):
    A, B = samples(6, 3), samples(4, 3, seed=1)
    assert_near(kernel(A, B), torch.from_numpy(oracle.matrix(kernel, A.numpy(), B.numpy())))


def test_gram_equals_the_loop(kernel):
    A = samples(6, 3)
    assert_near(kernel.gram(A), torch.from_numpy(oracle.gram(kernel, A.numpy())))


def test_noise_equals_the_loop(kernel):
    assert kernel.noise == pytest.approx(oracle.noise(kernel), abs=ALGEBRA)


def test_gram_is_symmetric(kernel):
    K = kernel.gram(samples(8, 3))
    assert_near(K, K.mT)


def test_gram_is_positive_semi_definite(kernel):
    A = samples(8, 3)
    eigenvalues = torch.linalg.eigvalsh(kernel.gram(torch.cat([A, A])))
    assert eigenvalues.min() >= -ALGEBRA


def test_swapping_the_sets_transposes(kernel):
    A, B = samples(6, 3), samples(4, 3, seed=1)
    assert_near(kernel(A, B), kernel(B, A).mT)


def test_diag_is_the_diagonal_of_gram(kernel):
    A = samples(8, 3)
    assert_near(kernel.diag(A), kernel.gram(A).diagonal())


def test_slopes_are_finite_even_where_samples_coincide(kernel):
    A = torch.cat([samples(5, 3), samples(5, 3)])
    values = {name: torch.tensor(v, dtype=torch.float64, requires_grad=True) for name, v in kernel.parameters().items()}
    kernel.with_parameters(values).gram(A).square().sum().backward()
    assert all(torch.isfinite(value.grad) for value in values.values())


@pytest.mark.parametrize("other", KERNELS, ids=str)
def test_a_sum_is_commutative(kernel, other):
    A = samples(5, 3)
    assert_near((kernel + other).gram(A), (other + kernel).gram(A))
    assert_near((kernel + other).gram(A), kernel.gram(A) + other.gram(A))


def test_leading_dimensions_batch(kernel):
    A, B = samples(2, 3, 6, 4), samples(2, 3, 5, 4, seed=1)
    cross, gram, diag = kernel(A, B), kernel.gram(A), kernel.diag(A)
    for i, j in np.ndindex(2, 3):
        assert_near(cross[i, j], kernel(A[i, j], B[i, j]))
        assert_near(gram[i, j], kernel.gram(A[i, j]))
        assert_near(diag[i, j], kernel.diag(A[i, j]))


def test_its_own_parameters_give_it_back(kernel):
    assert kernel.with_parameters(kernel.parameters()) == kernel


def test_every_parameter_starts_within_its_bounds(kernel):
    bounds = kernel.bounds()
    assert bounds.keys() == kernel.parameters().keys()
    assert all(bounds[name][0] <= value <= bounds[name][1] for name, value in kernel.parameters().items())


def test_one_sample_is_enough(kernel):
    A = samples(1, 3)
    assert kernel.gram(A).shape == (1, 1)
    assert_near(kernel.gram(A)[0], kernel.diag(A))
