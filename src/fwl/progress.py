"""How long work tells how far it is, without knowing who listens."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """A listener: `start` once, `advance` as often as something is done, `finish` once."""

    def start(self, total: int, what: str) -> None:
        """So much is to do."""

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
