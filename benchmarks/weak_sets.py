"""Text sets with weak labels: two as WRENCH publishes them, and SemEval's tweets with a lexicon as annotator."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from fwl.annotate.lexicon import SentiWordNet
from fwl.text.reading import SENTIMENTS, read_labelled

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LabelledPart:
    """Texts [N] or a frame, what is true of them [N], and what the annotators say, [N] or [N, A]; None for silence."""

    X: npt.NDArray[np.object_] | pd.DataFrame
    truth: npt.NDArray[np.object_]
    weak: npt.NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.truth)

    def at(self, rows: Rows) -> LabelledPart:
        """Some of them."""
        X = self.X.iloc[rows].reset_index(drop=True) if isinstance(self.X, pd.DataFrame) else self.X[rows]
        return LabelledPart(X, self.truth[rows], self.weak[rows])

    @property
    def samples(self) -> list[str] | pd.DataFrame:
        """As an estimator takes them."""
        return self.X if isinstance(self.X, pd.DataFrame) else self.X.tolist()


@dataclass(frozen=True, eq=False)
class Drawn:
    """What a draw learns from, and the rows it is tested on."""

    strong: LabelledPart
    weak: LabelledPart
    test: LabelledPart

    @property
    def classes(self) -> list[str]:
        """All that annotators may name: a class may have no strong row in a draw."""
        return sorted({*self.strong.truth, *self.weak.truth})


@dataclass(frozen=True, eq=False)
class WeakTextSet:
    """A set of texts; only `train` is learned from."""

    name: str
    strong: int
    train: LabelledPart
    test: LabelledPart

    def drawn(self, seed: int, strong: int | None = None) -> Drawn:
        """Some training rows as strong ones, all others as weak ones; the test rows are always the same."""
        order, n = np.random.default_rng(seed).permutation(len(self.train)), strong or self.strong
        return Drawn(self.train.at(order[:n]), self.train.at(np.sort(order[n:])), self.test)

    def for_choosing(self) -> WeakTextSet:
        """The same with half of its training rows as test rows: choices are made on these, not on the test rows."""
        kept, tested = np.array_split(np.random.default_rng(0).permutation(len(self.train)), 2)
        return replace(self, train=self.train.at(np.sort(kept)), test=self.train.at(np.sort(tested)))


def read_youtube(folder: Path) -> WeakTextSet:
    """Comments that are spam or not, ten labelling functions."""
    return WeakTextSet("youtube", 50, *(_youtube(folder / "youtube" / f"{part}.json") for part in ("train", "test")))


def read_chemprot(folder: Path) -> WeakTextSet:
    """Relations of chemicals and proteins in ten classes, the majority of many rules."""
    parts = (_chemprot(folder / "chemprot" / f"{part}_data.json") for part in ("train", "test"))
    return WeakTextSet("chemprot", 300, *parts)


def read_tweets(folder: Path) -> WeakTextSet:
    """Tweets in three classes; the annotator is the class that SentiWordNet finds most of."""
    lexicon = SentiWordNet.read(folder / "SentiWordNet_3.0.0.tsv")
    learned = [_tweets(folder / "semeval" / f"{part}.tsv", lexicon) for part in ("2013train", "2013dev")]
    return WeakTextSet("tweets", 300, _joined(learned), _tweets(folder / "semeval" / "2014test.tsv", lexicon))


WRENCH = ("chemprot", "youtube")
READERS: dict[str, Callable[[Path], WeakTextSet]] = {
    "chemprot": read_chemprot,
    "tweets": read_tweets,
    "youtube": read_youtube,
}


def _youtube(path: Path) -> LabelledPart:
    rows = list(json.loads(path.read_text()).values())
    texts = [row["data"]["text"] for row in rows]
    votes = [[_named(vote) for vote in row["weak_labels"]] for row in rows]
    return LabelledPart(_objects(texts), _objects([_named(row["label"]) for row in rows]), _objects(votes))


def _chemprot(path: Path) -> LabelledPart:
    rows = json.loads(path.read_text())
    truth, weak = ([_named(row[name]) for row in rows] for name in ("label", "major"))
    return LabelledPart(_objects([row["text"] for row in rows]), _objects(truth), _objects(weak))


def _tweets(path: Path, lexicon: SentiWordNet) -> LabelledPart:
    read = read_labelled(path)
    names = np.array(SENTIMENTS, dtype=object)
    said = names[lexicon.annotate(read.texts).argmax(axis=1)]
    return LabelledPart(_objects(list(read.texts)), names[read.classes], said)


def _joined(parts: Sequence[LabelledPart]) -> LabelledPart:
    columns = ([getattr(part, name) for part in parts] for name in ("X", "truth", "weak"))
    return LabelledPart(*(np.concatenate(column) for column in columns))


def _named(number: int) -> str | None:
    return None if number < 0 else f"class {number}"


def _objects(values: list[Any]) -> npt.NDArray[np.object_]:
    return np.array(values, dtype=object)
