"""Optimisers by name; parameters with sparse gradients get the sparse sister of the one asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn
from torch.optim import SGD, Adam, Optimizer

Parameters = list[torch.Tensor]


class RowAdam(Optimizer):
    """Adam for tables of which a step reads few rows, such as word vectors, at the cost of those rows.

    To rounding it is torch's Adam with betas (0, 0.999): without momentum a row that has no gradient stays, and the
    decay of its squared gradient can wait until the row is next read. torch's SparseAdam has momentum instead and lets
    both averages of a row stand still in between, so rare words move at a fraction of Adam's pace and the loss lags
    behind; this one keeps up with a dense Adam's (`python -m benchmarks.students`).
    """

    def __init__(self, tables: Parameters, lr: float, beta: float = 0.999, eps: float = 1e-8) -> None:
        super().__init__(tables, {"lr": lr, "beta": beta, "eps": eps})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Move the rows that have a gradient."""
        assert closure is None, "the training loop computes its gradients itself"
        for group in self.param_groups:
            for table in group["params"]:
                if table.grad is not None:
                    _move_rows(table, table.grad.coalesce(), self.state[table], group)


def _move_rows(table: torch.Tensor, gradient: torch.Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
    if not state:  # `seen`, the step a row was last read at, is a float like all that torch restores: exact to 2**24
        state |= {"step": 0, "seen": table.new_zeros(len(table)), "square": torch.zeros_like(table)}
    state["step"] += 1
    step, beta = state["step"], group["beta"]
    rows, slope = gradient.indices()[0], gradient.values()
    decay = beta ** (step - state["seen"].index_select(0, rows))
    square = state["square"].index_select(0, rows).mul_(decay[:, None]).addcmul_(slope, slope, value=1 - beta)
    state["square"].index_copy_(0, rows, square)
    state["seen"].index_fill_(0, rows, step)
    rate = group["lr"] * (1 - beta**step) ** 0.5
    table.index_add_(0, rows, slope / square.sqrt_().add_(group["eps"]), alpha=-rate)


def make_optimisers(student: nn.Module, name: str, learning_rate: float) -> list[Optimizer]:
    """The optimisers that together cover every trainable parameter of the student."""
    return list(OPTIMISERS[name](dense_parameters(student), _sparse_parameters(student), learning_rate))


def dense_parameters(student: nn.Module) -> Parameters:
    """The trainable parameters whose gradients are dense: those that an L2 term may touch."""
    sparse_ids = {id(p) for p in _sparse_parameters(student)}
    return [p for p in student.parameters() if p.requires_grad and id(p) not in sparse_ids]


def _sparse_parameters(student: nn.Module) -> Parameters:
    embeddings = (m for m in student.modules() if isinstance(m, nn.Embedding | nn.EmbeddingBag) and m.sparse)
    return [m.weight for m in embeddings if m.weight.requires_grad]


def _sgd(dense: Parameters, sparse: Parameters, learning_rate: float) -> Iterable[Optimizer]:
    yield SGD([*dense, *sparse], lr=learning_rate)


def _adam(dense: Parameters, sparse: Parameters, learning_rate: float) -> Iterable[Optimizer]:
    if dense:
        # The fused kernel makes a small student's step 1.6 times as fast; it exists for floating types only.
        yield Adam(dense, lr=learning_rate, fused=all(torch.is_floating_point(p) for p in dense))
    if sparse:
        yield RowAdam(sparse, lr=learning_rate)


OPTIMISERS: dict[str, Callable[[Parameters, Parameters, float], Iterable[Optimizer]]] = {
    "sgd": _sgd,
    "adam": _adam,
}
