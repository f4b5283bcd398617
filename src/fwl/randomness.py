"""The one door for chance: a seed and a purpose give a generator, and nothing else draws.

Streams are named, not counted: `chance.child("step 3", "batches")` is the same stream whatever else was drawn
before it, so adding a method to an experiment changes no other method's numbers.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
import torch

from fwl.errors import InvalidInput

Purpose = str | int


@dataclass(frozen=True)
class Chance:
    """A seed and the path of purposes that led here.

    >>> one, other = Chance(7).child("weak points"), Chance(7).child("strong points")
    >>> bool(one.numpy().random() == other.numpy().random())
    False
    >>> bool(one.numpy().random() == Chance(7).child("weak points").numpy().random())
    True
    """

    seed: int
    path: tuple[Purpose, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise InvalidInput(f"a seed is a whole number from 0 up, got {self.seed!r}")

    def child(self, *purpose: Purpose) -> Chance:
        """The stream for one purpose below this one."""
        return Chance(self.seed, (*self.path, *purpose))

    def numpy(self) -> np.random.Generator:
        """A fresh numpy generator at the start of this stream."""
        return np.random.default_rng(self._sequence())

    def torch(self) -> torch.Generator:
        """A fresh torch generator at the start of this stream."""
        return torch.Generator().manual_seed(self.integer())

    def integer(self) -> int:
        """One number for libraries that take a seed (below 2**32)."""
        return int(self._sequence().generate_state(1)[0])

    def _sequence(self) -> np.random.SeedSequence:
        key = tuple(zlib.crc32(repr(purpose).encode()) for purpose in self.path)
        return np.random.SeedSequence(self.seed, spawn_key=key)


def chance_from(random_state: int | np.integer | Chance | None) -> Chance:
    """Read scikit-learn's `random_state`: a number, or None for one drawn by the operating system."""
    if isinstance(random_state, Chance):
        return random_state
    if random_state is None:
        return Chance(int(np.random.SeedSequence().generate_state(1)[0]))
    if isinstance(random_state, np.integer):
        return Chance(int(random_state))
    return Chance(random_state)
