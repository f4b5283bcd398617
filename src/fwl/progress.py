"""How long work tells how far it is, without knowing who listens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Progress(Protocol):
    """A listener: `start` for each piece of work, `advance` as often as something is done, `finish` once."""

    def start(self, total: int, what: str) -> None:
        """So much is to do; 0 where nobody can tell."""

    def advance(self, amount: int = 1) -> None:
        """So much more is done."""

    def finish(self) -> None:
        """No more will come."""


class Silent:
    """Nobody listens."""

    def start(self, total: int, what: str) -> None:
        """Hear nothing."""

    def advance(self, amount: int = 1) -> None:
        """Hear nothing."""

    def finish(self) -> None:
        """Hear nothing."""


@dataclass(frozen=True, eq=False)
class Piece:
    """A piece of larger work: told under a name of its own, and what listens goes on listening when it is done."""

    whole: Progress
    name: str

    def start(self, total: int, what: str) -> None:  # noqa: ARG002
        """So much is to do."""
        self.whole.start(total, self.name)

    def advance(self, amount: int = 1) -> None:
        """So much more is done."""
        self.whole.advance(amount)

    def finish(self) -> None:
        """The rest is still to come."""
