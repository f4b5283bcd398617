"""The ranking student, on made-up documents and queries: its size, its task, and the same network over padded rows.

A word belongs to one topic and is of good or of bad documents. A query is about one topic, a document about several in
shares of its own, and has more good words or more bad ones. How well a document answers a query is its share of the
query's topic, times what its good words make it worth; the label of a pair is the paper's, document+'s part of both.
Words start with vectors that tell their topics through noise, as vectors learned from texts would, but not whether they
are good: students learn that of each word, and how fast depends on the optimiser of the vectors.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from benchmarks.student_loops import Loop, Row, loop_by_hand, package_loop, take_turns
from fwl.annotate.preference import ratio
from fwl.randomness import Chance
from fwl.students import Bags, Lesson, PairRanker
from fwl.students.batches import Shuffled
from fwl.students.losses import binary_cross_entropy

BATCH = 128
GOAL = 4.0  # times as fast as the plain loop
TOPICS = 4
KINDS = 2 * TOPICS  # bad words of each topic, then good ones
FLATTENED = 50 / KINDS  # of a kind's words, the one of rank r occurs in proportion to 1 / (r + this)
MIXED = 0.3  # the smaller, the more a document is about one topic alone
SPLIT = 0.5  # the smaller, the more a document's words are all good or all bad
UNTOLD = 0.05  # how well a document without a word of the query's topic answers it
WORTH = 1.5  # the log of what good words alone make of a document; bad ones, the inverse
NOISE = 2.0  # of a word's vector, where its topic has 1
SHORTEST, LONGEST = 2, 6  # queries


@dataclass(frozen=True)
class Size:
    """How large everything is: texts, pairs, vocabulary and its vectors, layers, and how steps come in turns."""

    queries: int
    documents: int
    shortest: int
    longest: int
    pairs: int
    held_out: int
    vocabulary: int
    columns: int
    hidden: tuple[int, ...]
    turns: int
    steps: int


SIZES = {
    "full": Size(2000, 20_000, 150, 250, 20_000, 1000, 100_000, 300, (256, 128), turns=10, steps=12),
    "small": Size(50, 200, 5, 12, 2000, 100, 300, 8, (12, 6), turns=3, steps=4),
}


@dataclass(frozen=True)
class Texts:
    """What pairs are drawn from.

    Attributes:
        queries: word ids of each, padded with 0 to the longest, [Q, L].
        documents: the same, in another length.
        topic: what each query is about, [Q].
        shares: how much of each document is about each topic, [D, TOPICS].
        good: how much of each document is good words, [D].
    """

    queries: np.ndarray
    documents: np.ndarray
    topic: np.ndarray
    shares: np.ndarray
    good: np.ndarray


def draw_texts(size: Size, chance: Chance) -> Texts:
    """All queries and documents."""
    rng = chance.child("queries").numpy()
    topic = rng.integers(TOPICS, size=size.queries)
    kinds = topic[:, None] + TOPICS * rng.integers(2, size=(size.queries, LONGEST))
    queries = _draw_words(rng, kinds, SHORTEST, size.vocabulary)
    rng, words = chance.child("documents").numpy(), (size.documents, size.longest)
    shares, good = rng.dirichlet(np.full(TOPICS, MIXED), size.documents), rng.beta(SPLIT, SPLIT, size.documents)
    topics = (rng.random((*words, 1)) > np.cumsum(shares, axis=1)[:, None, :-1]).sum(axis=2)
    kinds = topics + TOPICS * (rng.random(words) < good[:, None])
    return Texts(queries, _draw_words(rng, kinds, size.shortest, size.vocabulary), topic, shares, good)


def _draw_words(rng: np.random.Generator, kinds: np.ndarray, shortest: int, vocabulary: int) -> np.ndarray:
    """A word id of each kind, and 0 behind the end of each row; ids go round the kinds, from frequent to rare."""
    ranks = (vocabulary - 1) // KINDS
    rank = (FLATTENED * ((ranks + FLATTENED) / FLATTENED) ** rng.random(kinds.shape) - FLATTENED).astype(int)
    lengths = rng.integers(shortest, kinds.shape[1] + 1, size=(len(kinds), 1))
    return np.where(np.arange(kinds.shape[1]) < lengths, 1 + KINDS * rank + kinds, 0)


def draw_lessons(texts: Texts, size: Size, chance: Chance) -> tuple[Lesson, Lesson]:
    """Pairs to learn from, and pairs of the last tenth of queries and of documents, which no other pair names."""
    ends = np.array([size.queries, size.documents, size.documents])
    edges = ends * 9 // 10
    rng, fresh = chance.child("pairs").numpy(), chance.child("held-out pairs").numpy()
    return (
        _labelled(rng.integers(0, edges, size=(size.pairs, 3)), texts),
        _labelled(fresh.integers(edges, ends, size=(size.held_out, 3)), texts),
    )


def _labelled(pairs: np.ndarray, texts: Texts) -> Lesson:
    query, documents = pairs[:, :1], pairs[:, 1:]
    told = UNTOLD + texts.shares[documents, texts.topic[query]]
    plus, minus = (told * np.exp(WORTH * (2.0 * texts.good[documents] - 1.0))).T
    return Lesson(pairs.astype(np.int32), ratio(plus, minus)[:, None])


def new_student(texts: Texts, size: Size) -> PairRanker:
    """The start of all."""
    rng = Chance(0).child("word vectors").numpy()
    directions, topic = rng.normal(size=(TOPICS, size.columns)), (np.arange(size.vocabulary) - 1) % TOPICS
    vectors = (directions[topic] + NOISE * rng.normal(size=(size.vocabulary, size.columns))) / size.columns**0.5
    queries, documents = (Bags.of(row[row > 0] for row in rows) for rows in (texts.queries, texts.documents))
    found_in = np.maximum(1, np.bincount(documents.ids, minlength=size.vocabulary))
    importance = np.log(np.log1p(len(documents) / found_in))
    return PairRanker(queries, documents, vectors, importance, size.hidden, chance=Chance(0).child("student"))


class PlainRanker(nn.Module):
    """The same student over rows of one length, each word as often as it occurs, and every text of a batch anew."""

    def __init__(self, start: PairRanker, texts: Texts) -> None:
        super().__init__()
        words, importance = (table.weight.detach().clone() for table in (start.texts.words, start.texts.importance))
        self.words = nn.Embedding.from_pretrained(words, freeze=False, padding_idx=0)
        self.importance = nn.Embedding.from_pretrained(importance, freeze=False, padding_idx=0)
        self.hidden, self.output = copy.deepcopy(start.hidden), copy.deepcopy(start.output)
        self.queries, self.documents = torch.from_numpy(texts.queries), torch.from_numpy(texts.documents)

    def forward(self, pairs: torch.Tensor) -> torch.Tensor:
        """Logits of (query, document+, document-), [N, 3]."""
        query, plus, minus = pairs.unbind(1)
        rows = self.queries[query], self.documents[plus], self.documents[minus]
        return self.output(self.hidden(torch.cat([self.mean(ids) for ids in rows], dim=1)))

    def mean(self, ids: torch.Tensor) -> torch.Tensor:
        """The vectors of texts, [N, L] -> [N, m]: a word counts by exp(omega), padding not at all."""
        omega = self.importance(ids).squeeze(2).masked_fill(ids == 0, -torch.inf)
        return torch.bmm(torch.softmax(omega, dim=1)[:, None], self.words(ids)).squeeze(1)


def plain(start: PairRanker, texts: Texts, lesson: Lesson, steps: int, fused: bool | None = None) -> Loop:
    """Gradients of all words."""
    mean_loss = functional.binary_cross_entropy_with_logits
    return loop_by_hand(PlainRanker(start, texts), lesson, mean_loss, _batches(lesson), steps, fused)


def packaged(start: PairRanker, lesson: Lesson, steps: int) -> Loop:
    """Gradients of the batch's words."""
    return package_loop(start, lesson, binary_cross_entropy, _batches(lesson), BATCH, steps)


def _batches(lesson: Lesson) -> Shuffled:
    return Shuffled(len(lesson.X), BATCH, Chance(0).child("batches"))


def measure(size_name: str) -> list[Row]:
    """A row for each turn."""
    size = SIZES[size_name]
    texts = draw_texts(size, Chance(0))
    lesson, held_out = draw_lessons(texts, size, Chance(0))
    start = new_student(texts, size)
    loops = {
        "plain": plain(start, texts, lesson, size.steps),
        "fused": plain(start, texts, lesson, size.steps, fused=True),
        "fwl": packaged(copy.deepcopy(start), lesson, size.steps),
    }
    return take_turns(loops, size.turns, size.steps * BATCH, held_out, binary_cross_entropy)
