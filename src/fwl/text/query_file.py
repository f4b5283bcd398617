"""Queries with their ids from whatever file a user has: two columns, JSON lines, or TREC's topics."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from fwl.errors import InvalidInput
from fwl.text.beir import read_json_queries
from fwl.text.collection import Query, check_new
from fwl.text.files import glance, numbered_lines, text_lines
from fwl.text.trec import read_topics

FilePath = str | os.PathLike[str]
EXPECTED = "expected lines of an id, a tab and a text, JSON lines with _id and text, or TREC's topics"


def read_query_file(path: FilePath) -> list[Query]:
    """All queries of a file, plain or gzipped; how its first line begins says which kind it is."""
    start = _first_line(path).lstrip()
    if not start:
        raise InvalidInput(f"{path} is empty; {EXPECTED}")
    if start.startswith(b"{"):
        return read_json_queries(Path(path))
    return read_topics(path) if start.startswith(b"<") else list(_columns(path))


def _first_line(path: FilePath) -> bytes:
    """The first that is not blank."""
    return next((line for _, line in numbered_lines(path) if line.strip()), b"")


def _columns(path: FilePath) -> Iterator[Query]:
    seen: dict[str, int] = {}
    for number, line in text_lines(path):
        identifier, *texts = line.split("\t")
        if len(texts) != 1 or not identifier.strip():
            raise InvalidInput(f"{path}, line {number}: expected an id, a tab and a text, got {glance(line)}")
        check_new(identifier.strip(), seen, "query", path, number)
        yield Query(identifier.strip(), texts[0].strip())
