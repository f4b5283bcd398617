"""Small lessons, students and listeners that many tests share."""

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from fwl.randomness import Chance
from fwl.students import Lesson, Perceptron, Student, TextCNN, WrappedStudent

WORDS = 11  # the vocabulary of the sparse student


def lesson(n: int = 30, columns: int = 3, *, weighted: bool = False, seed: int = 0) -> Lesson:
    """A smooth function of a few columns, with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    y = np.sin(X.sum(axis=1)) + 0.1 * rng.normal(size=n)
    return Lesson(X, y, rng.uniform(0.1, 1.0, size=n) if weighted else None)


def word_lesson(n: int = 30, seed: int = 0) -> Lesson:
    """Rows of three word numbers; the label is how often the first few words occur."""
    X = np.random.default_rng(seed).integers(0, WORDS, size=(n, 3))
    return Lesson(X, (X < 4).mean(axis=1))


def text_lesson(n: int = 30, columns: int = 9, *, weighted: bool = False, seed: int = 0) -> Lesson:
    """Texts of 1 to all columns of word ids beside a vector of numbers; the label is the share of the first few ids."""
    rng = np.random.default_rng(seed)
    X = np.zeros(n, dtype=[("tokens", np.int32, (columns,)), ("vector", np.float32, (4,))])
    lengths = rng.integers(1, columns + 1, size=n)
    inside = np.arange(columns) < lengths[:, None]
    X["tokens"] = np.where(inside, rng.integers(1, WORDS, size=(n, columns)), 0)
    X["vector"] = rng.normal(size=(n, 4))
    y = ((X["tokens"] > 0) & (X["tokens"] < 4)).sum(axis=1) / lengths
    return Lesson(X, y, rng.uniform(0.1, 1.0, size=n) if weighted else None)


def text_cnn(layers: int = 1, dropout: float = 0.0, classes: int = 1, seed: int = 0) -> TextCNN:
    return TextCNN(
        WORDS, classes, filters=6, layers=layers, hidden=(5,), dropout=dropout, columns=4, chance=Chance(seed)
    )


def perceptron(n_inputs: int = 3, n_outputs: int = 1, seed: int = 0) -> Perceptron:
    return Perceptron(n_inputs, n_outputs, hidden=(8, 5), chance=Chance(seed))


def wrapped() -> WrappedStudent:
    return _seeded(lambda: _split(nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 1)), at=2))


def with_dropout() -> WrappedStudent:
    return _seeded(lambda: _split(nn.Sequential(nn.Linear(3, 16), nn.Dropout(0.5), nn.Linear(16, 1)), at=2))


def sparse(mode: str = "mean") -> WrappedStudent:
    """Averaged word vectors with sparse gradients, then a linear layer."""
    return _seeded(
        lambda: WrappedStudent(
            nn.ModuleDict({"words": nn.EmbeddingBag(WORDS, 4, mode=mode, sparse=True), "out": nn.Linear(4, 1)}),
            represent=lambda module, x: module["words"](x.long()),
            predict_from=lambda module, psi: module["out"](psi),
        )
    )


def parameters_of(student: Student) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in student.state_dict().items()}


def same_bits(one: Student, other: Student) -> bool:
    a, b = one.state_dict(), other.state_dict()
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


class Listener:
    """Hears of progress, and stops the work when it has heard enough."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.stop_after, self.heard = stop_after, []
        self.total, self.finished = 0, False

    def start(self, total: int, what: str) -> None:
        self.total, self.what = total, what

    def advance(self, amount: int = 1) -> None:
        self.heard.append(amount)
        if self.stop_after is not None and sum(self.heard) >= self.stop_after:
            raise Interrupted

    def finish(self) -> None:
        self.finished = True


class Interrupted(Exception):
    """Somebody pulled the plug."""


def _split(module: nn.Sequential, at: int) -> WrappedStudent:
    return WrappedStudent(module, lambda m, x: m[:at](x), lambda m, psi: m[at:](psi))


def _seeded(make: Callable[[], WrappedStudent]) -> WrappedStudent:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return make()
