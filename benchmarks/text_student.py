"""The text student, on made-up tweets: its size, its task, and the same network by torch's own layers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from benchmarks.student_loops import Loop, Row, loop_by_hand, package_loop, take_turns
from fwl.randomness import Chance
from fwl.students import Lesson, TextCNN
from fwl.students.batches import LikeLengths, Shuffled
from fwl.students.losses import cross_entropy

BATCH, CLASSES, LONGEST = 64, 3, 40
GOAL = 5.0  # times as fast as the plain loop
FREQUENT = 2000  # words that occur often enough to mean something to a student
NEGATIONS = 10  # the most frequent words but padding and unknown: each turns the next word's meaning round


@dataclass(frozen=True)
class Size:
    """How large everything is: tweets, vocabulary and its vectors, filters, and how steps are divided into turns."""

    tweets: int
    held_out: int
    vocabulary: int
    columns: int
    filters: int
    turns: int
    steps: int


SIZES = {
    "full": Size(64_000, 4_000, 50_000, 100, 200, turns=20, steps=50),
    "small": Size(640, 100, 300, 8, 12, turns=4, steps=5),
}


def draw_tweets(n: int, size: Size, chance: Chance) -> Lesson:
    """Word ids [n, LONGEST] and one-hot labels: 3 to 40 of Zipf's words, some with a meaning that others negate."""
    meaning = _meanings(size.vocabulary)
    rng = chance.numpy()
    lengths = np.clip(rng.gamma(3.0, 4.2, size=n).astype(int) + 3, 3, LONGEST)
    often = 1.0 / (np.arange(size.vocabulary - 2) + 2.7)
    words = 2 + rng.choice(size.vocabulary - 2, size=(n, LONGEST), p=often / often.sum())
    X = np.where(np.arange(LONGEST) < lengths[:, None], words, 0).astype(np.int32)
    negated = np.zeros(X.shape, dtype=bool)
    negated[:, 1:] = (X[:, :-1] >= 2) & (X[:, :-1] < 2 + NEGATIONS)
    score = np.where(negated, -meaning[X], meaning[X]).sum(axis=1) + 0.5 * rng.normal(size=n)
    return Lesson(X, np.eye(CLASSES)[np.digitize(score, [-0.7, 0.7])])


def _meanings(vocabulary: int) -> np.ndarray:
    """How good each word is: a fifth of the frequent ones are good or bad, the others neither."""
    rng = Chance(0).child("meanings").numpy()
    meaning = rng.normal(size=vocabulary) * (rng.random(vocabulary) < 0.2)
    meaning[: 2 + NEGATIONS] = meaning[FREQUENT:] = 0.0
    return meaning


def new_student(size: Size) -> TextCNN:
    """The start of all."""
    return TextCNN(size.vocabulary, CLASSES, size.filters, columns=size.columns, chance=Chance(0).child("student"))


class PlainModel(nn.Module):
    """The same student by torch's own layers: rows of one length, and windows that reach into the padding silenced."""

    def __init__(self, start: TextCNN) -> None:
        super().__init__()
        convolution, m = start.convolutions[0], start.words.embedding_dim
        self.words = nn.Embedding(start.words.num_embeddings, m, padding_idx=0)
        self.convolution = nn.Conv1d(m, convolution.out_features, start.width)
        self.hidden = nn.Sequential(nn.Linear(convolution.out_features, 100), nn.ReLU(), nn.Dropout(0.2))
        self.output = nn.Linear(100, CLASSES)
        with torch.no_grad():
            self.words.weight.copy_(start.words.weight)
            self.convolution.weight.copy_(convolution.weight.unflatten(1, (start.width, m)).transpose(1, 2))
            self.convolution.bias.copy_(convolution.bias)
        self.hidden.load_state_dict(start.hidden.state_dict())
        self.output.load_state_dict(start.output.state_dict())

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits of word ids [N, L]."""
        answers = torch.relu(self.convolution(self.words(ids).transpose(1, 2)))
        outside = ids[:, self.convolution.kernel_size[0] - 1 :] == 0
        return self.output(self.hidden(answers.masked_fill(outside[:, None], 0.0).amax(dim=2)))


def plain(start: TextCNN, lesson: Lesson, steps: int, fused: bool | None = None) -> Loop:
    """Rows as long as the longest of all."""
    trimmed = Lesson(lesson.X[:, : (lesson.X != 0).sum(axis=1).max()], lesson.y)
    batches = Shuffled(len(lesson.X), BATCH, Chance(0).child("batches"))
    return loop_by_hand(PlainModel(start), trimmed, functional.cross_entropy, batches, steps, fused)


def packaged(start: TextCNN, lesson: Lesson, steps: int) -> Loop:
    """Batches of like length."""
    batches = LikeLengths(start.lengths(lesson.X), BATCH, Chance(0).child("batches"))
    return package_loop(start, lesson, cross_entropy, batches, BATCH, steps)


def measure(size_name: str) -> list[Row]:
    """A row for each turn."""
    size = SIZES[size_name]
    lesson = draw_tweets(size.tweets, size, Chance(0).child("tweets"))
    held_out = draw_tweets(size.held_out, size, Chance(0).child("held-out tweets"))
    loops = {
        "plain": plain(new_student(size), lesson, size.steps),
        "fused": plain(new_student(size), lesson, size.steps, fused=True),
        "fwl": packaged(new_student(size), lesson, size.steps),
    }
    return take_turns(loops, size.turns, size.steps * BATCH, held_out, cross_entropy)
