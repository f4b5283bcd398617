"""Lists of postings end to end: for each term its documents, or for each document its terms, and how often."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fwl.errors import InvalidInput, WrongShape

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Frequencies = npt.NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class Postings:
    """A sparse matrix by columns; nothing in it can be changed.

    Attributes:
        offsets: where each list starts and the last one ends, [lists + 1].
        items: the members of every list, ascending within it, [P].
        frequencies: how often each occurs there, [P]; 65,535 stands for that and more.
        range: members are numbers from 0 to below this.
    """

    offsets: Int64s
    items: Int32s
    frequencies: Frequencies
    range: int

    def __post_init__(self) -> None:
        if len(self.items) != len(self.frequencies):
            raise WrongShape(f"postings: expected a frequency for each, got {len(self.frequencies)}")
        if len(self.offsets) < 1 or self.offsets[0] != 0 or self.offsets[-1] != len(self.items):
            raise WrongShape(f"postings: expected offsets from 0 to {len(self.items)}, the number of postings")
        outside = len(self.items) and (self.items.min() < 0 or self.items.max() >= self.range)
        if outside or (np.diff(self.offsets) < 0).any():  # the compiled loops look no more
            raise InvalidInput(f"postings: expected ascending offsets and numbers from 0 to {self.range - 1}")
        for array in self.arrays:
            array.flags.writeable = False

    @property
    def arrays(self) -> tuple[Int64s, Int32s, Frequencies]:
        """As the compiled loops take them."""
        return self.offsets, self.items, self.frequencies

    def transposed(self) -> Postings:
        """For each item the lists that it stands in: documents of terms become terms of documents."""
        from fwl.annotate.inverting import transpose  # the compiler is loaded by those who need it

        offsets = offsets_of(np.bincount(self.items, minlength=self.range))
        items, frequencies = np.empty_like(self.items), np.empty_like(self.frequencies)
        transpose(*self.arrays, offsets[:-1].copy(), items, frequencies)
        return Postings(offsets, items, frequencies, len(self.offsets) - 1)


def offsets_of(counts: npt.NDArray[np.integer]) -> Int64s:
    """Where lists of so many members start and end, [lists + 1]."""
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets
