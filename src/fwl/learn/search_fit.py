"""From a collection to a ranker: documents are indexed and encoded, judged queries choose, and all is told."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from fwl.annotate.index import InvertedIndex
from fwl.errors import InvalidInput, UnknownName
from fwl.learn.search import Search
from fwl.learn.search_auto import FUSED, Fusion, Judged, Mask, SearchModel, choose_fusion, fit_search
from fwl.learn.search_encoder import AUTO, Encoding, vectors_of
from fwl.learn.search_report import SearchReport, report_of
from fwl.learn.search_student import QUERIES, train_student, weigh_student
from fwl.learn.searcher import ANNOTATORS, Searcher
from fwl.progress import Progress
from fwl.randomness import Chance
from fwl.text.analyser import Analyser
from fwl.text.collection import Collection, CountedDocuments, Judgments, Query, check_against, named
from fwl.text.made_queries import made_queries

MOST_PAIRS = 40_000_000  # judged queries times documents: some 100 bytes each while a ranker is fitted
MOST_TAUGHT = 200_000  # documents that a teacher is fitted on: some 20 kB each

LONG_DOCUMENTS = (
    30  # terms on average: RM3 adds terms from the best documents, and from a sentence or two it goes astray
)


@dataclass(frozen=True)
class SearchPlan:
    """How a ranker is to be fitted.

    Attributes:
        annotator: a name in `ANNOTATORS`, or "auto" for whichever of BM25 and BM25 + RM3 does better on judged
            queries; where there are none, RM3 for documents of some length and BM25 for short ones.
        analyser: how texts become terms.
        most_pairs: judged queries times documents; where there are more, queries are drawn.
        student: whether a student is trained on weak pairs, to speak beside the others if that pays.
        index_folder: where the index is written while it is built; None to hold it in memory.
    """

    annotator: str = AUTO
    analyser: Analyser = field(default_factory=Analyser)
    most_pairs: int = MOST_PAIRS
    student: bool = False
    index_folder: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        if self.annotator != AUTO and self.annotator not in ANNOTATORS:
            raise UnknownName("annotator", self.annotator, (AUTO, *ANNOTATORS))
        if self.most_pairs < 1:
            raise InvalidInput(f"most_pairs: expected at least 1, got {self.most_pairs}")

    @property
    def annotators(self) -> tuple[str, ...]:
        """Those to choose from."""
        return FUSED if self.annotator == AUTO else (self.annotator,)


@dataclass(frozen=True, eq=False)
class Judging:
    """Judged queries to learn from, and what had to be left out.

    Attributes:
        queries: with at least one relevant document each.
        judgments: of these, on documents that are there.
        notes: what was left out.
    """

    queries: list[Query]
    judgments: Judgments
    notes: tuple[str, ...] = ()


def fit_ranker(
    collection: Collection,
    queries: Iterable[Query],
    judgments: Judgments,
    plan: SearchPlan,
    encoding: Encoding | None,
    chance: Chance,
    weak_queries: Iterable[str] | None = None,
    progress: Progress | None = None,
) -> tuple[Search, SearchReport]:
    """Index and encode the documents, and learn from the judgments how to rank them.

    Args:
        collection: its documents are gone through once, once more where they are encoded, and twice more where weak
            queries are made of them.
        queries: some of them judged.
        judgments: may be none: then the annotator, with the encoder beside it, ranks alone.
        plan: how.
        encoding: for vectors of queries and documents; None to do without.
        chance: for whatever is drawn.
        weak_queries: for a student, where the plan asks for one; None to make them of the documents.
        progress: hears of documents as they are encoded, and of a student's steps.
    """
    index, notes = _indexed(collection, plan)
    judging = judged_of(list(queries), judgments, set(index.documents))
    judging = _drawn(judging, plan.most_pairs // len(index.lengths), len(index.lengths), chance.child("judged queries"))
    searcher = Searcher(index)
    if encoding is not None:
        vectors = vectors_of(collection.documents(), len(index.lengths), encoding.encoder, progress)
        searcher = Searcher(index, vectors, encoding.encoder.vectors)
    judged = _judged(judging, searcher)
    model, teacher = _modelled(judged, searcher, plan, chance)
    search, student = _needed(Search(searcher, model, encoding)), ""
    if plan.student:
        texts = (
            made_queries(collection, QUERIES, chance=chance.child("weak queries"))
            if weak_queries is None
            else weak_queries
        )
        search, student = _with_student(search, judged, texts, chance.child("student"), progress)
    return search, report_of(search, len(judging.queries), teacher, student, (*notes, *judging.notes))


def judged_of(queries: list[Query], judgments: Judgments, documents: set[str]) -> Judging:
    """The judged queries that can be learned from."""
    known = {query.id: query for query in queries}
    unknown = check_against(judgments, known, documents)
    there = judgments.within(known, documents)
    silent = [name for name in there if not known[name].text.strip()]
    kept = there.only(set(there) - set(silent)).answerable()
    if judgments and not kept:
        reason = (
            str(unknown) if unknown else f"none of {len(judgments)} judged queries has a word and a relevant document"
        )
        raise InvalidInput(f"the judgments teach nothing: {reason}; see that they belong to this collection")
    useless = [name for name in there if name not in kept and name not in silent]
    notes = [
        *([str(unknown)] if unknown else []),
        *_left_out(silent, "hold no word"),
        *_left_out(useless, "have no relevant document"),
    ]
    return Judging([known[name] for name in kept], kept, tuple(notes))


def _left_out(names: list[str], why: str) -> list[str]:
    return [f"judged queries that {why} are left out: {len(names)} (first: {named(names)})"] if names else []


def _indexed(collection: Collection, plan: SearchPlan) -> tuple[InvertedIndex, list[str]]:
    documents = CountedDocuments(collection.documents())
    cut = ((document.id, plan.analyser.tokens(document.whole)) for document in documents)
    settings = {"analyser": plan.analyser.settings()}
    if plan.index_folder is None:
        index = InvertedIndex.of(cut, settings)
    else:
        index = InvertedIndex.write(cut, plan.index_folder, settings)
    if not len(index.terms):
        raise InvalidInput(
            f"none of {documents.seen} documents of {collection.name} has a word to be found by; expected texts"
        )
    return index, [str(documents)] if documents.empty else []


def _drawn(judging: Judging, most: int, documents: int, chance: Chance) -> Judging:
    """As many of the judged queries as matrices [queries, documents] have room for."""
    there = len(judging.queries)
    if there <= most:
        return judging
    rows = np.sort(chance.numpy().permutation(there)[:most]).tolist()
    queries = [judging.queries[row] for row in rows]
    note = f"{most} of {there} judged queries are drawn to learn from: {documents} documents leave no room for more"
    return Judging(queries, judging.judgments.only(query.id for query in queries), (*judging.notes, note))


def _judged(judging: Judging, searcher: Searcher) -> Judged | None:
    if not judging.queries:
        return None
    return Judged(searcher.ask([query.text for query in judging.queries]), _relevant(judging, searcher.index))


def _modelled(judged: Judged | None, searcher: Searcher, plan: SearchPlan, chance: Chance) -> tuple[SearchModel, str]:
    """The model, and in a sentence what became of the teacher."""
    if judged is None:
        return _unjudged(searcher, plan), "None: without judged queries there is nothing to teach."
    refusal = _no_teacher(judged)
    if refusal:
        return choose_fusion(judged, searcher, plan.annotators), refusal
    model = fit_search(judged, searcher, chance, plan.annotators)
    assert model.choice is not None
    return model, model.choice.reason


def _unjudged(searcher: Searcher, plan: SearchPlan) -> SearchModel:
    """What is likely to rank well, where nobody can tell."""
    usual = "rm3" if searcher.index.lengths.mean() >= LONG_DOCUMENTS else "bm25"
    name = usual if plan.annotator == AUTO else plan.annotator
    return SearchModel(Fusion(name, 0.0 if searcher.document_vectors is None else 1.0), None, None)


def _with_student(
    search: Search, judged: Judged | None, texts: Iterable[str], chance: Chance, progress: Progress | None
) -> tuple[Search, str]:
    """The same with a student beside it, if that pays, and in a sentence whether it does."""
    student = train_student(search.searcher, search.model.fusion.annotator, texts, chance, progress)
    if judged is None:
        told = f"Used with weight {student.weight:g}: no query is judged, so nobody can tell whether it pays."
        return replace(search, student=student), told
    choice = weigh_student(student, search.model, judged)
    if not choice.keep:
        return search, choice.reason
    return replace(search, student=replace(student, weight=choice.weight)), choice.reason


def _relevant(judging: Judging, index: InvertedIndex) -> Mask:
    relevant = np.zeros((len(judging.queries), len(index.lengths)), dtype=bool)
    for row, query in zip(relevant, judging.queries, strict=True):
        row[index.document_numbers(judging.judgments.relevant(query.id))] = True
    return relevant


def _no_teacher(judged: Judged) -> str:
    """Why nothing can be taught; empty if it can."""
    if judged.relevant.shape[1] > MOST_TAUGHT:
        return f"None: it is fitted on at most {MOST_TAUGHT} documents, as its memory grows with them."
    return "None: every document is relevant to every query." if judged.relevant.all() else ""


def _needed(search: Search) -> Search:
    """Without what the model does not use: a teacher that is not worth it, vectors that nobody reads."""
    model = search.model
    if model.choice is None or not model.choice.keep:
        model = replace(model, teacher=None)
    if model.teacher is None and not model.fusion.dense:
        return Search(Searcher(search.searcher.index), model)
    return replace(search, model=model)
