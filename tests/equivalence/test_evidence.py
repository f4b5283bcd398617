"""Fitted hyper-parameters against scikit-learn's optimum, and the slope they follow against finite differences."""

import warnings

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as sklearn_kernels
from threadpoolctl import threadpool_limits

from fwl.teach import RBF, ExactGP, Kernel, Linear, Matern32, White
from fwl.teach.algebra import cholesky, log_evidence
from tests.oracles import gaussian_process as oracle
from tests.tolerances import OPTIMISED, SINGLE


def smooth(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(25, 1))
    return X, np.sin(2 * X) + 0.1 * rng.normal(size=X.shape)


def nothing_but_noise(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.uniform(-3, 3, size=(25, 1)), rng.normal(size=(25, 1))


@threadpool_limits.wrap(limits=1)  # matrices this small only wait for a second thread
def scikit_learns_optimum(X: np.ndarray, y: np.ndarray) -> float:
    kernel = sklearn_kernels.ConstantKernel(1.0, RBF.BOUNDS["variance"]) * sklearn_kernels.RBF(
        1.0, RBF.BOUNDS["lengthscale"]
    )
    kernel += sklearn_kernels.WhiteKernel(0.01, White.BOUNDS["constant"])
    peer = GaussianProcessRegressor(kernel, alpha=0.0, n_restarts_optimizer=3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a parameter at its bound is an answer here
        return float(peer.fit(X, y[:, 0]).log_marginal_likelihood_value_)


@pytest.mark.parametrize("data", [smooth, nothing_but_noise])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_evidence_reached_is_no_less_than_scikit_learns(data, seed):
    X, y = data(seed)
    teacher = ExactGP(hyperparameters="evidence", starts=6).fit(X, y)
    assert teacher.log_evidence_ >= scikit_learns_optimum(X, y) - OPTIMISED


KERNELS = [RBF(0.8, 1.5) + White(0.1), Matern32(1.2, 0.7) + White(0.2), RBF() + Linear(0.5, 0.3) + White(0.05)]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_slope_is_that_of_finite_differences(kernel):
    X, y = smooth(0)
    values = {name: torch.tensor(v, dtype=torch.float64, requires_grad=True) for name, v in kernel.parameters().items()}
    gram = kernel.with_parameters(values).gram(torch.from_numpy(X))
    log_evidence(cholesky(gram), torch.from_numpy(y)).backward()
    for name, value in values.items():
        assert value.grad.item() == pytest.approx(slope_by_differences(kernel, name, X, y), rel=SINGLE)


def slope_by_differences(kernel: Kernel, name: str, X: np.ndarray, y: np.ndarray, step: float = 1e-5) -> float:
    value = kernel.parameters()[name]
    above, below = (
        oracle.log_evidence(kernel.with_parameters(kernel.parameters() | {name: moved}), X, y)
        for moved in (value + step, value - step)
    )
    return (above - below) / (2 * step)
