"""Losses per sample, never reduced: weighting by fidelity happens between the two."""

from __future__ import annotations

from collections.abc import Callable

import torch

from fwl.errors import WrongShape

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def squared_error(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Mean over the output columns of the squared error: [N, C], [N, C] -> [N]."""
    _check_alike(outputs, targets)
    squared = (outputs - targets).square()
    return squared.squeeze(1) if squared.shape[1] == 1 else squared.mean(dim=1)


def cross_entropy(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Of logits against class distributions: [N, C], [N, C] -> [N]."""
    _check_alike(outputs, targets)
    return -(targets * torch.log_softmax(outputs, dim=1)).sum(dim=1)


def binary_cross_entropy(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Mean over the columns, of a logit each against a probability: [N, C], [N, C] -> [N]."""
    _check_alike(outputs, targets)
    apart = torch.nn.functional.binary_cross_entropy_with_logits(outputs, targets, reduction="none")
    return apart.mean(dim=1)


def _check_alike(outputs: torch.Tensor, targets: torch.Tensor) -> None:
    if outputs.shape != targets.shape:  # torch would stretch one over the other
        raise WrongShape(
            f"the student's outputs have shape {tuple(outputs.shape)} and the labels {tuple(targets.shape)}; "
            "expected the same"
        )
