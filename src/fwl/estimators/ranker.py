"""Documents to rank, behind scikit-learn's contract as far as it fits."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from fwl.errors import InvalidInput
from fwl.learn.search_auto import DEPTH
from fwl.learn.search_encoder import AUTO, open_encoder
from fwl.learn.search_fit import MOST_PAIRS, SearchPlan, fit_ranker
from fwl.learn.search_folder import load_search, save_search
from fwl.learn.search_report import SearchReport
from fwl.progress import Progress
from fwl.randomness import chance_from
from fwl.text.analyser import Analyser
from fwl.text.collection import Collection, Document, Judgments, Query
from fwl.text.open_collection import open_collection

FilePath = str | os.PathLike[str]
Documents = FilePath | Collection | Mapping[str, str] | Iterable[Document]
Queries = Mapping[str, str] | Iterable[Query | str]
Ranking = list[tuple[str, float]]
_SAVED = ("annotator", "stop_words", "stemmer", "most_pairs", "student", "random_state")


class FWLRanker(BaseEstimator):
    """Rank documents for queries, from an annotator that needs no judgments and from the few there are.

    An annotator's scores (BM25, or BM25 with RM3), and cosines of a sentence encoder where there is one, are fused as
    the judged queries have it best. A teacher over (query, document) corrects them near judged queries, if that pays
    on judged queries left out in turn; `report_` says what was chosen and why. Without any judgments the annotator
    ranks alone.

    Args:
        annotator: "bm25", "rm3", "tfidf" or "binary"; "auto" for the better of the first two, or without judgments the
            second for documents of some length and the first for short ones.
        encoder: a folder with a sentence encoder; "auto" for the packaged one where it is installed; None for none.
        stop_words: whether words that serve grammar alone are dropped.
        stemmer: "english", or "" for words as they are.
        most_pairs: judged queries times documents, which bounds the memory; where there are more, queries are drawn.
        student: train a student on the annotator's preferences for weak queries, and let it speak beside the others if
            that pays on judged queries (or, where none is judged, with a small weight).
        index_folder: where the index is written while it is built, for documents larger than memory; None to hold it
            in memory.
        random_state: a seed, or None for a fresh one.

    Attributes:
        report_: what was chosen and why; `str(report_)` in words.
        teacher_: the teacher over (query, document), or None where none is used.
        index_: the inverted index.
        search_: documents and model.

    >>> documents = {"a": "wings of aircraft in a slipstream", "b": "boundary layers on a flat plate", "c": "stop"}
    >>> ranker = FWLRanker(encoder=None, random_state=0).fit(documents)
    >>> [document for document, score in ranker.rank({"q1": "flat plates"})["q1"]]
    ['b']
    """

    def __init__(
        self,
        annotator: str = AUTO,
        encoder: FilePath | None = AUTO,
        stop_words: bool = True,
        stemmer: str = "english",
        most_pairs: int = MOST_PAIRS,
        student: bool = False,
        index_folder: FilePath | None = None,
        random_state: int | None = None,
    ) -> None:
        self.annotator = annotator
        self.encoder = encoder
        self.stop_words = stop_words
        self.stemmer = stemmer
        self.most_pairs = most_pairs
        self.student = student
        self.index_folder = index_folder
        self.random_state = random_state

    def fit(
        self,
        documents: Documents,
        queries: Queries | None = None,
        judgments: Mapping[str, Mapping[str, int]] | None = None,
        weak_queries: Iterable[str] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Index the documents and learn from judged queries.

        Args:
            documents: a collection, the folder or id of one, texts by their ids, or `Document`s.
            queries: texts by their ids, or `Query`s; the collection's own by default.
            judgments: query id -> document id -> grade, above 0 for relevant; the collection's own by default, if it
                has any.
            weak_queries: queries that nobody judged, for the student; by default they are made of the documents.
            progress: hears of documents as they are encoded, and of the student's steps.
        """
        if weak_queries is not None and not self.student:
            raise InvalidInput("weak queries are for a student; ask for one with student=True, or leave them out")
        collection = as_collection(documents)
        analyser = Analyser(self.stop_words, self.stemmer)
        plan = SearchPlan(self.annotator, analyser, self.most_pairs, self.student, self.index_folder)
        judged = _judgments(collection, judgments)
        asked = (collection.queries() if queries is None else as_queries(queries)) if judged else []
        encoding, chance = open_encoder(self.encoder), chance_from(self.random_state)
        learned = fit_ranker(collection, asked, judged, plan, encoding, chance, weak_queries, progress)
        self.search_, self.report_ = learned
        self._tell()
        return self

    def rank(self, queries: Queries, depth: int = DEPTH) -> dict[str, Ranking]:
        """For each query the ids and scores of its documents, the best first.

        Args:
            queries: texts by their ids, or `Query`s; texts alone get their places, from "1", as ids.
            depth: the most documents of a query. A query that finds nothing has none.
        """
        return dict(self.rank_each(queries, depth))

    def rank_each(self, queries: Queries, depth: int = DEPTH) -> Iterator[tuple[str, Ranking]]:
        """The same one query after another, for many queries: what `write_run` takes."""
        check_is_fitted(self, "search_")
        asked = as_queries(queries)
        _check_words(asked)
        ranked = self.search_.ranked([query.text for query in asked], depth)
        names = self.index_.documents
        return (
            (query.id, [(names[number], float(score)) for number, score in zip(*found, strict=True)])
            for query, found in zip(asked, ranked, strict=True)
        )

    def save(self, folder: FilePath) -> Path:
        """Write the fitted ranker to a folder, with all it needs except the sentence encoder."""
        check_is_fitted(self, "search_")
        settings = {name: getattr(self, name) for name in _SAVED}
        encoder = None if self.encoder is None else str(self.encoder)
        return save_search(
            self.search_, folder, {"settings": {**settings, "encoder": encoder}, "report": self.report_.plain()}
        )

    @classmethod
    def load(cls, folder: FilePath, encoder: FilePath | None = None) -> Self:
        """The ranker that was saved there; `encoder` is where its sentence encoder lies now, if that was moved."""
        stored = load_search(folder, encoder)
        ranker = cls(**stored.settings["settings"])
        ranker.search_ = stored.search
        ranker.report_ = SearchReport.from_plain(stored.settings["report"])
        ranker._tell()
        return ranker

    def _tell(self) -> None:
        self.teacher_, self.index_ = self.search_.model.teacher, self.search_.searcher.index


def as_collection(given: Documents) -> Collection:
    """What `fit` takes as documents, as a collection."""
    if isinstance(given, str | os.PathLike):
        return open_collection(os.fspath(given))
    if callable(getattr(given, "documents", None)):
        return given  # type: ignore[return-value]
    if isinstance(given, Mapping):
        return _Listed([Document(name, "", text) for name, text in given.items()])
    listed = list(given)  # type: ignore[arg-type]
    wrong = next((document for document in listed if not isinstance(document, Document)), None)
    if wrong is not None:
        raise InvalidInput(
            f"documents: expected texts by their ids, or Documents, got {wrong!r:.60}; name each by an id"
        )
    return _Listed(listed)


def as_queries(given: Queries) -> list[Query]:
    """What `fit` and `rank` take as queries, each with an id of its own."""
    if isinstance(given, str):
        raise InvalidInput(f"queries: expected several, got one text {given!r:.60}; give a list")
    if isinstance(given, Mapping):
        return [Query(name, text) for name, text in given.items()]
    queries = [one if isinstance(one, Query) else Query(str(place), one) for place, one in enumerate(given, 1)]
    if len({query.id for query in queries}) < len(queries):
        raise InvalidInput("queries: two of them have the same id; give each one of its own")
    return queries


@dataclass(frozen=True, eq=False)
class _Listed:
    """Documents at hand, with nothing else."""

    listed: list[Document]
    name: str = "the documents"
    is_judged: bool = False

    def documents(self) -> Iterator[Document]:
        return iter(self.listed)

    def queries(self) -> list[Query]:
        raise InvalidInput("judgments came without queries; give fit both")

    def judgments(self, split: str | None = None) -> Judgments:  # noqa: ARG002
        return Judgments({})


def _judgments(collection: Collection, given: Mapping[str, Mapping[str, int]] | None) -> Judgments:
    if given is not None:
        return Judgments(given)
    return collection.judgments() if collection.is_judged else Judgments({})


def _check_words(queries: list[Query]) -> None:
    for query in queries:
        if not isinstance(query.text, str) or not query.text.strip():
            raise InvalidInput(f"query {query.id!r} is empty ({query.text!r:.40}); expected a text, or leave it out")
    if not queries:
        raise InvalidInput("queries: expected at least one, got none")
