"""Dropout that draws eight masks from one random number: torch draws one at a time, which took a third of a step."""

from __future__ import annotations

import torch

STEPS = 256  # a share of features is rounded to so many parts


def dropped(features: torch.Tensor, share: float) -> torch.Tensor:
    """Features, about this share of them zero and the others larger, so that sums stay as they are on average.

    Args:
        features: of any shape.
        share: from 0 to below 1, rounded to 1/256.
    """
    cut = min(round(STEPS * share), STEPS - 1)
    if not cut:
        return features
    n = features.numel()
    drawn = torch.empty((n + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
    kept = drawn.view(torch.uint8)[:n].view(features.shape) >= cut
    return features * kept.to(features.dtype).mul_(STEPS / (STEPS - cut))
