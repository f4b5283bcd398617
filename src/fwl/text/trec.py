"""TREC's own files: documents and topics in its markup, judgments, and runs.

    documents  <DOC><DOCNO> FT911-1 </DOCNO><HEADLINE> ... </HEADLINE><TEXT> ... </TEXT></DOC>
    topics     <top><num> Number: 301 <title> International Organized Crime <desc> ... </top>
    qrels      301 0 FT911-1 1
    run        301 Q0 FT911-1 1 12.5 name

The disks are older than UTF-8: a line that is not valid in it is read as Latin-1.
"""

from __future__ import annotations

import html
import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO

import numpy as np

from fwl.errors import InvalidInput, NotFinite, OutputTrouble
from fwl.text.collection import Document, Judgments, Query, check_new, gather_judgments
from fwl.text.files import glance, numbered_lines, text_lines

Ranking = Sequence[tuple[str, float]]  # document ids with their scores, the best first
FilePath = str | os.PathLike[str]

_DOCUMENT_NUMBER = re.compile(r"<DOCNO>\s*([^<]*?)\s*</DOCNO>", re.IGNORECASE)
_TEXTS = re.compile(r"<(TEXT|LP|LEADPARA)>(.*?)(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL)
_TITLES = re.compile(r"<(HEADLINE|TITLE|HL|HEAD|TTL|TI)>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[/!]?[A-Za-z][^<>]*>|<!--.*?-->", re.DOTALL)
_OWN_ENTITY = re.compile(r"&[A-Za-z]+;")  # such as &hyph;, which only the disks know
_TOPIC_NUMBER = re.compile(r"<num>\s*(?:Number\s*:)?\s*([^\s<]+)", re.IGNORECASE)
_TOPIC_TITLE = re.compile(r"<title>\s*(?:Topic\s*:)?\s*([^<]*)", re.IGNORECASE)


@dataclass(frozen=True)
class TrecFiles:
    """A collection in TREC's files.

    Attributes:
        document_files: one file of documents, or a folder whose files are read one after another, by their names.
        topics: the file of topics; a query is a topic's title.
        qrels: the file of judgments.
    """

    document_files: FilePath
    topics: FilePath
    qrels: FilePath

    @property
    def name(self) -> str:
        """The name of the file or folder of documents."""
        return Path(self.document_files).resolve().name

    def documents(self) -> Iterator[Document]:
        """All documents, one at a time; only their ids are kept, to refuse one that comes again."""
        return read_documents(self.document_files)

    def queries(self) -> list[Query]:
        """The titles of all topics."""
        return read_topics(self.topics)

    @property
    def is_judged(self) -> bool:
        """They come with their file of judgments."""
        return True

    def judgments(self, split: str | None = None) -> Judgments:
        """All judgments: there are no splits here."""
        if split is not None:
            raise InvalidInput(f"{self.qrels} is not split, got split {split!r}; ask for all judgments, with None")
        return read_qrels(self.qrels)


def read_documents(path: FilePath) -> Iterator[Document]:
    """The documents of one file, plain or gzipped, or of all files of a folder and those inside it."""
    seen: dict[str, tuple[Path, int]] = {}
    for file in _files(Path(path)):
        for number, markup in _blocks(file, "DOC"):
            document = _document(markup, f"{file}, line {number}")
            first, its_number = seen.setdefault(document.id, (file, number))
            if (first, its_number) != (file, number):
                raise InvalidInput(
                    f"{file}, line {number}: document {document.id!r} stands in line {its_number} of {first} already; "
                    "give each an id of its own"
                )
            yield document
    if not seen:
        raise InvalidInput(f"{path} holds no <DOC>; expected TREC documents, plain or gzipped (unpack others first)")


def read_topics(path: FilePath) -> list[Query]:
    """The number and title of every topic; what else there is, and whether its tags end, does not matter."""
    queries: list[Query] = []
    seen: dict[str, int] = {}
    for number, markup in _blocks(path, "top"):
        its_number, title = _TOPIC_NUMBER.search(markup), _TOPIC_TITLE.search(markup)
        if not its_number or not title:
            missing = "<title>" if its_number else "<num>"
            raise InvalidInput(f"{path}, line {number}: expected {missing} in the topic that begins here")
        check_new(its_number[1], seen, "topic", path, number)
        queries.append(Query(its_number[1], _plain(title[1])))
    if not queries:
        raise InvalidInput(f"{path} holds no <top>; expected topics with <num> and <title>")
    return queries


def read_qrels(path: FilePath) -> Judgments:
    """Judgments from lines `query iteration document grade`; the iteration says nothing."""
    names = ("query", "iteration", "document", "grade")
    rows = ((where, query, document, grade) for where, (query, _, document, grade) in _table(path, names))
    return gather_judgments(rows)


def write_run(path: FilePath, ranked: Iterable[tuple[str, Ranking]], tag: str) -> Path:
    """Write rankings, one query after another, to the side and then into place.

    Evaluation programs go by the scores alone and see them in single precision, where documents that score alike
    would be put in the order of their ids. So each score is written below the one before it, by the smallest step
    there is if they are equal.

    Args:
        path: the file.
        ranked: the id of each query with its documents, best first.
        tag: the run's name, without spaces.
    """
    target = Path(path)
    _check_word(tag, "tag")
    beside = target.with_name(target.name + ".part")
    try:
        with beside.open("w", encoding="utf-8") as file:
            _write_rankings(file, ranked, tag)
        beside.replace(target)
    except OSError as error:
        raise OutputTrouble(f"cannot write {target} ({error.strerror}); name another file") from error
    finally:
        with suppress(OSError):  # it is gone if all went well
            beside.unlink()
    return target


def read_run(path: FilePath) -> dict[str, list[tuple[str, float]]]:
    """The documents of each query in a run with their scores, best first.

    As in trec_eval, the scores give the order and the ranks nothing; equal scores are put in the backward order of
    their documents' ids.
    """
    run: dict[str, dict[str, float]] = {}
    for where, (query, _, document, _, written, _) in _table(path, ("query", "Q0", "document", "rank", "score", "tag")):
        scores = run.setdefault(query, {})
        if document in scores:
            raise InvalidInput(f"{where}: query {query!r} has document {document!r} twice; drop one of the two")
        scores[document] = _score(written, where)
    return {
        query: sorted(scores.items(), key=lambda found: (found[1], found[0]), reverse=True)
        for query, scores in run.items()
    }


def _write_rankings(file: IO[str], ranked: Iterable[tuple[str, Ranking]], tag: str) -> None:
    written: set[str] = set()
    for query, ranking in ranked:
        _check_word(query, "query id")
        if query in written:
            raise InvalidInput(f"run: query {query!r} comes twice; put all its documents in one ranking")
        written.add(query)
        if len({document for document, _ in ranking}) < len(ranking):
            raise InvalidInput(f"run: query {query!r} has a document twice; each has one place in a ranking")
        scores = _falling([score for _, score in ranking], query)
        for rank, ((document, _), score) in enumerate(zip(ranking, scores, strict=True), 1):
            _check_word(document, "document id")
            file.write(f"{query} Q0 {document} {rank} {score} {tag}\n")


def _falling(scores: Sequence[float], query: str) -> list[np.float32]:
    """Scores in single precision, each below the one before it. Their shortest texts fall in double precision too."""
    with np.errstate(over="ignore"):
        single = np.asarray(scores, dtype=np.float32)
    if not np.isfinite(single).all():
        raise NotFinite(f"run: query {query!r} has a score that is no finite number of single precision; drop it")
    if any(after > before for before, after in pairwise(scores)):
        raise InvalidInput(f"run: query {query!r} has a score above the one before it; expected the best first")
    falling: list[np.float32] = []
    for score in single:
        falling.append(min(score, np.nextafter(falling[-1], np.float32(-np.inf))) if falling else score)
    return falling


def _check_word(word: str, what: str) -> None:
    if not word or word.split() != [word]:
        raise InvalidInput(f"run: expected a {what} without spaces, as they separate the columns, got {glance(word)}")


def _table(path: FilePath, names: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """The columns of every line, separated by any space, with where it stands."""
    found = False
    for number, line in text_lines(path):
        where, columns, found = f"{path}, line {number}", line.split(), True
        if len(columns) != len(names):
            raise InvalidInput(
                f"{where}: expected {len(names)} columns separated by spaces ({', '.join(names)}), "
                f"got {len(columns)}: {glance(line)}"
            )
        yield where, columns
    if not found:
        raise InvalidInput(f"{path} is empty; expected lines of {' '.join(names)}")


def _score(written: str, where: str) -> float:
    try:
        score = float(written)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise InvalidInput(f"{where}: expected a finite number as the score, got {glance(written)}")
    return score


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))


def _blocks(path: FilePath, tag: str) -> Iterator[tuple[int, str]]:
    """What stands between each <tag> and its </tag>, with the line it begins in."""
    edge = re.compile(rf"(</?{tag}>)", re.IGNORECASE)
    begun = 0
    parts: list[str] = []
    for number, line in numbered_lines(path):
        for piece in edge.split(_lenient(line)):
            if not edge.fullmatch(piece):
                parts += [piece] if begun else []
            elif piece[1] != "/":
                _check_ended(begun, path, tag)
                begun, parts = number, []
            elif begun:
                yield begun, "".join(parts)
                begun = 0
    _check_ended(begun, path, tag)


def _check_ended(begun: int, path: FilePath, tag: str) -> None:
    if begun:
        raise InvalidInput(f"{path}, line {begun}: expected </{tag}> for the <{tag}> that begins here; is it cut off?")


def _lenient(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _document(markup: str, where: str) -> Document:
    number = _DOCUMENT_NUMBER.search(markup)
    if not number or not number[1]:
        raise InvalidInput(f"{where}: expected <DOCNO> with an id in the document that begins here")
    return Document(number[1], _inside(_TITLES, _TEXTS.sub(" ", markup)), _inside(_TEXTS, markup))


def _inside(tags: re.Pattern[str], markup: str) -> str:
    return _plain(" ".join(inside for _, inside in tags.findall(markup)))


def _plain(markup: str) -> str:
    """What a reader sees: no tags, entities read, and one space wherever there was any."""
    return " ".join(_OWN_ENTITY.sub(" ", html.unescape(_TAG.sub(" ", markup))).split())
