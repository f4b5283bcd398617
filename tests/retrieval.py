"""Small collections and indices that many tests share."""

from dataclasses import dataclass

import numpy as np

from fwl.annotate import InvertedIndex
from fwl.randomness import Chance
from fwl.text import Document, Judgments, Query

TERMS = 120


@dataclass(frozen=True)
class Listed:
    """A collection in memory."""

    listed: tuple[Document, ...]
    name: str = "listed"

    @classmethod
    def of(cls, *texts: str | tuple[str, str]) -> "Listed":
        """Texts, or titles and texts."""
        parts = [("", text) if isinstance(text, str) else text for text in texts]
        return cls(tuple(Document(f"d{i}", *part) for i, part in enumerate(parts)))

    def documents(self):
        return iter(self.listed)

    def queries(self):
        return [Query("q0", "wing")]

    def judgments(self, split=None):
        return Judgments({})


def words(rng: np.random.Generator, size: int) -> list[str]:
    """Terms drawn so that few are common and many are rare."""
    return [f"w{int(number)}" for number in TERMS ** rng.random(size)]


def token_lists(n: int, longest: int = 40, seed: int = 0) -> list[list[str]]:
    """Documents from empty ones to long ones."""
    rng = Chance(seed).child("documents").numpy()
    return [words(rng, int(length)) for length in rng.integers(0, longest + 1, size=n)]


def query_lists(n: int, seed: int = 0) -> list[list[str]]:
    """Queries of 1 to 6 terms; some come twice in one, and some are in no document."""
    rng = Chance(seed).child("queries").numpy()
    return [[*words(rng, int(length)), *["nowhere"][: int(length) % 2]] for length in rng.integers(1, 7, size=n)]


def index_of(documents: list[list[str]], **settings) -> InvertedIndex:
    return InvertedIndex.of(((f"d{i}", tokens) for i, tokens in enumerate(documents)), settings)
