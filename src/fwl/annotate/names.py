"""Names end to end as UTF-8, each read when it is asked for: a mapped file of millions of them takes no memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Self, overload

import numpy as np
import numpy.typing as npt

_ERRORS = "surrogatepass"  # whatever a string holds comes back as it was


class Names(Sequence[str]):
    """Strings by number.

    >>> names = Names.of(["good", "día"])
    >>> len(names), names[1], list(names)
    (2, 'día', ['good', 'día'])

    Args:
        text: all of them as UTF-8, [B].
        ends: where each ends in it, [N].
    """

    def __init__(self, text: npt.NDArray[np.uint8], ends: npt.NDArray[np.int64]) -> None:
        self.text, self.ends = text, ends

    @classmethod
    def of(cls, names: Iterable[str]) -> Self:
        """Put strings end to end."""
        encoded = [encode(name) for name in names]
        ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), ends)

    def __len__(self) -> int:
        return len(self.ends)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        i = range(len(self))[place]
        return _decode(self.text[self.ends[i - 1] if i else 0 : self.ends[i]].tobytes())

    def __iter__(self) -> Iterator[str]:
        content, start = self.text.data, 0
        for end in self.ends:
            yield _decode(bytes(content[start:end]))
            start = end


def encode(name: str) -> bytes:
    """As it stands in the text."""
    return name.encode("utf-8", _ERRORS)


def _decode(content: bytes) -> str:
    return content.decode("utf-8", _ERRORS)
