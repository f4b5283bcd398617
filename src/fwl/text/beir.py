"""Collections in BEIR's layout: a folder of JSON lines with a table of judgments for each split.

    corpus.jsonl    {"_id": "d1", "title": "...", "text": "..."}
    queries.jsonl   {"_id": "q1", "text": "..."}
    qrels/test.tsv  query-id TAB corpus-id TAB score, with that header or without; also qrels_test.tsv, or qrels.tsv

Each may be gzipped, with .gz behind its name.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fwl.errors import InvalidInput, UnknownName
from fwl.text.collection import Document, Judgments, Query, check_new, gather_judgments
from fwl.text.files import glance, text_lines

HEADER = ("query-id", "corpus-id", "score")
_QRELS = re.compile(r"(?:qrels/(.+)|qrels_(.+)|qrels)\.tsv(?:\.gz)?")


@dataclass(frozen=True)
class BeirFolder:
    """A folder in BEIR's layout.

    Attributes:
        path: the folder.
    """

    path: str | os.PathLike[str]

    def __post_init__(self) -> None:
        if not Path(self.path).is_dir():
            raise InvalidInput(f"{self.path} is not a folder; expected one with corpus.jsonl and queries.jsonl")
        self._file("corpus.jsonl")

    @property
    def name(self) -> str:
        """The folder's name."""
        return Path(self.path).resolve().name

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that have a table of their own."""
        return tuple(sorted({split for split, _ in self._tables() if split}))

    def documents(self) -> Iterator[Document]:
        """All documents, one line at a time; only their ids are kept, to refuse one that comes again."""
        for where, identifier, entry in _entries(self._file("corpus.jsonl"), "document"):
            title = _text(entry, "title", where) if entry.get("title") is not None else ""
            yield Document(identifier, title, _text(entry, "text", where))

    def queries(self) -> list[Query]:
        """All queries, of every split."""
        return read_json_queries(self._file("queries.jsonl"))

    @property
    def is_judged(self) -> bool:
        """Whether there is any table of judgments."""
        return bool(self._tables())

    def judgments(self, split: str | None = None) -> Judgments:
        """The judgments of one split, or of all tables together."""
        tables = self._tables()
        if not tables:
            raise InvalidInput(
                f"{self.path} holds no judgments; expected qrels/<split>.tsv, qrels_<split>.tsv or qrels.tsv"
            )
        if split is not None and not self.splits:
            raise InvalidInput(f"{self.path} is not split, got split {split!r}; ask for all judgments, with None")
        if split is not None and split not in self.splits:
            raise UnknownName(f"split of {self.path}", split, self.splits)
        wanted = [path for its_split, path in tables if split in (None, its_split)]
        return gather_judgments(row for path in wanted for row in _rows(path))

    def _tables(self) -> list[tuple[str, Path]]:
        """Every table with its split, which is empty for the one that is not split."""
        folder = Path(self.path)
        paths = sorted([*folder.glob("qrels*.tsv*"), *folder.glob("qrels/*.tsv*")])
        matches = [(_QRELS.fullmatch(path.relative_to(folder).as_posix()), path) for path in paths]
        return [(match[1] or match[2] or "", path) for match, path in matches if match]

    def _file(self, name: str) -> Path:
        for path in (Path(self.path, name), Path(self.path, f"{name}.gz")):
            if path.is_file():
                return path
        raise InvalidInput(
            f"{self.path} has no {name}; expected corpus.jsonl, queries.jsonl and qrels in BEIR's layout"
        )


def read_json_queries(path: Path) -> list[Query]:
    """A query in every line: {"_id": "q1", "text": "..."}."""
    return [Query(identifier, _text(entry, "text", where)) for where, identifier, entry in _entries(path, "query")]


def _entries(path: Path, kind: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The object in every line that is not blank, with where it stands and its id, which no other has."""
    seen: dict[str, int] = {}
    for number, line in text_lines(path):
        where = f"{path}, line {number}"
        entry = _parsed(line, where)
        identifier = _text(entry, "_id", where)
        if not identifier:
            raise InvalidInput(f"{where}: expected an id under '_id', got an empty text")
        check_new(identifier, seen, kind, path, number)
        yield where, identifier, entry
    if not seen:
        raise InvalidInput(f'{path} holds no {kind}; expected lines such as {{"_id": "1", "text": "..."}}')


def _parsed(line: str, where: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{where}: this is not JSON ({error}): {glance(line)}") from error
    if not isinstance(entry, dict):
        raise InvalidInput(f"{where}: expected a JSON object with _id and text, got {glance(line)}")
    return entry


def _text(entry: dict[str, Any], key: str, where: str) -> str:
    if key not in entry:
        raise InvalidInput(f"{where}: expected the key {key!r}, got {', '.join(map(repr, entry)) or 'none at all'}")
    value = entry[key]
    if not isinstance(value, str):
        raise InvalidInput(f"{where}: expected a text under {key!r}, got {value!r:.60}")
    return value


def _rows(path: Path) -> Iterator[tuple[str, str, str, str]]:
    """Where each judgment stands, its query, its document and its grade."""
    found = False
    for number, line in text_lines(path):
        where, columns = f"{path}, line {number}", line.split("\t")
        if len(columns) != len(HEADER):
            raise InvalidInput(
                f"{where}: expected {len(HEADER)} columns separated by tabs ({', '.join(HEADER)}), "
                f"got {len(columns)}: {glance(line)}"
            )
        if not found and tuple(columns) == HEADER:
            continue
        found = True
        yield where, columns[0], columns[1], columns[2].strip()
    if not found:
        raise InvalidInput(f"{path} holds no judgment; expected lines of {' TAB '.join(HEADER)}")
