"""What every student promises."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

Reads = str | tuple[str, ...] | None


class Student(nn.Module, ABC):
    """A network in two parts: a representation psi and a prediction phi from it.

    The teacher sees the world through `represent`; `predict_from` turns a representation into outputs. The forward pass
    is the two together, written once, so no student can predict from anything its teacher does not see.

    Attributes:
        reads: the part that this student reads of samples with named parts, in which whole numbers stay whole (word
            ids, say); None for a student of plain numbers. A plain array is read whole by either. A tuple names several
            parts, which come side by side in one matrix (see `inference.part_of`).
    """

    reads: Reads = None

    def lengths(self, X: npt.NDArray[Any]) -> npt.NDArray[np.int64] | None:  # noqa: ARG002
        """How long each sample is, [N], where a batch costs what its longest does; None if all are alike.

        Training and prediction then put samples of like length together.
        """
        return None

    @abstractmethod
    def represent(self, x: torch.Tensor) -> torch.Tensor:
        """The representation psi(x): [N, ...] -> [N, D]."""

    @abstractmethod
    def predict_from(self, psi: torch.Tensor) -> torch.Tensor:
        """The outputs phi(psi): [N, D] -> [N, C]."""

    @final  # type: ignore[misc]
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The whole student, phi(psi(x)): [N, ...] -> [N, C]."""
        return self.predict_from(self.represent(x))
