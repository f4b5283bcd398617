"""A sentence encoder whose upper layers are trained on weak labels: what it makes of a text becomes what these ask."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import torch

from fwl.errors import InvalidInput
from fwl.progress import Progress
from fwl.randomness import Chance
from fwl.records import Array
from fwl.students.encoder import FineTunedEncoder, SentenceEncoder, encoder_ids
from fwl.students.losses import Loss
from fwl.students.training import Lesson, Training, train

LAYERS = 3  # upper ones that are trained (DECISIONS.md, D69)
BATCH, RATE = 32, 1e-4

Weights = dict[str, npt.NDArray[np.float32]]


def tune(
    encoder: SentenceEncoder,
    texts: list[str],
    y: Array,
    loss: Loss,
    updates: int,
    chance: Chance,
    progress: Progress | None = None,
) -> tuple[SentenceEncoder, Weights]:
    """A copy of the encoder that was trained to predict labels from texts, and the weights that this has changed.

    Args:
        encoder: stays as it is.
        texts: to learn from.
        y: their labels, [N, C].
        loss: of outputs against labels, per sample.
        updates: of a batch of texts each, at a rate that falls to 0.
        chance: where texts are drawn from.
        progress: hears of every update.
    """
    layers = min(LAYERS, int(encoder.transformer.config.num_hidden_layers))  # type: ignore[union-attr, arg-type]
    student = FineTunedEncoder(encoder, y.shape[1], layers, chance=chance.child("output layer"))
    plan = Training(updates, BATCH, learning_rate=RATE, annealing="linear")
    lesson = Lesson(encoder_ids(texts, encoder), y)
    train(student, lesson, plan, chance.child("tuning"), loss=loss, progress=progress)
    trained = (item for item in student.transformer.named_parameters() if item[1].requires_grad)
    weights = {name: parameter.detach().numpy().copy() for name, parameter in trained}
    return with_weights(encoder, weights), weights


def with_weights(encoder: SentenceEncoder, weights: Mapping[str, npt.NDArray[np.float32]]) -> SentenceEncoder:
    """A copy of the encoder in which these weights stand in place of its own; only its last layer is read."""
    copied = FineTunedEncoder(encoder, trained_layers=0, chance=Chance(0)).transformer
    known = dict(copied.named_parameters())
    digest = hashlib.sha256(f"{encoder.digest} tuned, last layer".encode())
    with torch.no_grad():
        for name, values in sorted(weights.items()):
            if name not in known or known[name].shape != values.shape:
                raise InvalidInput(f"the encoder has no weights {name!r} of shape {values.shape}; it is another one")
            known[name].copy_(torch.from_numpy(values))
            digest.update(name.encode() + values.tobytes())
    return replace(encoder, transformer=copied.eval(), layers=1, digest=digest.hexdigest())
