"""A ranking student that scores each document by itself: sooner trained than the paper's, and ranks in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from fwl.randomness import Chance
from fwl.records import Array
from fwl.students.ranker import Bags, Integers, Ranker, asking, drawn_layers

SCALARS = 2  # features of a query and a document beside those of their vectors' columns


class ScoreRanker(Ranker):
    """One score f(q, d) for both documents of a pair; the logit of preferring document+ is the difference of the two.

    f reads how the query's and the document's vectors meet: their product and their absolute difference in each column,
    their cosine, and which share of the query's words, weighted by inverse document frequency, the document has.
    Feed-forward layers lead to a hidden vector g(q, d), and f is linear in it. psi of a pair is g(q, d+) - g(q, d-): it
    turns round with the pair, and so does the logit. At a pair of equals it is zero, where a teacher knows most, though
    nothing is less certain; with `unit` it has length one, and the logit is that of the direction alone. Scores order
    documents as the logits do either way.

    Args:
        queries: the words of every query.
        documents: the words of every document.
        vectors: where the words' vectors start, [V, m].
        importance: where the words' weights omega start, [V]; the log of an inverse document frequency.
        hidden: width of each feed-forward layer, of which there is at least one.
        dropout: the share of psi (and of the layers before the last) that is dropped in training.
        unit: bring psi to length one.
        initialisation: a name in `INITIALISATIONS`, for the layers.
        chance: where the layers' initial weights are drawn from.
    """

    frequencies: torch.Tensor

    def __init__(
        self,
        queries: Bags,
        documents: Bags,
        vectors: npt.NDArray[np.floating[Any]],
        importance: npt.NDArray[np.floating[Any]],
        hidden: Sequence[int] = (256, 128),
        dropout: float = 0.2,
        unit: bool = False,
        initialisation: str = "glorot",
        *,
        chance: Chance,
    ) -> None:
        super().__init__(queries, documents, vectors, importance)
        layers = drawn_layers([2 * vectors.shape[1] + SCALARS, *hidden, 1], dropout, initialisation, chance)
        *dense, output = layers
        self.unit, self.dropout = unit, nn.Dropout(dropout)
        # Nothing is dropped behind the last layer but from the difference: both documents lose the same.
        parts = [part for layer in dense for part in (layer, nn.ReLU(), self.dropout)]
        self.hidden = nn.Sequential(*parts[:-1])
        self.direction = output.weight  # without a bias, which would cancel
        self.register_buffer("frequencies", torch.from_numpy(np.exp(importance, dtype=np.float64).astype(np.float32)))

    def represent(self, x: torch.Tensor) -> torch.Tensor:
        """The difference of both documents' hidden vectors: (query, document+, document-) [N, 3] -> [N, hidden[-1]]."""
        bags, places = self.named(x)
        query, plus, minus = places.T
        hidden = self._meet(bags, torch.cat([query, query]), torch.cat([plus, minus]))
        difference = self.dropout(hidden[: len(x)] - hidden[len(x) :])
        return _of_length_one(difference) if self.unit else difference

    def predict_from(self, psi: torch.Tensor) -> torch.Tensor:
        """The logit of preferring document+: [N, hidden[-1]] -> [N, 1]."""
        return functional.linear(psi, self.direction)

    def scores(self, query: int, candidates: Integers) -> Array:
        """The score of each candidate document, [N]: the higher, the better it answers the query."""
        with asking(self):
            bags = self.candidates(query, candidates)
            documents = torch.arange(1, len(bags))
            hidden = self._meet(bags, torch.zeros_like(documents), documents)
            scores: Array = functional.linear(hidden, self.direction).squeeze(1).double().numpy()
        return scores

    def _meet(self, bags: Bags, query: torch.Tensor, document: torch.Tensor) -> torch.Tensor:
        """The hidden vectors of queries with documents, both by their places among the bags, [N, hidden[-1]]."""
        vectors = self.texts(bags)
        q, d = functional.embedding(query, vectors), functional.embedding(document, vectors)
        matched = self._matched(bags, query.numpy(), document.numpy())
        scalars = [functional.cosine_similarity(q, d)[:, None], torch.from_numpy(matched)[:, None].to(q.dtype)]
        hidden: torch.Tensor = self.hidden(torch.cat([q * d, (q - d).abs(), *scalars], dim=1))
        return hidden

    def _matched(self, bags: Bags, query: Integers, document: Integers) -> Array:
        """The share of each query's words, by inverse document frequency, that the document has; 0 of no words."""
        size = self.texts.words.num_embeddings
        known = bags.owners * size + bags.ids  # a number for each word of each text, ascending
        asked = bags.take(query)
        wanted = document[asked.owners] * size + asked.ids
        has = _among(wanted, known)
        worth = asked.counts * self.frequencies.numpy()[asked.ids]
        whole = np.bincount(asked.owners, worth, len(asked))
        return np.bincount(asked.owners, worth * has, len(asked)) / np.where(whole > 0, whole, 1.0)


def _among(wanted: Integers, known: Integers) -> npt.NDArray[np.bool_]:
    """Whether each wanted number is among the known ones, which ascend."""
    if not len(known):
        return np.zeros(len(wanted), dtype=bool)
    place = np.searchsorted(known, wanted)
    found: npt.NDArray[np.bool_] = known[np.minimum(place, len(known) - 1)] == wanted
    return found


def _of_length_one(rows: torch.Tensor) -> torch.Tensor:
    """Each row by its length; a row of zeros stays, and so does its gradient."""
    length: torch.Tensor = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
    return rows / length.masked_fill(length == 0, 1.0)
