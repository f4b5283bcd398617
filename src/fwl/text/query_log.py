"""Queries that people typed, from a log; cleaned as in the paper.

Whoever types an address wants one page and says nothing about others: such queries are dropped. Of the rest only
letters and digits are kept.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import chain

from fwl.errors import InvalidInput
from fwl.randomness import Chance
from fwl.text.drawing import Drawing
from fwl.text.files import glance, text_lines

ADDRESSES = ("http", "www.", ".com", ".net", ".org", ".edu")  # the paper's
HEADING = "query"
_POSSESSIVE = re.compile(r"['’]s\b|['’]")
_SIGNS = re.compile(r"[\W_]+")


def clean_query(text: str) -> str:
    """A query in small letters without signs; nothing of one that holds a part of an address.

    >>> clean_query("Who's Sigmund  Freud?"), clean_query("WWW.ebay.com"), clean_query("dc-8 wings")
    ('who sigmund freud', '', 'dc 8 wings')
    """
    small = text.lower()
    if any(part in small for part in ADDRESSES):
        return ""
    return _SIGNS.sub(" ", _POSSESSIVE.sub("", small)).strip()


def read_queries(path: str | os.PathLike[str], n: int | None = None, *, chance: Chance | None = None) -> list[str]:
    """The different queries of a file, cleaned: lines of columns as in the AOL log, or one query on each line.

    Of columns separated by tabs it is the one that the first line calls "Query", else the second.

    Args:
        path: UTF-8, plain or gzipped.
        n: so many of them, drawn; None for all, in the order of the file.
        chance: where they are drawn from.
    """
    if n is not None and chance is None:
        raise InvalidInput(f"queries: to draw {n} of a file takes a chance; give one, or take all with n=None")
    cleaned = filter(None, map(clean_query, _column(path)))
    texts = list(dict.fromkeys(cleaned)) if n is None or chance is None else _drawn(cleaned, n, chance)
    if not texts:
        raise InvalidInput(f"{path} holds no query once addresses and signs are gone; expected one on each line")
    return texts


def _column(path: str | os.PathLike[str]) -> Iterator[str]:
    """The queries of a file, as written."""
    lines = text_lines(path)
    number, first = next(lines, (0, ""))
    if not number:
        raise InvalidInput(f"{path} is empty; expected queries, one on each line or in a column called Query")
    headings = [heading.strip().lower() for heading in first.split("\t")]
    column = headings.index(HEADING) if HEADING in headings else min(1, len(headings) - 1)
    rest = lines if HEADING in headings else chain([(number, first)], lines)
    for number, line in rest:
        columns = line.split("\t") if len(headings) > 1 else [line]
        if len(columns) <= column:
            raise InvalidInput(
                f"{path}, line {number}: expected the query in column {column + 1} of columns separated by tabs, "
                f"got {len(columns)}: {glance(line)}"
            )
        yield columns[column]


def _drawn(texts: Iterable[str], n: int, chance: Chance) -> list[str]:
    drawing = Drawing(n, chance)
    for text in texts:
        drawing.offer(text)
    return drawing.taken()
