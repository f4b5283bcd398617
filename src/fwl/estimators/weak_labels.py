"""Weak labels of every kind, read: names of classes, votes of several annotators, distributions, numbers, gaps."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from fwl.annotate.votes import Ballots, Votes
from fwl.errors import InvalidInput, WrongShape
from fwl.learn.recipe import ROUNDING
from fwl.records import Array
from fwl.tables.frames import as_table, is_frame

ABSTAINS = -1  # among numbers, unless it is a class
SHOWN = 5  # how many unknown classes a message names

ClassMap = Mapping[Any, Any]


@dataclass(frozen=True, eq=False)
class ClassReader:
    """Reads weak labels in terms of the strong labels' classes.

    Attributes:
        classes: in the order of the label columns.
        class_map: what other names stand for: a class, or None for an abstention.
    """

    classes: tuple[Hashable, ...]
    class_map: ClassMap | None = None

    def __post_init__(self) -> None:
        for name, target in (self.class_map or {}).items():
            if target is not None and target not in self.classes:
                raise InvalidInput(
                    f"class_map: {name!r} is mapped to {target!r}, which is no class of the strong labels "
                    f"({_named(self.classes)})"
                )

    def read(self, y: Any, samples: int) -> Ballots | Array:
        """Votes, or distributions [N, C] with rows of NaN where there is none.

        Args:
            y: one class a sample (None, NaN, an empty text or, among numbers, -1 for an abstention); a matrix of such,
                one column for each annotator; the same as a sparse matrix, a frame or `Votes`; or a matrix of
                probabilities, one column for each class.
            samples: how many there should be.
        """
        votes = y if isinstance(y, Votes) else Votes(y)
        ballots: Ballots | Array
        if scipy.sparse.issparse(votes.values):
            ballots = self._of_sparse(votes)
        elif is_frame(votes.values):
            ballots = self._of_frame(votes)
        else:
            ballots = self._of_array(np.asarray(votes.values), votes, explicit=isinstance(y, Votes))
        found = ballots.samples if isinstance(ballots, Ballots) else len(ballots)
        if found != samples:
            raise WrongShape(f"weak labels have {found} rows and their samples {samples}; expected as many")
        return ballots

    def _of_array(self, values: npt.NDArray[Any], votes: Votes, explicit: bool) -> Ballots | Array:
        if values.ndim == 2 and not explicit and self._are_distributions(values):
            return np.where(np.isnan(values).any(axis=1, keepdims=True), np.nan, values.astype(np.float64))
        matrix = values[:, None] if values.ndim == 1 else values
        if matrix.ndim != 2 or not matrix.size:
            raise WrongShape(f"weak labels: expected [N], or [N, L] for L annotators, got shape {values.shape}")
        return self._of_columns(list(matrix.T), votes.names, votes.codes)

    def _of_frame(self, votes: Votes) -> Ballots | Array:
        table = as_table(votes.values)
        if {str(c) for c in self.classes} == set(table.column_names) and len(self.classes) > 1:
            columns = [table[str(c)].cast("float64").to_numpy() for c in self.classes]
            return _checked_distributions(np.stack(columns, axis=1).astype(np.float64))
        columns = [np.array(table[name].to_pylist(), dtype=object) for name in table.column_names]
        return self._of_columns(columns, votes.names or table.column_names, votes.codes)

    def _of_sparse(self, votes: Votes) -> Ballots:
        entries = votes.values.tocoo()
        coded = votes.codes.keys() if votes.codes is not None else self.classes
        if 0 in coded and not (entries.data == 0).any():
            raise InvalidInput(
                "sparse votes: 0 is a class here, and a sparse matrix stores no zeros; number the classes from 1 and "
                "say what they stand for with Votes(matrix, codes={1: ..., 2: ...}), or give a dense matrix"
            )
        choice = self._numbered(entries.data, votes.codes)
        said = choice >= 0
        names = _names(votes.names, entries.shape[1])
        row, who = entries.row.astype(np.int64)[said], entries.col.astype(np.int64)[said]
        return Ballots(row, who, choice[said], entries.shape[0], len(self.classes), names)

    def _of_columns(
        self, columns: Sequence[npt.NDArray[Any]], names: Sequence[str] | None, codes: ClassMap | None
    ) -> Ballots:
        matrix = np.stack([self._numbered(column, codes) for column in columns], axis=1)
        row, who = np.nonzero(matrix >= 0)
        names = _names(names, len(columns))
        return Ballots(row, who, matrix[row, who], len(matrix), len(self.classes), tuple(names))

    def _are_distributions(self, values: npt.NDArray[Any]) -> bool:
        """Whether a matrix holds probabilities: as many columns as classes, and rows that sum to one, or NaN."""
        if values.dtype.kind not in "fiub" or values.shape[1] != len(self.classes):
            return False
        numbers = values.astype(np.float64)
        present = numbers[~np.isnan(numbers).any(axis=1)]
        sums_to_one = np.abs(present.sum(axis=1) - 1.0) <= ROUNDING
        return bool(len(present)) and bool((present >= 0).all()) and bool(sums_to_one.all())

    def _numbered(self, values: npt.NDArray[Any], codes: ClassMap | None) -> npt.NDArray[np.int64]:
        """The place of each value among the classes, -1 for an abstention."""
        different, inverse = _different(values)
        places = [self._place(value, codes) for value in different]
        unknown = [value for value, place in zip(different, places, strict=True) if place is None]
        if unknown:
            raise InvalidInput(self._complaint(unknown, codes))
        return np.array(places, dtype=np.int64)[inverse]

    def _place(self, value: Any, codes: ClassMap | None) -> int | None:
        """A class's place, -1 for an abstention, None for a class nobody knows."""
        if codes is not None and value in codes:
            value = codes[value]
        if value in (self.class_map or {}):
            value = (self.class_map or {})[value]
        if value in self.classes:
            return self.classes.index(value)
        return -1 if _is_gap(value) else None

    def _complaint(self, unknown: Sequence[Any], codes: ClassMap | None) -> str:
        shown = _named(unknown[:SHOWN]) + (f" and {len(unknown) - SHOWN} more" if len(unknown) > SHOWN else "")
        known = f"({_named(self.classes)})" + (f", nor among the codes ({_named(codes)})" if codes else "")
        return (
            f"weak labels: {shown} not among the classes of the strong labels {known}; map them with "
            f"class_map={{{unknown[0]!r}: {self.classes[0]!r}}}, or to None for an abstention, or name all classes"
        )


def read_numbers(y: Any, samples: int) -> tuple[Array, tuple[str, ...]]:
    """Numbers of one or several annotators, [N, L], NaN for an abstention; and the annotators' names."""
    names = None
    if is_frame(y):
        table = as_table(y)
        names, y = table.column_names, np.stack([table[c].to_numpy() for c in table.column_names], axis=1)
    try:
        values = np.array(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInput("weak labels: expected numbers, NaN for an abstention; this is a regression") from error
    matrix = values[:, None] if values.ndim == 1 else values
    if matrix.ndim != 2 or len(matrix) != samples:
        raise WrongShape(f"weak labels have shape {values.shape} and there are {samples} samples; expected as many")
    if np.isinf(matrix).any():
        raise InvalidInput("weak labels: infinity among them; drop those rows, or make them NaN for an abstention")
    return matrix, _names(names, matrix.shape[1])


def _checked_distributions(values: Array) -> Array:
    broken = (values < 0).any(axis=1) | (np.abs(values.sum(axis=1) - 1.0) > ROUNDING)
    if broken.any():
        row = int(np.flatnonzero(broken)[0])
        raise InvalidInput(
            f"weak labels: a column for each class holds probabilities, expected rows that sum to 1, got "
            f"{values[row].tolist()} in row {row}; leave all cells of a row empty for an abstention"
        )
    return values


def _different(values: npt.NDArray[Any]) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """The different values, and which of them each is."""
    if values.dtype.kind in "iubUS" or (values.dtype.kind == "f" and not np.isnan(values).any()):
        found, inverse = np.unique(values, return_inverse=True)
        return [_whole(value) for value in found.tolist()], inverse
    place: dict[Any, int] = {}
    inverse = np.fromiter((place.setdefault(_key(value), len(place)) for value in values.tolist()), np.int64)
    return list(place), inverse


def _key(value: Any) -> Any:
    """One value for every gap: NaN is not equal to itself."""
    return None if _is_nan(value) else _whole(value)


def _whole(value: Any) -> Any:
    """A number without a fraction as a whole one: classes that were numbered stay so when they come as floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_gap(value: Any) -> bool:
    """Whether a value that is no class stands for an abstention."""
    if value is None or _is_nan(value):
        return True
    return not value.strip() if isinstance(value, str) else bool(value == ABSTAINS)


def _is_nan(value: Any) -> bool:
    try:
        return bool(value != value)
    except TypeError:  # pandas' NA answers no question
        return True


def _names(names: Sequence[str] | None, count: int) -> tuple[str, ...]:
    if names is None:
        return ("weak",) if count == 1 else tuple(f"annotator {i}" for i in range(count))
    if len(names) != count:
        raise WrongShape(f"votes: {count} annotators and {len(names)} names ({', '.join(names)}); expected as many")
    return tuple(names)


def _named(values: Iterable[Any]) -> str:
    return ", ".join(repr(value) for value in values)
