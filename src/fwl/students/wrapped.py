"""Any torch module as a student, by two functions."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from fwl.students.contract import Reads, Student


class WrappedStudent(Student):
    """A user's module, told where its representation ends and its prediction begins.

    >>> net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
    >>> student = WrappedStudent(net, represent=lambda m, x: m[:2](x), predict_from=lambda m, psi: m[2](psi))
    >>> student(torch.zeros(5, 3)).shape
    torch.Size([5, 1])

    Args:
        module: holds the parameters; trained in place.
        represent: (module, x) -> psi, [N, D].
        predict_from: (module, psi) -> outputs, [N, C].
        reads: the part, or parts, that it reads of samples with named parts.
    """

    def __init__(
        self,
        module: nn.Module,
        represent: Callable[[nn.Module, torch.Tensor], torch.Tensor],
        predict_from: Callable[[nn.Module, torch.Tensor], torch.Tensor],
        reads: Reads = None,
    ) -> None:
        super().__init__()
        self.module = module
        self._represent = represent
        self._predict_from = predict_from
        self.reads = reads

    def represent(self, x: torch.Tensor) -> torch.Tensor:
        """The representation, as the user's first function computes it."""
        return self._represent(self.module, x)

    def predict_from(self, psi: torch.Tensor) -> torch.Tensor:
        """The outputs, as the user's second function computes them."""
        return self._predict_from(self.module, psi)
