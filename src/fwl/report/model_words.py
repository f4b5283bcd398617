"""Values of a user's data as short texts for a page: nothing too long, nothing that cannot be seen."""

from __future__ import annotations

import math
import re
from typing import Any

LONGEST = 400  # characters of a cell that are shown
LONGEST_NAME = 80  # of a name: a row's, a class's, a column's, an annotator's

_UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def shown(value: Any, longest: int = LONGEST) -> str:
    """A cell as text, shortened.

    >>> shown("a" * 1000, longest=5)
    'aaaaa… (1,000 characters)'
    >>> shown(0.123456), shown(None), shown(3), shown(["r1", "r7"])
    ('0.1235', '', '3', 'r1, r7')
    """
    if value is None:
        return ""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(shown(part, LONGEST_NAME) for part in value)
    return _shortened(str(value), longest)


def number_told(value: float | None, decimals: int | None) -> str:
    """A cell of numbers as text.

    >>> number_told(0.5, 3), number_told(0.5, None), number_told(None, 3)
    ('0.500', '0.5', '')
    """
    return shown(value) if decimals is None or value is None else f"{value:.{decimals}f}"


def named(value: Any) -> str:
    """A name as text, shortened."""
    return shown(value, LONGEST_NAME)


def sorts_as(value: Any) -> str:
    """What a cell of numbers is sorted by; empty where there is none."""
    return "" if value is None or not math.isfinite(value) else repr(float(value))


def percent(share: float | None) -> str:
    """A share in percent.

    >>> percent(0.876), percent(None)
    ('87.6 %', '')
    """
    return "" if share is None else f"{100 * share:.1f} %"


def score_told(value: float | None, is_share: bool) -> str:
    """A score or its error, as its metric is told."""
    if value is None or math.isnan(value):
        return ""
    return percent(value) if is_share else f"{value:.3g}"


def _shortened(text: str, longest: int) -> str:
    seen = _UNSEEN.sub("\ufffd", text[:longest])
    return seen if len(text) <= longest else f"{seen}… ({len(text):,} characters)"
