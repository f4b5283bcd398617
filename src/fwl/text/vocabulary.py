"""Words as numbers: 0 is padding, 1 any unknown word, and the known ones follow by frequency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
import numpy.typing as npt

from fwl.errors import InvalidInput

PADDING, UNKNOWN = 0, 1
FIRST = 2  # the id of the first word


@dataclass(frozen=True)
class Vocabulary:
    """The known words; the one at place i has the id i + 2.

    Its length counts the two other ids too: it is the number of rows of an embedding matrix.

    >>> vocabulary = Vocabulary(("good", "day"))
    >>> vocabulary.ids([["good", "day", "sunshine"], []], length=4)
    array([[2, 3, 1, 0],
           [1, 0, 0, 0]], dtype=int32)
    """

    words: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        if len(self.place) != len(self.words):
            twice = next(word for word, times in Counter(self.words).items() if times > 1)
            raise InvalidInput(f"vocabulary: expected every word once, got {twice!r} more often")

    def __len__(self) -> int:
        return len(self.words) + FIRST

    def __contains__(self, word: object) -> bool:
        return word in self.place

    @cached_property
    def place(self) -> dict[str, int]:
        """The id of every known word."""
        return {word: number for number, word in enumerate(self.words, FIRST)}

    @classmethod
    def of(
        cls,
        token_lists: Iterable[Sequence[str]],
        at_least: int = 2,
        keep: Collection[str] = (),
        largest: int | None = None,
    ) -> Vocabulary:
        """The words of some texts, the most frequent first and equally frequent ones by the alphabet.

        Args:
            token_lists: the tokens of each text.
            at_least: how often a word has to occur.
            keep: words that are kept however rare they are, even if they never occur (those with an embedding, say).
            largest: how many words are kept at most; the rarest that are not in `keep` go.
        """
        if at_least < 1:
            raise InvalidInput(f"at_least: a word occurs at least once, got {at_least}")
        kept = set(keep)
        if largest is not None and largest < max(1, len(kept)):
            raise InvalidInput(f"largest: expected room for {max(1, len(kept))} words or more, got {largest}")
        counts = Counter(chain.from_iterable(token_lists))
        others = _by_frequency((w for w, times in counts.items() if times >= at_least and w not in kept), counts)
        room = None if largest is None else largest - len(kept)
        return cls(tuple(_by_frequency(chain(others[:room], kept), counts)))

    def ids(self, token_lists: Iterable[Sequence[str]], length: int) -> npt.NDArray[np.int32]:
        """Ids [N, length]: cut off at `length`, filled up with padding.

        A text without tokens becomes one unknown word, so that no row is all padding: a student that averages or
        takes a maximum over the words of a text always has one.
        """
        if length < 1:
            raise InvalidInput(f"length: a text has room for at least 1 token, got {length}")
        place = self.place
        rows = [[place.get(token, UNKNOWN) for token in tokens[:length]] or [UNKNOWN] for tokens in token_lists]
        ids = np.full((len(rows), length), PADDING, dtype=np.int32)
        for row, known in zip(ids, rows, strict=True):
            row[: len(known)] = known
        return ids


def _by_frequency(words: Iterable[str], counts: Counter[str]) -> list[str]:
    return sorted(words, key=lambda word: (-counts[word], word))
