"""What a ranker was made of and what it chose, in words and as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

from fwl.learn.search import Search
from fwl.learn.search_auto import Fusion, SearchModel


@dataclass(frozen=True)
class SearchReport:
    """What a ranker was made of, what it chose, and why.

    Attributes:
        documents: how many there are.
        judged: how many judged queries it learned from.
        base: the scores it ranks by.
        why: these, in a sentence.
        teacher: whether a teacher over (query, document) corrects them, in a sentence.
        corrected: the same in a word.
        gain: in average precision by the teacher, on judged queries left out in turn; None where there was no teacher.
        standard_error: of that.
        encoder: where vectors come from; "" without.
        student: whether a student of the annotator speaks beside them, in a sentence; "" where none was asked for.
        notes: what was left out or cut short.
    """

    documents: int
    judged: int
    base: str
    why: str
    teacher: str
    corrected: bool
    gain: float | None
    standard_error: float | None
    encoder: str
    student: str = ""
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        ranks = f"Ranks {self.documents} documents by {self.base}: {self.why}."
        student = f" Student on weak pairs: {self.student}" if self.student else ""
        return f"{ranks} Teacher over (query, document): {self.teacher}{student}"

    def plain(self) -> dict[str, Any]:
        """As JSON holds it."""
        return asdict(self)

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Self:
        """The report that `plain` was taken from."""
        return cls(**{**plain, "notes": tuple(plain["notes"])})


def report_of(search: Search, judged: int, teacher: str, student: str, notes: tuple[str, ...]) -> SearchReport:
    """What there is to say of a ranker that learned from so many judged queries."""
    model = search.model
    return SearchReport(
        documents=len(search.searcher.index.lengths),
        judged=judged,
        base=_in_words(model.fusion),
        why=_why(model, judged),
        teacher=teacher,
        corrected=model.teacher is not None,
        gain=None if model.choice is None else model.choice.best.gain,
        standard_error=None if model.choice is None else model.choice.best.standard_error,
        encoder="" if search.encoding is None else str(search.encoding),
        student=student,
        notes=notes,
    )


def _in_words(fusion: Fusion) -> str:
    return f"{fusion.annotator} + {fusion.dense:g} x dense" if fusion.dense else fusion.annotator


def _why(model: SearchModel, judged: int) -> str:
    if not model.tried:
        return "no query is judged, so nothing was chosen: this is the annotator as it is"
    found = f"mean average precision {model.tried[model.fusion]:.4f} on {judged} judged queries"
    return f"{found}, the best of {len(model.tried)}" if len(model.tried) > 1 else found
