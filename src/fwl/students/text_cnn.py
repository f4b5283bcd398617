"""The convolutional student of the paper's sentiment task: word vectors, filters, the strongest answer of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from fwl.errors import InvalidInput, NotFinite, UnknownName, WrongShape
from fwl.randomness import Chance
from fwl.students.contract import Reads, Student
from fwl.students.dropout import dropped
from fwl.students.inference import part_of
from fwl.students.perceptron import INITIALISATIONS, bare_layer

PADDING = 0  # fills rows up at their end; no word
SPREAD = 0.25  # word vectors start uniform in [-SPREAD, SPREAD] where none are given


class TextCNN(Student):
    """Filters over the words of a text, max-pooled, then feed-forward layers and a linear output layer.

    It reads word ids, one row a text, filled up with 0 at the end. psi is the last hidden layer's activation, phi the
    output layer. Every filter looks at windows of `width` successive words inside the text (a shorter text is one
    window, its missing words zero), adds a bias and passes a ReLU. The last convolutional layer keeps each filter's
    strongest answer in the text; one before it keeps the stronger of every two neighbours, and the next looks at
    windows of those. Padding changes nothing: a text's outputs are the same whatever it is batched with.

    Args:
        vocabulary: how many ids there are, or a starting vector for each, [V, m]; the padding's is kept at zero.
        classes: columns of the output: logits.
        filters: of each convolutional layer.
        width: words that a filter sees at once.
        layers: convolutional layers.
        hidden: width of each feed-forward layer; without any, psi is the pooled filters.
        dropout: the share of psi (and of the layers before it) that is dropped in training.
        word_dropout: the same of the word vectors as the filters see them, and of the filters' strongest answers.
        initialisation: a name in `INITIALISATIONS`, for all but the word vectors.
        columns: of the word vectors, where `vocabulary` is a number.
        beside: columns of a vector of the whole text (a sentence encoder's, say) that the feed-forward layers read
            beside the filters' answers: the part `vector` of samples, its bits behind the word ids.
        chance: where the initial weights are drawn from.
    """

    reads: Reads = "tokens"

    def __init__(
        self,
        vocabulary: int | npt.NDArray[np.floating[Any]],
        classes: int,
        filters: int = 200,
        width: int = 3,
        layers: int = 1,
        hidden: Sequence[int] = (100,),
        dropout: float = 0.2,
        initialisation: str = "glorot",
        *,
        word_dropout: float = 0.0,
        columns: int = 100,
        beside: int = 0,
        chance: Chance,
    ) -> None:
        super().__init__()
        _check_sizes(classes=classes, filters=filters, width=width, layers=layers, columns=columns)
        _check_sizes(**{f"hidden[{i}]": size for i, size in enumerate(hidden)})
        for name, share in (("dropout", dropout), ("word_dropout", word_dropout)):
            if not 0 <= share < 1:
                raise InvalidInput(f"{name} is a share from 0 to below 1, got {share}")
        if initialisation not in INITIALISATIONS:
            raise UnknownName("initialisation", initialisation, INITIALISATIONS)
        if beside < 0:
            raise InvalidInput(f"beside is a number of columns from 0 up, got {beside}")
        vectors = _starting_vectors(vocabulary, columns, chance.child("word vectors"))
        self.width, self.word_dropout, self.beside = width, word_dropout, beside
        if beside:
            self.reads = ("tokens", "vector")
        # Made from values, because torch would draw them from its global generator otherwise.
        n, m = vectors.shape
        self.words = nn.Embedding(n, m, padding_idx=PADDING, sparse=True, _weight=vectors)
        inputs = [vectors.shape[1], *[filters] * (layers - 1)]
        self.convolutions = nn.ModuleList(bare_layer(width * n, filters) for n in inputs)
        dense = [bare_layer(i, o) for i, o in pairwise([filters + beside, *hidden])]
        self.hidden = nn.Sequential(
            *(part for layer in dense for part in (layer, nn.ReLU(), nn.Dropout(dropout))),
            *([] if dense else [nn.Dropout(dropout)]),
        )
        self.output = bare_layer([filters + beside, *hidden][-1], classes)
        generator = chance.torch()
        for layer in [*self.convolutions, *dense, self.output]:
            INITIALISATIONS[initialisation](layer, generator)

    def represent(self, x: torch.Tensor) -> torch.Tensor:
        """The last hidden layer: word ids [N, L], behind them the vector's bits if it reads one -> [N, hidden[-1]]."""
        words, vector = self._parts(x)
        self._check(words)
        ids, lengths = _trimmed(words, self.width)
        answers = self._dropped(self._strongest(ids, lengths))
        hidden: torch.Tensor = self.hidden(answers if vector is None else torch.cat([answers, vector], dim=1))
        return hidden

    def predict_from(self, psi: torch.Tensor) -> torch.Tensor:
        """The output layer: [N, hidden[-1]] -> [N, classes]."""
        output: torch.Tensor = self.output(psi)
        return output

    def lengths(self, X: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """The words of each text, [N]."""
        tokens = part_of(X, "tokens") if X.dtype.names else X[:, : X.shape[1] - self.beside]
        ids = tokens.reshape(len(tokens), math.prod(tokens.shape[1:]))
        if ids.shape[1] == 0:
            return np.zeros(len(ids), dtype=np.int64)
        backwards = ids[:, ::-1] != PADDING
        return np.where(backwards.any(axis=1), ids.shape[1] - backwards.argmax(axis=1), 0)

    def _parts(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Word ids, and the vector whose bits stand behind them."""
        if not self.beside:
            return x, None
        if x.dtype != torch.int32 or x.ndim != 2 or x.shape[1] < self.beside:
            raise WrongShape(
                f"word ids and a vector of {self.beside} columns: expected their bits side by side, whole numbers of "
                f"32 bits, [N, L + {self.beside}], got {x.dtype} of shape {tuple(x.shape)}; give samples with the "
                "parts 'tokens' and 'vector'"
            )
        words, bits = x[:, : -self.beside], x[:, -self.beside :]
        return words, bits.contiguous().view(torch.float32).to(self.output.weight.dtype)

    def _strongest(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Each filter's strongest answer in each text, [N, filters]."""
        windows, counts = self._windows_of_words(ids, lengths), _windows_in(lengths, self.width)
        *before, last = self.convolutions
        for layer in before:
            answers = _silenced(torch.relu(layer(windows)), counts, 0.0)
            pairs, counts = _stronger_of_two(answers), (counts + 1) // 2
            windows, counts = _windows_of_features(pairs, self.width), _windows_in(counts, self.width)
        assert isinstance(last, nn.Linear)
        # The bias and the ReLU change no order, so they may wait until one answer is left of many.
        answers = functional.linear(windows, last.weight)
        return torch.relu(_silenced(answers, counts, -torch.inf).amax(dim=1) + last.bias)

    def _windows_of_words(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """The vectors of every `width` successive words side by side, [N, T, width m], by one gather."""
        # Silenced windows have gradients of exactly zero. Only where padding lies in one that is heard (a text shorter
        # than it) must its gradients be left out, which costs a copy of all.
        heard = torch.arange(ids.shape[1]) < lengths.clamp(min=self.width)[:, None]
        padding = PADDING if bool(((ids == PADDING) & heard).any()) else None
        windows = ids.unfold(1, self.width, 1)
        return self._dropped(functional.embedding(windows, self.words.weight, padding, sparse=True).flatten(2))

    def _dropped(self, features: torch.Tensor) -> torch.Tensor:
        if not self.word_dropout or not self.training:
            return features
        return dropped(features, self.word_dropout)

    def _check(self, x: torch.Tensor) -> None:
        if x.dtype not in (torch.int32, torch.int64):
            raise InvalidInput(
                f"a text student reads word ids, expected whole numbers of 32 or 64 bits, got {x.dtype}; "
                "encode texts with a vocabulary first"
            )
        if x.ndim != 2:
            raise WrongShape(f"word ids: expected one row a text, [N, L], got shape {tuple(x.shape)}")
        if x.numel() == 0:
            return
        least, most = (int(edge) for edge in torch.aminmax(x))
        size = self.words.num_embeddings
        if least < 0 or most >= size:
            raise InvalidInput(
                f"word id {least if least < 0 else most} is outside the vocabulary of {size} (0 to {size - 1}); "
                "encode texts with the vocabulary this student was made for"
            )


def _trimmed(x: torch.Tensor, least: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids without the columns that are padding in every row, but at least so many; and each row's length."""
    n = x.shape[1]
    places = torch.arange(1, n + 1, dtype=torch.int32)
    lengths = ((x != PADDING) * places).amax(dim=1) if n else torch.zeros(len(x), dtype=torch.int32)
    longest = max(least, int(lengths.max()) if len(x) else 0)
    ids = x[:, :longest] if n >= longest else functional.pad(x, (0, longest - n), value=PADDING)
    return ids, lengths


def _windows_in(lengths: torch.Tensor, width: int) -> torch.Tensor:
    """How many windows lie inside each text: at least one, however short it is."""
    return (lengths - (width - 1)).clamp(min=1)


def _silenced(answers: torch.Tensor, counts: torch.Tensor, value: float) -> torch.Tensor:
    """Answers [N, T, F], those from the padding behind a text's own replaced by a value that never wins."""
    n = answers.shape[1]
    if not len(counts) or int(counts.min()) >= n:
        return answers
    outside = torch.arange(n) >= counts[:, None]
    return answers.masked_fill(outside[:, :, None], value)


def _stronger_of_two(answers: torch.Tensor) -> torch.Tensor:
    """Max-pooling by two: [N, T, F] -> [N, ceil(T / 2), F]; a last one without neighbour stays."""
    n, t, f = answers.shape
    even = functional.pad(answers, (0, 0, 0, t % 2))
    return even.reshape(n, even.shape[1] // 2, 2, f).amax(dim=2)


def _windows_of_features(features: torch.Tensor, width: int) -> torch.Tensor:
    """Every `width` successive features side by side: [N, T, F] -> [N, max(1, T - width + 1), width F]."""
    missing = max(0, width - features.shape[1])
    filled = functional.pad(features, (0, 0, 0, missing))
    return filled.unfold(1, width, 1).transpose(2, 3).flatten(2)


def _starting_vectors(vocabulary: int | npt.NDArray[np.floating[Any]], columns: int, chance: Chance) -> torch.Tensor:
    if isinstance(vocabulary, np.ndarray):
        if vocabulary.ndim != 2 or min(vocabulary.shape) < 1 or vocabulary.dtype.kind != "f":
            raise WrongShape(
                f"word vectors: expected a matrix of numbers [V, m], got {vocabulary.dtype} of shape {vocabulary.shape}"
            )
        if not np.isfinite(vocabulary).all():
            raise NotFinite("word vectors: NaN or infinity among them; leave such words out of the vocabulary")
        vectors = torch.from_numpy(vocabulary.astype(np.float32))
    else:
        _check_sizes(vocabulary=vocabulary)
        vectors = torch.empty(vocabulary, columns).uniform_(-SPREAD, SPREAD, generator=chance.torch())
    vectors[PADDING] = 0.0
    return vectors


def _check_sizes(**sizes: int) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise InvalidInput(f"{name} is at least 1, got {size}")
