"""What every annotator promises."""

from __future__ import annotations

from typing import Any, Protocol

from fwl.records import Array


class Annotator(Protocol):
    """A heuristic that labels samples without being asked what they cost."""

    def annotate(self, samples: Any) -> Array:
        """Weak labels [N, C] of samples: an array [N, ...], or texts."""
