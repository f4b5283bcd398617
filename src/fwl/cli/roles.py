"""Which column of a user's tables is what: label, weak labels, id, and what is learned from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fwl.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    import pyarrow as pa

ID = "id"  # a column of that name is taken for the id where all files have it


@dataclass(frozen=True, eq=False)
class Sheet:
    """A table and the file it came from."""

    path: Path
    table: pa.Table

    @property
    def names(self) -> list[str]:
        """Of its columns."""
        return list(self.table.column_names)

    def check_has(self, columns: Iterable[str]) -> None:
        """Refuse a table without one of these columns; the nearest name is offered."""
        for name in columns:
            if name not in self.names:
                raise UnknownName(f"column of {self.path}", name, self.names)


@dataclass(frozen=True)
class Asked:
    """What the user says of the columns; None where nothing was said."""

    label: str
    weak_labels: tuple[str, ...] | None = None
    text: str | None = None
    features: tuple[str, ...] | None = None
    id: str | None = None

    @property
    def as_text(self) -> set[str]:
        """Columns that are texts, even if every cell looks like a number."""
        return {name for name in (self.text, self.id or ID) if name is not None} - {*(self.features or ())}


@dataclass(frozen=True)
class Roles:
    """What each column is.

    Attributes:
        label: of the strong labels.
        weak_labels: one for each annotator.
        text: what is learned from, if it is texts.
        features: what is learned from, if it is a table.
        id: names the rows; None if they are numbered.
    """

    label: str
    weak_labels: tuple[str, ...]
    text: str | None
    features: tuple[str, ...]
    id: str | None

    @property
    def samples(self) -> tuple[str, ...]:
        """The columns that are learned from."""
        return self.features if self.text is None else (self.text,)

    @property
    def as_text(self) -> set[str]:
        """Columns that are texts, even if every cell looks like a number."""
        return {name for name in (self.text, self.id) if name is not None}

    def plain(self) -> dict[str, Any]:
        """For a model's notes."""
        return asdict(self)

    @classmethod
    def from_plain(cls, noted: dict[str, Any]) -> Roles:
        """What `plain` noted."""
        lists = {name: tuple(noted[name]) for name in ("weak_labels", "features")}
        return cls(**{**noted, **lists})


def assign_roles(asked: Asked, strong: Sequence[Sheet], weak: Sheet) -> Roles:
    """What each column is, as the user says and as the tables have it."""
    for sheet in strong:
        sheet.check_has([asked.label])
    weak_labels = _weak_labels(asked, weak)
    sheets = [*strong, weak]
    id_ = _id(asked, sheets)
    taken = {asked.label, *weak_labels, *([] if id_ is None else [id_])}
    _check_free(asked, taken)
    if asked.text is not None:
        _check_all(sheets, [asked.text])
        return Roles(asked.label, weak_labels, asked.text, (), id_)
    return Roles(asked.label, weak_labels, None, _features(asked, sheets, taken), id_)


def _weak_labels(asked: Asked, weak: Sheet) -> tuple[str, ...]:
    if asked.weak_labels is None and asked.label not in weak.names:
        raise InvalidInput(
            f"{weak.path} has no column {asked.label!r}; name the column of the weak labels by --weak-label "
            f"(columns: {', '.join(weak.names)})"
        )
    names = asked.weak_labels or (asked.label,)
    weak.check_has(names)
    if len(set(names)) < len(names):
        raise InvalidInput(f"--weak-label {','.join(names)}: a column comes twice; name each annotator's once")
    return names


def _id(asked: Asked, sheets: Sequence[Sheet]) -> str | None:
    if asked.id is not None:
        _check_all(sheets, [asked.id])
        return asked.id
    wanted = {asked.text, asked.label, *(asked.features or ()), *(asked.weak_labels or ())}
    return ID if ID not in wanted and all(ID in sheet.names for sheet in sheets) else None


def _check_free(asked: Asked, taken: set[str]) -> None:
    if asked.text is not None and asked.features is not None:
        raise InvalidInput("expected --text or --features, got both; a model learns from texts or from a table")
    for name in asked.features or ([] if asked.text is None else [asked.text]):
        if name in taken:
            raise InvalidInput(f"column {name!r} cannot be learned from: it is the label, a weak label or the id")


def _features(asked: Asked, sheets: Sequence[Sheet], taken: set[str]) -> tuple[str, ...]:
    if asked.features is not None:
        _check_all(sheets, asked.features)
        return asked.features
    weak = sheets[-1]
    shared = tuple(name for name in weak.names if all(name in sheet.names for sheet in sheets))
    features = tuple(name for name in shared if name not in taken)
    if not features:
        raise InvalidInput(
            f"no column is left to learn from: all files have {', '.join(shared) or 'no column in common'}; "
            "expected the same columns in the strong and the weak file"
        )
    return features


def _check_all(sheets: Sequence[Sheet], columns: Iterable[str]) -> None:
    for sheet in sheets:
        sheet.check_has(columns)
