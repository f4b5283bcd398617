"""Texts to vectors by a pretrained transformer from a local folder, and the transformer as a student of its own.

A frozen encoder needs no student of its own: a `Perceptron` reads `SentenceEncoder.vectors`. `FineTunedEncoder` is for
those who train the transformer too. Vectors that took minutes are kept by `vector_cache.cached_vectors`.
"""

from __future__ import annotations

import copy
import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from fwl.errors import InvalidInput, UnknownName, WrongShape
from fwl.progress import Progress, Silent
from fwl.randomness import Chance
from fwl.students.contract import Student
from fwl.students.encoder_folder import check_folder, digest, read_tokeniser, read_transformer
from fwl.students.inference import part_of
from fwl.students.perceptron import INITIALISATIONS

PRECISIONS = ("single",)
LENGTH = 128  # tokens of a text that are read
BLOCK = 8192  # texts that are tokenised and sorted together
TOKENS = 2048  # in one batch, padding included; twice and four times as many cost more for each text
_SCHEME = "mean of tokens, unit length, 1"  # part of every digest: change it when vectors change

Vectors = npt.NDArray[np.float32]
Integers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class SentenceEncoder:
    """A transformer that turns a text into one vector of length one: the mean of its tokens' vectors.

    With several layers, each one's mean is brought to one length and they stand side by side: the lower layers still
    know words, such as the good and the bad ones, that the last has folded into topics.

    Attributes:
        transformer: the network.
        tokeniser: texts to token ids.
        length: tokens of a text that are read, at the most; the rest is cut off.
        precision: a name in `PRECISIONS`.
        layers: of the upper ones, so many are read.
        digest: of everything a vector depends on: weights, config, tokeniser, length, precision and layers.
    """

    transformer: nn.Module = field(repr=False)
    tokeniser: Any = field(repr=False)
    length: int
    precision: str
    layers: int
    digest: str

    @classmethod
    def load(
        cls, folder: str | os.PathLike[str], *, length: int = LENGTH, precision: str = "single", layers: int = 1
    ) -> Self:
        """Read an encoder from a folder with config.json, model.safetensors and a tokeniser; nothing is downloaded.

        Args:
            folder: as transformers' `save_pretrained` writes it.
            length: tokens of a text to read; the model's own limit where that is less.
            precision: a name in `PRECISIONS`.
            layers: how many of the upper layers to read side by side, 1 for the last alone.
        """
        if precision not in PRECISIONS:
            raise UnknownName("precision", precision, PRECISIONS)
        source = Path(folder)
        check_folder(source)
        tokeniser, transformer = read_tokeniser(source), read_transformer(source)
        _check_length(length, tokeniser)
        length = min(length, _limit(transformer, tokeniser))
        _check_layers(layers, transformer)
        content = f"{_SCHEME} {digest(source)} {length} {precision} {layers}"
        return cls(transformer, tokeniser, length, precision, layers, hashlib.sha256(content.encode()).hexdigest())

    @property
    def width(self) -> int:
        """Columns of one layer's vector."""
        width: int = self.transformer.config.hidden_size  # type: ignore[union-attr, assignment]
        return width

    @property
    def columns(self) -> int:
        """Columns of a vector, all layers side by side."""
        return self.layers * self.width

    @property
    def pad(self) -> int:
        """The token id that fills a row after its text."""
        pad: int = self.tokeniser.pad_token_id
        return pad

    def vectors(self, texts: Iterable[str], progress: Progress | None = None) -> Vectors:
        """One vector of length one for each text, [N, columns]; zero for a text without any token.

        Texts of about one length share a batch, so that little is padded. The same texts give the same bits; among
        other texts, a vector may differ in its last bits.
        """
        given, listener = as_texts(texts), progress or Silent()
        result = np.empty((len(given), self.columns), dtype=np.float32)
        listener.start(len(given), "encoding")
        try:
            for start in range(0, len(given), BLOCK):
                tokens = self.tokens(given[start : start + BLOCK])
                for rows in batches_by_length(np.array([len(row) for row in tokens])):
                    result[start + rows] = self._unit([tokens[row] for row in rows])
                    listener.advance(len(rows))
        finally:
            listener.finish()
        return result

    def tokens(self, texts: list[str], length: int | None = None) -> list[list[int]]:
        """Each text's token ids, the special ones included, cut off at a length (the encoder's own by default)."""
        if not texts:
            return []
        ids: list[list[int]] = self.tokeniser(
            texts,
            truncation=True,
            max_length=self.length if length is None else length,
            return_attention_mask=False,
            return_token_type_ids=False,
        )["input_ids"]
        return ids

    def _unit(self, tokens: list[list[int]]) -> Vectors:
        ids = torch.from_numpy(_padded(tokens, max(len(row) for row in tokens), self.pad))
        with torch.inference_mode():
            means = pooled_layers(self.transformer, ids.long(), self.pad, self.layers)
            unit = nn.functional.normalize(means, dim=2).flatten(start_dim=1) / self.layers**0.5
        vectors: Vectors = unit.numpy()
        return vectors


class FineTunedEncoder(Student):
    """A transformer that is trained with its output layer.

    psi is the mean of the tokens' vectors (as the encoder's, but not scaled to length one), phi a linear layer. Samples
    are rows of token ids, as `encoder_ids` makes them.

    Args:
        encoder: where the transformer starts; it is copied, so one encoder serves many students.
        n_outputs: columns of the output.
        trained_layers: how many of the upper layers are trained; below them everything stays as it is and drops
            nothing out. None trains all, the word vectors too; 0 trains the output layer alone.
        dropout: share of psi that is dropped before the output layer in training.
        reads: the part of samples with named parts that has the token ids; None for samples that are these ids.
        chance: where the output layer's initial weights are drawn from.
    """

    def __init__(
        self,
        encoder: SentenceEncoder,
        n_outputs: int = 1,
        trained_layers: int | None = None,
        dropout: float = 0.1,
        *,
        reads: str | None = None,
        chance: Chance,
    ) -> None:
        super().__init__()
        self.reads = reads
        if n_outputs < 1 or not 0 <= dropout < 1:
            raise InvalidInput(f"expected n_outputs from 1 and dropout in [0, 1), got {n_outputs} and {dropout}")
        self.transformer = copy.deepcopy(encoder.transformer)
        self.pad, self.trained_layers = encoder.pad, trained_layers
        self.dropout = nn.Dropout(dropout)
        self.output: nn.Linear = nn.utils.skip_init(nn.Linear, encoder.width, n_outputs)  # type: ignore[no-untyped-call]
        INITIALISATIONS["glorot"](self.output, chance.torch())
        self._freeze()

    def represent(self, x: torch.Tensor) -> torch.Tensor:
        """The mean of the tokens' vectors: token ids [N, L] -> [N, width]."""
        ids = self._as_ids(x)
        if torch.is_grad_enabled():
            return pooled(self.transformer, ids, self.pad)
        # Thousands of rows may come at once here: a batch of about one length at a time needs little memory.
        psi = torch.empty(len(ids), self.output.in_features, dtype=self.output.weight.dtype)
        for rows in batches_by_length(_ends(ids, self.pad)):
            psi[rows] = pooled(self.transformer, ids[rows], self.pad)
        return psi

    def predict_from(self, psi: torch.Tensor) -> torch.Tensor:
        """The output layer: [N, width] -> [N, n_outputs]."""
        output: torch.Tensor = self.output(self.dropout(psi))
        return output

    def lengths(self, X: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """How many tokens each row holds, [N]: rows of about one length make cheap batches."""
        counts: npt.NDArray[np.int64] = np.not_equal(part_of(X, self.reads), self.pad).sum(axis=1)
        return counts

    def train(self, mode: bool = True) -> Self:
        """Training or not; the layers that are not trained never drop anything out."""
        super().train(mode)
        if self.trained_layers is not None:
            self.transformer.eval()
            for layer in self._upper_layers():
                layer.train(mode)
        return self

    def _freeze(self) -> None:
        if self.trained_layers is None:
            return
        self.transformer.requires_grad_(False)
        for layer in self._upper_layers():
            layer.requires_grad_(True)

    def _upper_layers(self) -> list[nn.Module]:
        layers, trained = _layers(self.transformer), self.trained_layers
        if trained is None or not 0 <= trained <= len(layers):
            raise InvalidInput(f"trained_layers lies in 0 to {len(layers)}, the transformer's layers, got {trained}")
        return layers[len(layers) - trained :]

    def _as_ids(self, x: torch.Tensor) -> torch.Tensor:
        """The training loop hands every sample over in single precision, which holds token ids without loss."""
        if x.ndim != 2 or not x.shape[1]:
            raise WrongShape(f"expected rows of token ids [N, L] as encoder_ids makes them, got shape {tuple(x.shape)}")
        words = self.transformer.get_input_embeddings().num_embeddings  # type: ignore[operator]
        ids = x.long()
        if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < words:
            raise InvalidInput(
                f"token ids lie in 0 to {words - 1}, got {int(ids.min())} to {int(ids.max())}; "
                "make them with encoder_ids and the encoder that this student was made from"
            )
        return ids


def encoder_ids(texts: Iterable[str], encoder: SentenceEncoder, length: int | None = None) -> npt.NDArray[np.int32]:
    """Texts as the samples of a `FineTunedEncoder`: token ids, [N, length], filled up with the encoder's padding.

    All sets of one problem are made with one length (the encoder's own by default), so that their rows fit together;
    what no row of a batch uses costs nothing.
    """
    width = encoder.length if length is None else length
    _check_length(width, encoder.tokeniser)
    if width > encoder.length:
        raise InvalidInput(f"length is at most the encoder's {encoder.length}, got {width}; load it with more")
    return _padded(encoder.tokens(as_texts(texts), width), width, encoder.pad)


def as_texts(texts: Iterable[str]) -> list[str]:
    """Texts as a list; whatever is no text, or none that can be written as UTF-8, is refused by its row."""
    if isinstance(texts, str):
        raise InvalidInput("expected texts, one for each sample, got a single str; give a list")
    given = list(texts)
    for row, text in enumerate(given):
        if not isinstance(text, str):
            raise InvalidInput(
                f"texts: row {row} is a {type(text).__name__} ({text!r:.40}), expected a str; "
                "fill missing texts with '' or drop their rows"
            )
        if not text.isascii():
            _check_unicode(text, row)
    return given


def pooled(transformer: nn.Module, ids: torch.Tensor, pad: int) -> torch.Tensor:
    """The mean of the tokens' vectors in each row of ids: [N, L] -> [N, width]; zero for a row of padding."""
    return pooled_layers(transformer, ids, pad, 1)[:, 0]


def pooled_layers(transformer: nn.Module, ids: torch.Tensor, pad: int, layers: int) -> torch.Tensor:
    """The same mean in each of the upper layers, the last one first: [N, L] -> [N, layers, width]."""
    mask = ids != pad
    used = mask.any(dim=0).nonzero()
    end = int(used[-1]) + 1 if len(used) else 1
    ids, mask = ids[:, :end], mask[:, :end]
    attended = mask.long()
    attended[:, 0] = 1  # attention over nothing at all would be NaN
    answer = transformer(input_ids=ids, attention_mask=attended, return_dict=True, output_hidden_states=layers > 1)
    hidden = answer.hidden_states[: -layers - 1 : -1] if layers > 1 else (answer.last_hidden_state,)
    share = mask.to(hidden[0].dtype)
    share = (share / share.sum(dim=1, keepdim=True).clamp(min=1))[:, None, :]
    return torch.cat([torch.bmm(share, layer) for layer in hidden], dim=1)


def _check_layers(layers: int, transformer: nn.Module) -> None:
    most: int = transformer.config.num_hidden_layers  # type: ignore[union-attr, assignment]
    if not 1 <= layers <= most:
        raise InvalidInput(f"layers: expected 1 to {most}, as many as this encoder has, got {layers}")


def batches_by_length(lengths: Integers) -> Iterator[npt.NDArray[np.intp]]:
    """Row numbers in batches of at most `TOKENS` tokens, padding included, the longest rows first."""
    order, start = np.argsort(-lengths, kind="stable"), 0
    while start < len(order):
        size = max(1, TOKENS // max(1, int(lengths[order[start]])))
        yield order[start : start + size]
        start += size


def _ends(ids: torch.Tensor, pad: int) -> npt.NDArray[np.int64]:
    counts: npt.NDArray[np.int64] = (ids != pad).sum(dim=1).numpy()
    return counts


def _padded(tokens: list[list[int]], width: int, pad: int) -> npt.NDArray[np.int32]:
    ids = np.full((len(tokens), max(1, width)), pad, dtype=np.int32)
    for row, its in zip(ids, tokens, strict=True):
        row[: len(its)] = its
    return ids


def _layers(transformer: nn.Module) -> list[nn.Module]:
    """The transformer's layers, lowest first: the one list in it that has as many entries as its config says."""
    n_layers = transformer.config.num_hidden_layers  # type: ignore[union-attr]
    for module in transformer.modules():
        if isinstance(module, nn.ModuleList) and len(module) == n_layers:
            return list(module)
    raise InvalidInput(
        f"a {type(transformer).__name__} has no list of its {n_layers} layers; train all of it with trained_layers=None"
    )


def _limit(transformer: nn.Module, tokeniser: Any) -> int:
    """The most tokens a row may have: what the tokeniser says, and the positions that the network knows."""
    positions = getattr(transformer.config, "max_position_embeddings", None) or tokeniser.model_max_length
    for name, module in transformer.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            positions -= int(module.padding_idx) + 1  # RoBERTa counts from there
    return int(min(positions, tokeniser.model_max_length))


def _check_length(length: int, tokeniser: Any) -> None:
    special = int(tokeniser.num_special_tokens_to_add())
    if length <= special:
        raise InvalidInput(
            f"length is at least {special + 1} ({special} special tokens, one of the text), got {length}"
        )


def _check_unicode(text: str, row: int) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"texts: row {row} has a lone surrogate at character {error.start}, which is no character; "
            "read its file as UTF-8, or use text.encode(errors='replace').decode()"
        ) from error
