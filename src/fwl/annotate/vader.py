"""VADER, a rule-based reader of social media, as an annotator (extra `text`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from fwl.errors import InvalidInput
from fwl.records import Array
from fwl.text.reading import SENTIMENTS
from fwl.text.tokeniser import some_texts


@dataclass(frozen=True)
class Vader:
    """What VADER says of a raw text: negative, neutral or positive by its compound score c in [-1, 1].

    Capitals, punctuation and emoji count, so it takes texts as they were written.

    Hard labels are one-hot: positive from c = threshold up, negative from -threshold down. Soft labels share 1 between
    neutral and the side that c is on: the side's share rises in a straight line from 0 at c = 0 to 1/2 at the
    threshold, and from there to 1 at |c| = 1. So both give the same class, and the soft one says by how much.

    Attributes:
        threshold: where VADER's authors put the border, 0.05.
        soft: shares rather than one class.
    """

    threshold: float = 0.05
    soft: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.threshold < 1:
            raise InvalidInput(f"threshold: expected a number between 0 and 1, got {self.threshold}")

    def annotate(self, samples: Iterable[str] | npt.NDArray[Any]) -> Array:
        """The distribution (negative, neutral, positive) of each text, [N, 3]."""
        texts = some_texts(samples)
        score = _analyser().polarity_scores
        compound = np.array([score(text)["compound"] for text in texts], dtype=np.float64)
        side = self._side(np.abs(compound))
        label = np.zeros((len(texts), len(SENTIMENTS)))
        label[:, 0] = np.where(compound < 0, side, 0)
        label[:, 1] = 1 - side
        label[:, 2] = np.where(compound > 0, side, 0)
        return label

    def _side(self, strength: Array) -> Array:
        """The share of the side that the score is on; beyond the threshold always the larger one."""
        beyond = strength >= self.threshold
        if not self.soft:
            return beyond.astype(np.float64)
        above = 0.5 + 0.5 * (strength - self.threshold) / (1 - self.threshold)
        return np.where(beyond, np.maximum(above, np.nextafter(0.5, 1)), 0.5 * strength / self.threshold)


@cache
def _analyser() -> Any:
    """VADER with its lexicon, read once."""
    try:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer
    except ImportError as error:
        raise InvalidInput("Vader needs vaderSentiment; install it with: pip install 'fwl[text]'") from error
    return SentimentIntensityAnalyzer()
