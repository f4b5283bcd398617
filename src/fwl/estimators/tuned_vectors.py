"""Texts as vectors of a sentence encoder that has learned from weak labels: a representation, as the paper's psi is.

It is made once for all that learn from the same weak rows: methods that are compared, and the one that is kept.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fwl.learn.task import Task
from fwl.progress import Piece, Progress, Silent
from fwl.randomness import Chance
from fwl.records import Array
from fwl.students.encoder import SentenceEncoder, Vectors
from fwl.students.tuned_encoder import Weights, tune, with_weights
from fwl.students.vector_cache import cached_vectors, default_cache_folder, keep_newest
from fwl.teach.state import State

TUNING = "tuning the encoder on weak labels"  # as a bar tells it
KEPT = 4  # tuned encoders whose vectors stay on disk, the latest: every fit makes another one
_PREFIX = "tuned."


@dataclass(frozen=True, eq=False)
class TunedVectors:
    """Vectors of a tuned encoder, centred and brought to one scale.

    Attributes:
        encoder: the tuned one.
        weights: those that tuning changed, by name.
        centre: the vectors' mean.
        scale: their deviation, over all columns.
    """

    encoder: SentenceEncoder
    weights: Weights
    centre: Array
    scale: float

    def vectors(self, texts: list[str]) -> Array:
        """The vector of each text, [N, k]."""
        return np.asarray((_on_disk(texts, self.encoder) - self.centre) / self.scale)

    def state(self) -> State:
        """The weights that differ from the encoder's own, and the scale."""
        arrays = {f"{_PREFIX}weights.{name}": values for name, values in self.weights.items()}
        return State({"tuned_scale": self.scale}, {**arrays, f"{_PREFIX}centre": self.centre})

    @classmethod
    def from_state(cls, state: State, encoder: SentenceEncoder) -> TunedVectors | None:
        """The same again, of the encoder as it was before; None where none was tuned."""
        if "tuned_scale" not in state.settings:
            return None
        start = f"{_PREFIX}weights."
        weights = {name.removeprefix(start): a for name, a in state.arrays.items() if name.startswith(start)}
        centre = state.arrays[f"{_PREFIX}centre"]
        return cls(with_weights(encoder, weights), weights, centre, state.settings["tuned_scale"])


_LATEST: dict[str, TunedVectors] = {}  # the one that was made last


def fit_tuned(
    encoder: SentenceEncoder,
    texts: list[str],
    y: Array,
    task: Task,
    updates: int,
    chance: Chance,
    progress: Progress | None = None,
) -> TunedVectors:
    """An encoder tuned on these texts and weak labels y [N, C]; on none of them if that was done just before."""
    key = _key(encoder, texts, y, updates, chance)
    if key not in _LATEST:
        heard = Piece(progress or Silent(), TUNING)
        tuned, weights = tune(encoder, texts, y, task.loss, updates, chance, heard)
        keep_newest(KEPT - 1, _folder())
        vectors = _on_disk(texts, tuned, progress).astype(np.float64)
        scale = float(np.sqrt(vectors.var(axis=0).mean())) or 1.0
        _LATEST.clear()
        _LATEST[key] = TunedVectors(tuned, weights, vectors.mean(axis=0), scale)
    return _LATEST[key]


def _on_disk(texts: list[str], encoder: SentenceEncoder, progress: Progress | None = None) -> Vectors:
    return cached_vectors(texts, encoder, _folder(), progress)


def _folder() -> Path:
    return default_cache_folder() / "tuned"


def _key(encoder: SentenceEncoder, texts: list[str], y: Array, updates: int, chance: Chance) -> str:
    digest = hashlib.sha256(f"{encoder.digest} {updates} {chance.child('key').integer()}".encode())
    for text in texts:
        digest.update(hashlib.sha256(text.encode()).digest())
    digest.update(y.tobytes())
    return digest.hexdigest()
