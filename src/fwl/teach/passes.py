"""What a prediction does to every number beside its products: plain for few samples, compiled for many."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

MANY = 2**21  # numbers in a chunk of samples: below, compiling takes longer than it saves


class Passes(Protocol):
    """Passes over memory; both kinds give the same numbers to rounding."""

    def largest_in_columns(self, table: Tensor) -> Tensor:
        """The row of the largest entry of each column of a table [K, M]."""

    def gather_centred(self, Z: Tensor, rows: Tensor, centre: Tensor, out: Tensor) -> Tensor:
        """Some rows of Z [M, D] less the centre [D] into `out`; returns their squared lengths."""

    def squared_lengths(self, rows: Tensor) -> Tensor:
        """Of every row."""


def passes_for(Z: Tensor) -> Passes:
    """The kind that pays for so many samples; what was compiled before plays no part, so results never depend on it."""
    return Compiled() if Z.numel() >= MANY else Plain()


class Plain:
    """By torch, one step at a time."""

    def largest_in_columns(self, table: Tensor) -> Tensor:
        """See `Passes`."""
        return table.max(dim=0).indices

    def gather_centred(self, Z: Tensor, rows: Tensor, centre: Tensor, out: Tensor) -> Tensor:
        """See `Passes`."""
        torch.index_select(Z, 0, rows, out=out)
        out -= centre
        return self.squared_lengths(out)

    def squared_lengths(self, rows: Tensor) -> Tensor:
        """See `Passes`."""
        lengths: Tensor = torch.linalg.vector_norm(rows, dim=1)
        return lengths.square_()


class Compiled:
    """Each in one pass; the compiler is loaded here, because few samples are not worth its time."""

    def __init__(self) -> None:
        from fwl.teach import compiled

        self._compiled = compiled

    def largest_in_columns(self, table: Tensor) -> Tensor:
        """See `Passes`."""
        return torch.from_numpy(self._compiled.largest_in_columns(table.numpy()))

    def gather_centred(self, Z: Tensor, rows: Tensor, centre: Tensor, out: Tensor) -> Tensor:
        """See `Passes`."""
        squares = out.new_empty(len(out))
        self._compiled.gather_centred(Z.numpy(), rows.numpy(), centre.numpy(), out.numpy(), squares.numpy())
        return squares

    def squared_lengths(self, rows: Tensor) -> Tensor:
        """See `Passes`."""
        squares = rows.new_empty(len(rows))
        self._compiled.squared_lengths(rows.numpy(), squares.numpy())
        return squares
