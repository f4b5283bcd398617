"""Dropout by bytes."""

import pytest
import torch

from fwl.students.dropout import dropped


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.9])
def test_so_many_are_dropped_and_the_others_make_up_for_it(share: float) -> None:
    torch.manual_seed(0)
    result = dropped(torch.ones(1000, 333), share)
    assert (result == 0).float().mean() == pytest.approx(share, abs=0.004)
    assert result.mean() == pytest.approx(1.0, abs=0.01)
    assert len(result.unique()) == 2


def test_none_is_dropped_of_a_share_of_zero() -> None:
    features = torch.randn(3, 5)
    assert dropped(features, 0.0) is features


def test_a_share_near_one_leaves_some() -> None:
    torch.manual_seed(0)
    assert 0 < (dropped(torch.ones(10_000), 0.9999) > 0).sum() < 200


def test_neighbours_are_dropped_independently() -> None:
    """Eight masks come from one number: no place in it tells of another."""
    torch.manual_seed(0)
    zero = (dropped(torch.ones(50_000, 8), 0.5) == 0).double()
    correlation = torch.corrcoef(zero.T) - torch.eye(8)
    assert correlation.abs().max() < 0.02


def test_the_gradient_reaches_what_was_kept_and_nothing_else() -> None:
    torch.manual_seed(0)
    features = torch.full((4, 7), 2.0, requires_grad=True)
    result = dropped(features, 0.5)
    result.sum().backward()
    assert torch.equal(features.grad * 2.0, result.detach())


def test_the_generator_of_torch_decides() -> None:
    def draw() -> torch.Tensor:
        torch.manual_seed(7)
        return dropped(torch.ones(5, 5), 0.4)

    assert torch.equal(draw(), draw())
