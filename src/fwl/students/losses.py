"""Losses per sample, never reduced: weighting by fidelity happens between the two."""

from __future__ import annotations

from collections.abc import Callable

import torch

from fwl.errors import WrongShape

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def squared_error(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Mean over the output columns of the squared error: [N, C], [N, C] -> [N]."""
    if outputs.shape != targets.shape:  # torch would stretch one over the other
        raise WrongShape(
            f"the student's outputs have shape {tuple(outputs.shape)} and the labels {tuple(targets.shape)}; "
            "expected the same"
        )
    squared = (outputs - targets).square()
    return squared.squeeze(1) if squared.shape[1] == 1 else squared.mean(dim=1)
