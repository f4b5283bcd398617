"""Some of many texts that come one at a time, any of the different ones as likely as any other.

Each text has a number, a hash of it and the seed, and those with the lowest are taken. So it does not matter how often
or in what order they come, more of them begin with the fewer, and what is held in memory is what was asked for.
"""

from __future__ import annotations

import heapq
from hashlib import blake2b

from fwl.errors import InvalidInput
from fwl.randomness import Chance


class Drawing:
    """Any n of the different texts that come, however often and in whatever order each comes."""

    def __init__(self, n: int, chance: Chance) -> None:
        if n < 1:
            raise InvalidInput(f"texts: expected to draw at least 1, got {n}")
        self._n, self._key = n, chance.integer().to_bytes(4, "big")
        self._heap: list[tuple[int, str]] = []  # the highest number first, negated
        self._texts: set[str] = set()

    def offer(self, text: str) -> None:
        """A text to take or leave; nothing is no text."""
        if not text or text in self._texts:
            return
        number = int.from_bytes(blake2b(text.encode(), digest_size=8, key=self._key).digest(), "big")
        if len(self._heap) < self._n:
            heapq.heappush(self._heap, (-number, text))
        elif -number > self._heap[0][0]:
            self._texts.remove(heapq.heapreplace(self._heap, (-number, text))[1])
        else:
            return
        self._texts.add(text)

    def taken(self) -> list[str]:
        """By their numbers."""
        return [text for _, text in sorted(self._heap, reverse=True)]
