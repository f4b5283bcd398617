"""Which samples a step sees, as a function of the step's number alone.

Nothing here remembers: the same step gives the same rows whenever it is asked, which is what makes an interrupted
training resume to the same bits.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from fwl.errors import InvalidInput
from fwl.randomness import Chance
from fwl.records import Array

Rows = npt.NDArray[np.int64]


class Batches(Protocol):
    """step -> the rows that this step learns from."""

    def rows(self, step: int) -> Rows:
        """The rows of the given step, the first being step 0."""


class Shuffled:
    """Every sample once an epoch, in an order drawn anew for each; batches never straddle two epochs.

    An epoch is cut into batches of equal size, at most `batch_size`: a remainder of two samples would otherwise steer
    as hard as a batch of thirty-two.
    """

    def __init__(self, n: int, batch_size: int, chance: Chance) -> None:
        self.n, self.chance = n, chance
        self.per_epoch = -(-n // batch_size)
        self._cuts = [part * n // self.per_epoch for part in range(self.per_epoch + 1)]
        self._epoch, self._order = -1, np.arange(n)

    def rows(self, step: int) -> Rows:
        """The rows of the given step."""
        if self.per_epoch == 1:
            return self._order  # one batch holds all: their order changes nothing
        epoch, position = divmod(step, self.per_epoch)
        if epoch != self._epoch:
            self._order = self.chance.child("epoch", epoch).numpy().permutation(self.n)
            self._epoch = epoch
        return self._order[self._cuts[position] : self._cuts[position + 1]]


class LikeLengths:
    """Every sample once an epoch, as in `Shuffled`, but each batch of samples of about one length.

    A batch costs what its longest sample does. An epoch's order is drawn anew, sorted by length within groups of many
    batches and cut; the batches then come in an order drawn too. Sorting within groups, and not the whole, leaves a
    sample other company in each epoch, and its length says little about when it comes.
    """

    GROUP = 50  # batches sorted together, about

    def __init__(self, lengths: npt.NDArray[np.int64], batch_size: int, chance: Chance) -> None:
        self.lengths, self.chance = lengths, chance
        self.per_epoch = -(-len(lengths) // batch_size)
        self._cuts = [part * len(lengths) // self.per_epoch for part in range(self.per_epoch + 1)]
        self._epoch, self._order, self._turn = -1, np.arange(len(lengths)), np.arange(self.per_epoch)

    def rows(self, step: int) -> Rows:
        """The rows of the given step."""
        if self.per_epoch == 1:
            return self._order
        epoch, position = divmod(step, self.per_epoch)
        if epoch != self._epoch:
            self._draw(epoch)
        batch = self._turn[position]
        return self._order[self._cuts[batch] : self._cuts[batch + 1]]

    def _draw(self, epoch: int) -> None:
        generator = self.chance.child("epoch", epoch).numpy()
        order = generator.permutation(len(self.lengths))
        groups = max(1, round(self.per_epoch / self.GROUP))
        edges = [self._cuts[group * self.per_epoch // groups] for group in range(groups + 1)]
        for start, end in pairwise(edges):
            group = order[start:end]
            order[start:end] = group[np.argsort(self.lengths[group], kind="stable")]
        self._order, self._turn, self._epoch = order, generator.permutation(self.per_epoch), epoch


class ByProbability:
    """Samples drawn with replacement, each in proportion to its weight (FWL_s)."""

    BLOCK = 64  # batches drawn at a time

    def __init__(self, weight: Array, batch_size: int, chance: Chance) -> None:
        total = float(weight.sum())
        if not np.isfinite(total) or total <= 0 or (weight < 0).any():
            raise InvalidInput("sampling weights must be non-negative, finite and not all zero")
        cumulative = np.cumsum(weight)
        self.cumulative = cumulative / cumulative[-1]  # its own last value, so that rounding cannot leave a gap
        self.batch_size, self.chance = batch_size, chance
        self._block = -1
        self._drawn: Rows = np.empty((0, 0), dtype=np.int64)

    def rows(self, step: int) -> Rows:
        """The rows of the given step."""
        block, position = divmod(step, self.BLOCK)
        if block != self._block:
            uniform = self.chance.child("block", block).numpy().random((self.BLOCK, self.batch_size))
            found = np.searchsorted(self.cumulative, uniform, side="right")
            self._drawn = np.minimum(found, len(self.cumulative) - 1)
            self._block = block
        drawn: Rows = self._drawn[position]
        return drawn


class Alternating:
    """Weak and strong samples by turns: weak without replacement, strong with (NN_S+/W).

    The weak samples are rows 0 to n_weak - 1 of the lesson and the strong ones follow.
    """

    def __init__(self, n_weak: int, n_strong: int, batch_size: int, chance: Chance) -> None:
        half = max(1, batch_size // 2)
        self.n_weak = n_weak
        self.weak = Shuffled(n_weak, half, chance.child("weak"))
        self.strong = ByProbability(np.ones(n_strong), half, chance.child("strong"))

    def rows(self, step: int) -> Rows:
        """The rows of the given step: as many strong as weak."""
        weak = self.weak.rows(step)
        strong = self.strong.rows(step)[: len(weak)]
        return np.concatenate([weak, self.n_weak + strong])
