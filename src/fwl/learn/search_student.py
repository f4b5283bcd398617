"""A student of the annotator beside the other scores: trained on weak pairs, so that it needs no judgments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils.extmath import randomized_svd

from fwl.annotate.index import InvertedIndex
from fwl.annotate.preference import WeakPairs
from fwl.annotate.weak_queries import kept_queries
from fwl.learn.search_auto import Judged, Mask, SearchModel, average_precision
from fwl.learn.searcher import Matrix, Searcher, standardised
from fwl.progress import Progress
from fwl.randomness import Chance
from fwl.records import Array
from fwl.students.losses import binary_cross_entropy
from fwl.students.ranker import Bags
from fwl.students.score_ranker import ScoreRanker
from fwl.students.training import Lesson, Training, train
from fwl.teach.correction import Choice, choose_correction
from fwl.teach.state import State
from fwl.text.analyser import Analyser

QUERIES = 5000  # weak ones, at the most
PAIRS = 500_000  # drawn from their hits
PLAN = Training(steps=3000, batch_size=128, learning_rate=1e-3)
COLUMNS, HIDDEN = 64, (128, 64)  # of a word's vector, and of the layers
WEIGHTS = (0.25, 0.5, 1.0)  # beside the other scores, to choose from on judged queries
UNJUDGED = 0.5  # where nobody can tell


@dataclass(frozen=True, eq=False)
class WeakStudent:
    """A student that scores a document for a query, in the terms of an index.

    Attributes:
        ranker: the student.
        index: of the documents it knows.
        weight: of its scores beside the others.
    """

    ranker: ScoreRanker
    index: InvertedIndex
    weight: float = UNJUDGED

    def scores(self, texts: Sequence[str], among: Mask) -> Matrix:
        """What it says of each query's candidates, standardised over them, [Q, N]; 0 outside."""
        analyser = Analyser.from_settings(self.index.settings["analyser"])
        self.ranker.show(_bags([analyser.tokens(text) for text in texts], self.index), self.ranker.documents)
        own = np.zeros(among.shape, dtype=np.float32)
        for query, (row, mask) in enumerate(zip(own, among, strict=True)):
            if mask.any():
                row[mask] = self.ranker.scores(query, np.flatnonzero(mask))
        return standardised(own, among)

    def state(self) -> State:
        """What it takes, beside the index, to be the same student again."""
        return State({"weight": self.weight}, {name: v.numpy() for name, v in self.ranker.state_dict().items()})

    @classmethod
    def from_state(cls, state: State, index: InvertedIndex) -> Self:
        """The student that `state` was taken from."""
        arrays = state.arrays
        ranker = _new_ranker([], index, arrays["texts.words.weight"], Chance(0))
        ranker.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
        return cls(ranker, index, state.settings["weight"])


def train_student(
    searcher: Searcher, annotator: str, texts: Iterable[str], chance: Chance, progress: Progress | None = None
) -> WeakStudent:
    """Train a student on what an annotator prefers for weak queries.

    Args:
        searcher: the documents.
        annotator: by its name.
        texts: weak queries; those that find too little are left out.
        chance: for whatever is drawn.
        progress: hears of every step.
    """
    weak = kept_queries(texts, searcher.analyser, searcher.annotator(annotator), most=QUERIES)
    rankings = [(hits.documents, hits.scores) for hits in weak.hits]
    pairs, label = WeakPairs(rankings, chance=chance.child("weak pairs")).draw(PAIRS)
    words = _word_vectors(searcher.index, chance.child("words"))
    ranker = _new_ranker(weak.tokens, searcher.index, words, chance.child("student"))
    train(ranker, Lesson(pairs, label), PLAN, chance.child("step 1"), loss=binary_cross_entropy, progress=progress)
    return WeakStudent(ranker, searcher.index)


def weigh_student(student: WeakStudent, model: SearchModel, judged: Judged) -> Choice:
    """Whether it is worth having beside the model, whose teacher speaks of each judged query without its judgments."""
    base, among = model.fusion(judged.asked)
    if model.teacher is not None and model.choice is not None and model.choice.keep:
        base = (base + model.choice.weight * model.teacher.leave_one_query_out()).astype(np.float32)
    before = average_precision(base, among, judged.relevant)
    said = _Said(student.scores(judged.asked.texts, among))

    def gain(added: npt.NDArray[Any]) -> Array:
        return average_precision(base + added.astype(np.float32), among, judged.relevant) - before

    return choose_correction([said], gain, WEIGHTS)[1]


@dataclass(frozen=True, eq=False)
class _Said:
    """A student's scores of judged queries as a correction: no judgment was ever shown to it."""

    scores: Matrix

    def leave_one_query_out(self) -> Matrix:
        return self.scores

    def described(self) -> dict[str, float]:
        return {}


def _new_ranker(
    queries: Sequence[Sequence[str]], index: InvertedIndex, words: npt.NDArray[np.float32], chance: Chance
) -> ScoreRanker:
    forward = index.forward
    documents = Bags(forward.offsets, forward.items, forward.frequencies.astype(np.float32))
    importance = np.log(np.log1p(len(index.lengths) / index.document_frequencies))
    return ScoreRanker(_bags(queries, index), documents, words, importance, HIDDEN, chance=chance)


def _bags(texts: Sequence[Sequence[str]], index: InvertedIndex) -> Bags:
    numbers = index.numbers
    return Bags.of([[numbers[term] for term in text if term in numbers] for text in texts])


def _word_vectors(index: InvertedIndex, chance: Chance) -> npt.NDArray[np.float32]:
    """Where words' vectors start: words of the same documents are alike (the TF-IDF matrix in few dimensions), [T, m].

    The layers above expect entries of about one over the root of the columns.
    """
    documents: Any = Searcher(index).documents
    _, _, directions = randomized_svd(documents, min(COLUMNS, *documents.shape), random_state=chance.integer())
    words = directions.T * (1.0 / (directions.std() * np.sqrt(len(directions))))
    return np.asarray(words, dtype=np.float32)
