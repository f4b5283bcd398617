"""Texts from files of columns separated by tabs: labelled ones, and the pool that nobody labelled.

There is no quoting: a tab separates, a line's end ends, and whatever else stands in the last column is the text.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fwl.errors import InvalidInput, UnknownName
from fwl.records import Array
from fwl.text.files import glance, text_lines

SENTIMENTS = ("negative", "neutral", "positive")  # the order of the columns of every label


@dataclass(frozen=True, eq=False)
class LabelledTexts:
    """Texts with a class each.

    Attributes:
        ids: what the file calls each text.
        texts: as written.
        classes: the place of each text's label among `labels`, [N].
        labels: the names of the classes.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    classes: npt.NDArray[np.int64]
    labels: tuple[str, ...] = SENTIMENTS

    @property
    def y(self) -> Array:
        """The labels as `StrongSet` takes them: one column per class, [N, C]."""
        return np.eye(len(self.labels))[self.classes]

    @property
    def empty(self) -> int:
        """How many texts say nothing."""
        return count_empty(self.texts)


@dataclass(frozen=True)
class Pool:
    """Texts nobody labelled, with where each comes from."""

    sources: tuple[str, ...]
    texts: tuple[str, ...]

    @property
    def empty(self) -> int:
        """How many texts say nothing."""
        return count_empty(self.texts)


def read_labelled(path: str | os.PathLike[str], labels: Sequence[str] = SENTIMENTS) -> LabelledTexts:
    """Read lines `id TAB label TAB text`, plain or gzipped.

    Args:
        path: the file.
        labels: the classes, in the order of the label columns; any other label is refused with its line.
    """
    place = {label: column for column, label in enumerate(labels)}
    ids, classes, texts = [], [], []
    for number, (identifier, label, text) in read_columns(path, ("id", "label", "text")):
        if label not in place:
            raise UnknownName(f"label in line {number} of {path}", label, labels)
        ids.append(identifier)
        classes.append(place[label])
        texts.append(text)
    return LabelledTexts(tuple(ids), tuple(texts), np.array(classes, dtype=np.int64), tuple(labels))


def read_pool(path: str | os.PathLike[str]) -> Pool:
    """Read lines `source TAB text`, plain or gzipped."""
    rows = [columns for _, columns in read_columns(path, ("source", "text"))]
    return Pool(tuple(source for source, _ in rows), tuple(text for _, text in rows))


def read_columns(
    path: str | os.PathLike[str], names: Sequence[str], comment: str | None = None
) -> Iterator[tuple[int, list[str]]]:
    """The columns of every line that is not blank, with the line's number; the last takes all that is left.

    Args:
        path: a UTF-8 file, plain or gzipped.
        names: what the columns are, for the message about a line that lacks one.
        comment: how lines begin that are passed over.
    """
    found = False
    for number, line in text_lines(path):
        if comment and line.startswith(comment):
            continue
        found = True
        yield number, _columns(line, names, f"{path}, line {number}")
    if not found:
        raise InvalidInput(f"{path} is empty; expected lines of {' TAB '.join(names)}")


def _columns(line: str, names: Sequence[str], where: str) -> list[str]:
    columns = line.split("\t", len(names) - 1)
    if len(columns) < len(names):
        raise InvalidInput(
            f"{where}: expected {len(names)} columns separated by tabs ({', '.join(names)}), "
            f"got {len(columns)}: {glance(line)}"
        )
    return columns


def count_empty(texts: Sequence[str]) -> int:
    """How many texts hold nothing but space."""
    return sum(not text.strip() for text in texts)
