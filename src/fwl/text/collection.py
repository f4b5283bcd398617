"""What a search is made of: documents, queries, and who judged which document for which query.

A collection hands its documents out one after another and may be asked for them again: it can be larger than memory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Protocol

from fwl.errors import InvalidInput
from fwl.text.files import glance

NAMED = 5  # how many of those that are wrong a message names
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")


@dataclass(frozen=True, slots=True)
class Document:
    """One document; title or text may be empty."""

    id: str
    title: str
    text: str

    @property
    def whole(self) -> str:
        """Title and text, as they are searched."""
        return f"{self.title} {self.text}" if self.title and self.text else self.title or self.text


@dataclass(frozen=True, slots=True)
class Query:
    """What somebody looked for."""

    id: str
    text: str


@dataclass(frozen=True, eq=False)
class Judgments(Mapping[str, Mapping[str, int]]):
    """The grade of every judged document of every judged query; above 0 is relevant.

    >>> judgments = Judgments({"q1": {"a": 2, "b": 0, "c": -1}, "q2": {"a": 0}})
    >>> judgments.relevant("q1"), judgments.not_relevant("q1"), judgments.count
    (('a',), ('b', 'c'), 4)
    >>> dict(judgments.answerable().binary())
    {'q1': {'a': 1, 'b': 0, 'c': 0}}

    Attributes:
        grades: query id -> document id -> grade.
    """

    grades: Mapping[str, Mapping[str, int]]

    def __getitem__(self, query_id: str) -> Mapping[str, int]:
        return self.grades[query_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self.grades)

    def __len__(self) -> int:
        return len(self.grades)

    @property
    def count(self) -> int:
        """How many documents were judged, over all queries."""
        return sum(map(len, self.grades.values()))

    def relevant(self, query_id: str) -> tuple[str, ...]:
        """The documents graded above 0; none for a query that nobody judged."""
        return tuple(document for document, grade in self.grades.get(query_id, {}).items() if grade > 0)

    def not_relevant(self, query_id: str) -> tuple[str, ...]:
        """The documents that were judged and found not relevant: graded 0 or below."""
        return tuple(document for document, grade in self.grades.get(query_id, {}).items() if grade <= 0)

    def only(self, query_ids: Iterable[str]) -> Judgments:
        """The judgments of these queries, in the order they are in here."""
        kept = set(query_ids)
        return Judgments({query: grades for query, grades in self.grades.items() if query in kept})

    def answerable(self) -> Judgments:
        """The judgments of queries with at least one relevant document: the rest is 0 by every measure."""
        return self.only(query for query in self.grades if self.relevant(query))

    def binary(self) -> Judgments:
        """Grade 1 for what is relevant and 0 for the rest, for collections whose codes are no scale."""
        return Judgments(
            {
                query: {document: int(grade > 0) for document, grade in grades.items()}
                for query, grades in self.grades.items()
            }
        )

    def within(self, query_ids: Container[str], document_ids: Container[str]) -> Judgments:
        """The judgments of known queries on known documents; `check_against` says what is left out."""
        kept = {
            query: {document: grade for document, grade in grades.items() if document in document_ids}
            for query, grades in self.grades.items()
            if query in query_ids
        }
        return Judgments({query: grades for query, grades in kept.items() if grades})


@dataclass(frozen=True)
class Unknown:
    """Judgments that name a query or a document that the collection does not have; false if there are none.

    >>> print(check_against(Judgments({"q1": {"a": 1, "x": 0}, "q9": {"a": 1}}), {"q1"}, {"a", "b"}))
    2 judgments are left out: 1 on unknown documents (first: 'x'), 1 for unknown queries (first: 'q9')

    Attributes:
        on_documents: how many judgments of known queries are on unknown documents.
        for_queries: how many judgments are for unknown queries.
        documents: the first of the unknown documents.
        queries: the first of the unknown queries.
    """

    on_documents: int
    for_queries: int
    documents: tuple[str, ...]
    queries: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.on_documents + self.for_queries > 0

    def __str__(self) -> str:
        count = self.on_documents + self.for_queries
        kinds = (
            (self.on_documents, "on unknown documents", self.documents),
            (self.for_queries, "for unknown queries", self.queries),
        )
        parts = [f"{number} {what} (first: {named(first)})" for number, what, first in kinds if number]
        if not parts:
            return "every judgment is for a known query and on a known document"
        return f"{count} judgment{' is' if count == 1 else 's are'} left out: {', '.join(parts)}"


def check_against(judgments: Judgments, query_ids: Container[str], document_ids: Container[str]) -> Unknown:
    """Count and name the judgments that `Judgments.within` these queries and documents leaves out."""
    on_documents = for_queries = 0
    documents: dict[str, None] = {}  # in the order they came, each once
    queries: dict[str, None] = {}
    for query, grades in judgments.items():
        if query not in query_ids:
            for_queries += len(grades)
            queries[query] = None
            continue
        missing = [document for document in grades if document not in document_ids]
        on_documents += len(missing)
        documents.update(dict.fromkeys(missing))
    return Unknown(on_documents, for_queries, tuple(documents)[:NAMED], tuple(queries)[:NAMED])


@dataclass
class CountedDocuments:
    """Documents handed on as they come, counted on the way; those without a word are kept, though never found.

    >>> documents = CountedDocuments([Document("a", "", "wing"), Document("b", "", " ")])
    >>> [document.id for document in documents], str(documents)
    (['a', 'b'], "1 of 2 documents says nothing and is never found (first: 'b')")

    Attributes:
        seen: how many came.
        empty: how many of them have neither a title nor a text.
        first: the first of those.
    """

    documents: Iterable[Document]
    seen: int = field(default=0, init=False)
    empty: int = field(default=0, init=False)
    first: tuple[str, ...] = field(default=(), init=False)

    def __iter__(self) -> Iterator[Document]:
        self.seen, self.empty, self.first = 0, 0, ()
        for document in self.documents:
            self.seen += 1
            if not (document.text.strip() or document.title.strip()):
                self.empty += 1
                self.first = (*self.first, document.id)[:NAMED]
            yield document

    def __str__(self) -> str:
        if not self.empty:
            return f"each of {self.seen} documents says something"
        verbs = "says nothing and is" if self.empty == 1 else "say nothing and are"
        return f"{self.empty} of {self.seen} documents {verbs} never found (first: {named(self.first)})"


class Collection(Protocol):
    """Documents to search, queries, and judgments; nothing is read before it is asked for."""

    @property
    def name(self) -> str:
        """What the collection is called."""

    def documents(self) -> Iterator[Document]:
        """All documents, one after another; from the first again with every call."""

    def queries(self) -> list[Query]:
        """All queries, judged or not."""

    @property
    def is_judged(self) -> bool:
        """Whether there are judgments to ask for."""

    def judgments(self, split: str | None = None) -> Judgments:
        """The judgments of one split, or of all together."""


def named(ids: Iterable[str]) -> str:
    """Ids as a message names them: the first few."""
    return ", ".join(map(repr, islice(ids, NAMED)))


def gather_judgments(rows: Iterable[tuple[str, str, str, str]]) -> Judgments:
    """Judgments from rows (where it stands, query id, document id, grade); a grade has to be a whole number.

    A judgment may come twice, but not with two grades.
    """
    gathered: dict[str, dict[str, int]] = {}
    for where, query, document, written in rows:
        if not _WHOLE_NUMBER.fullmatch(written):
            raise InvalidInput(f"{where}: expected a whole number as the grade, got {glance(written)}")
        grade = int(written)
        before = gathered.setdefault(query, {}).setdefault(document, grade)
        if before != grade:
            raise InvalidInput(
                f"{where}: document {document!r} has grade {grade} for query {query!r}, and had {before} before; "
                "drop one of the two"
            )
    return Judgments(gathered)


def check_new(identifier: str, seen: dict[str, int], kind: str, path: str | os.PathLike[str], number: int) -> None:
    """Remember the line an id stands in; one that came before is refused with both lines."""
    first = seen.setdefault(identifier, number)
    if first != number:
        raise InvalidInput(
            f"{path}, line {number}: {kind} {identifier!r} stands in line {first} already; give each an id of its own"
        )
