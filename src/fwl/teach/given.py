"""What teachers are given, checked: inputs, labels, and a prior mean in one or several directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from fwl.errors import InvalidInput, UnknownName, WrongShape
from fwl.records import Array, as_matrix, check_same_length

HYPERPARAMETERS = ("fixed", "evidence", "evidence_with_prior")


def as_tensor(array: Array, name: str) -> Tensor:
    """A finite matrix in double precision."""
    return torch.from_numpy(as_matrix(array, name))


def as_lesson(Z: Array, y: Array, prior_mean: Array | None) -> tuple[Tensor, Tensor, Tensor]:
    """Inputs [N, D], labels [N, C] and the directions of the prior mean [N, C, B], B = 0 for a zero mean."""
    inputs, labels = as_tensor(Z, "teacher inputs"), as_tensor(y, "strong labels")
    check_same_length("teacher inputs", inputs.numpy(), "strong labels", labels.numpy())
    return inputs, labels, as_directions(prior_mean, tuple(labels.shape))


def as_directions(prior_mean: Array | None, shape: tuple[int, ...]) -> Tensor:
    """A prior mean [N, C], or several directions of one [N, C, B], as [N, C, B]."""
    if prior_mean is None:
        return torch.zeros(*shape, 0, dtype=torch.float64)
    given = np.asarray(prior_mean)
    stacked = given if given.ndim == 3 else as_matrix(given, "prior mean")[..., None]
    if stacked.shape[:2] != shape:
        raise WrongShape(f"prior mean: expected shape {shape} like the labels, got {stacked.shape[:2]}")
    flat = as_matrix(stacked.reshape(len(stacked), -1), "prior mean")
    return torch.from_numpy(flat).view(*stacked.shape)


def offset_as_taught(prior_mean: Array | None, factors: Tensor, shape: tuple[int, ...]) -> Array | float:
    """What the prior mean adds at samples to be judged: [M, C], or 0 for a teacher fitted without one."""
    if len(factors) and prior_mean is None:
        raise InvalidInput("this teacher was fitted with a prior mean; give the prior mean of these samples too")
    if prior_mean is None:
        return 0.0
    if not len(factors):
        raise InvalidInput("this teacher was fitted without a prior mean; fit it with one or ask without")
    directions = as_directions(prior_mean, shape)
    if directions.shape[-1] != len(factors):
        raise WrongShape(f"prior mean: expected {len(factors)} directions as in fit, got {directions.shape[-1]}")
    added: Array = (directions @ factors).numpy()
    return added


def check_columns(columns: int, Z: Any) -> None:
    """Refuse inputs with other columns than the teacher was fitted on."""
    if Z.shape[1] != columns:
        raise WrongShape(f"teacher inputs: expected [M, {columns}], got shape {tuple(Z.shape)}")


def check_hyperparameters(hyperparameters: str, starts: int) -> None:
    """Refuse a way of fitting that is not known."""
    if hyperparameters not in HYPERPARAMETERS:
        raise UnknownName("choice of hyperparameters", hyperparameters, HYPERPARAMETERS)
    if starts < 1:
        raise InvalidInput(f"starts is at least 1, got {starts}")
