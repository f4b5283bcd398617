"""Values of single kernels that can be worked out by hand, and what is refused; the rest is in contracts/."""

import math

import pytest
import torch

from fwl.errors import InvalidInput
from fwl.teach import RBF, Linear, Matern32, Sum, White
from fwl.teach.kernels import Kernel
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA, SINGLE

ORIGIN = torch.zeros(1, 2, dtype=torch.float64)
POINT = torch.tensor([[3.0, 4.0]], dtype=torch.float64)  # at distance 5


def value(kernel: Kernel) -> float:
    return kernel(ORIGIN, POINT).item()


def test_values_by_hand():
    assert value(RBF(lengthscale=5.0, variance=2.0)) == pytest.approx(2 * math.exp(-0.5), abs=ALGEBRA)
    r = math.sqrt(3)
    assert value(Matern32(lengthscale=5.0, variance=2.0)) == pytest.approx(2 * (1 + r) * math.exp(-r), abs=ALGEBRA)
    assert Linear(offset=0.5, variance=2.0)(POINT, POINT).item() == pytest.approx(50.5, abs=ALGEBRA)
    assert value(White(0.3)) == 0.0


def test_the_defaults_are_the_papers():
    assert (RBF(), Matern32(), Linear()) == (RBF(1.0, 1.0), Matern32(1.0, 1.0), Linear(0.0, 1.0))


def test_noise_is_not_shared_even_by_coinciding_samples():
    assert White(0.3)(POINT, POINT).item() == 0.0
    assert White(0.3).gram(torch.cat([POINT, POINT])).tolist() == [[0.3, 0.0], [0.0, 0.3]]


def test_no_lengthscale_ever_reaches_the_end_of_its_dial():
    assert value(RBF(lengthscale=1e8)) == pytest.approx(1.0, abs=ALGEBRA)
    assert value(RBF(lengthscale=1e-8)) == 0.0
    assert value(Matern32(lengthscale=1e-8)) == 0.0


def test_a_sum_of_sums_is_flat():
    kernel = (RBF() + White()) + (Linear() + White(0.2))
    assert kernel == Sum((RBF(), White(), Linear(), White(0.2)))
    assert kernel.noise == pytest.approx(0.21)


def test_parameters_are_named_by_their_place():
    kernel = RBF(2.0) + White(0.5)
    assert kernel.parameters() == {"0.lengthscale": 2.0, "0.variance": 1.0, "1.constant": 0.5}
    assert kernel.with_parameters({"0.variance": 3.0}) == RBF(2.0, 3.0) + White(0.5)


def test_the_eleventh_part_keeps_its_own_parameters():
    kernel = Sum(tuple(White(i + 1.0) for i in range(11)))
    assert kernel.with_parameters({"10.constant": 99.0}).parts == (*kernel.parts[:10], White(99.0))


def test_a_zero_is_switched_off_and_not_fitted():
    assert Linear(offset=0.0).parameters() == {"variance": 1.0}
    assert White(0.0).parameters() == White(0.0).bounds() == {}


def test_distances_far_from_the_origin_do_not_drown():
    far = torch.tensor([[0.0], [1.0]], dtype=torch.float64) + 1e8
    assert RBF().gram(far)[0, 1].item() == pytest.approx(math.exp(-0.5), abs=SINGLE)


@pytest.mark.parametrize("number", [-1.0, float("nan"), float("inf")])
@pytest.mark.parametrize(
    ("kernel", "name"),
    [(RBF, "lengthscale"), (RBF, "variance"), (Matern32, "lengthscale"), (Linear, "offset"), (White, "constant")],
)
def test_a_parameter_out_of_range_is_refused(kernel, name, number):
    with expect_refusal(InvalidInput, f"{kernel.__name__}({name}={number}): expected a number from 0 up"):
        kernel(**{name: number})


@pytest.mark.parametrize("kernel", [RBF, Matern32])
def test_no_lengthscale_is_refused(kernel):
    with expect_refusal(InvalidInput, f"{kernel.__name__}(lengthscale=0.0): expected a number above 0"):
        kernel(lengthscale=0.0)


def test_a_kernel_plus_a_number_is_no_kernel():
    with pytest.raises(TypeError):
        RBF() + 0.1
