"""Collections that ir_datasets knows by an id, such as disks45/nocr/trec-robust-2004 (extra `ranking`).

ir_datasets looks for their files in its own folder (IR_DATASETS_HOME). What is free to copy and missing there it
fetches itself; what is licensed, such as TREC's disks and ClueWeb, has to be put there first.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fwl.errors import InvalidInput, UnknownName
from fwl.text.collection import Document, Judgments, Query

SPLITS = ("train", "dev", "validation", "test")  # what ir_datasets calls the parts of a collection


@dataclass(frozen=True)
class IrDataset:
    """A collection by its id in ir_datasets' catalogue.

    Attributes:
        id: as in the catalogue, of the whole collection (beir/nfcorpus) or of one part (beir/nfcorpus/test).
    """

    id: str

    def __post_init__(self) -> None:
        _ = self._dataset  # an id that does not exist is told here, not when it is first read

    @property
    def name(self) -> str:
        """The id."""
        return self.id

    @property
    def splits(self) -> tuple[str, ...]:
        """The parts that have judgments of their own."""
        catalogue = _require_ir_datasets().registry
        names = set(catalogue)
        return tuple(
            split for split in SPLITS if (part := f"{self.id}/{split}") in names and catalogue[part].has_qrels()
        )

    def documents(self) -> Iterator[Document]:
        """All documents, with the text that ir_datasets counts as theirs."""
        self._check_has("docs", "documents")
        with self._absence_told("documents"):
            for document in self._dataset.docs_iter():
                yield _document(document)

    def queries(self) -> list[Query]:
        """All queries; of those with several fields the one that is typed (a topic's title)."""
        self._check_has("queries", "queries")
        with self._absence_told("queries"):
            return [Query(query.query_id, query.default_text()) for query in self._dataset.queries_iter()]

    @property
    def is_judged(self) -> bool:
        """Whether it, or a part of it, has judgments."""
        return bool(self._dataset.has_qrels() or self.splits)

    def judgments(self, split: str | None = None) -> Judgments:
        """The judgments of one part, or the collection's own, or else those of all its parts."""
        if split is not None and not self.splits:
            raise InvalidInput(f"{self.id} is not split, got split {split!r}; ask for all judgments, with None")
        if split is not None and split not in self.splits:
            raise UnknownName(f"split of {self.id}", split, self.splits)
        if split is None and self._dataset.has_qrels():
            return Judgments(self._grades(self._dataset))
        parts = self.splits if split is None else (split,)
        if not parts:
            raise InvalidInput(f"{self.id} holds no judgments; name a part of it that does, from the catalogue")
        merged: dict[str, dict[str, int]] = {}
        for part in parts:
            for query, grades in self._grades(_load(f"{self.id}/{part}")).items():
                merged.setdefault(query, {}).update(grades)
        return Judgments(merged)

    @cached_property
    def _dataset(self) -> Any:
        return _load(self.id)

    def _grades(self, dataset: Any) -> dict[str, dict[str, int]]:
        with self._absence_told("judgments"):
            grades: dict[str, dict[str, int]] = dataset.qrels_dict()
            return grades

    def _check_has(self, entity: str, what: str) -> None:
        if not getattr(self._dataset, f"has_{entity}")():
            raise InvalidInput(f"{self.id} holds no {what}; name a part of it that does, from the catalogue")

    @contextmanager
    def _absence_told(self, what: str) -> Iterator[None]:
        """While something is read: what is missing is told with where to find out about it."""
        try:
            yield
        except (OSError, RuntimeError, ImportError) as error:
            page = f"https://ir-datasets.com/{self.id.partition('/')[0]}.html"
            raise InvalidInput(
                f"the {what} of {self.id} cannot be read ({error}); put its files where {page} says"
            ) from error


def _document(document: Any) -> Document:
    """Kinds of documents differ in their fields; all say what their text is, and many begin it with a title."""
    whole = document.default_text()
    title = getattr(document, "title", None)
    if not isinstance(title, str) or not whole.startswith(title):
        title = ""
    return Document(document.doc_id, title, whole.removeprefix(title).lstrip())


def _load(identifier: str) -> Any:
    ir_datasets = _require_ir_datasets()
    try:
        return ir_datasets.load(identifier)
    except KeyError as error:
        near = difflib.get_close_matches(identifier, list(ir_datasets.registry), n=3)
        hint = f"did you mean {' or '.join(map(repr, near))}? " if near else ""
        raise InvalidInput(
            f"ir_datasets knows no collection {identifier!r}; {hint}see https://ir-datasets.com for its catalogue"
        ) from error


def _require_ir_datasets() -> Any:
    try:
        import ir_datasets
    except ImportError as error:
        raise InvalidInput("IrDataset needs ir_datasets; install it with: pip install 'fwl[ranking]'") from error
    return ir_datasets
