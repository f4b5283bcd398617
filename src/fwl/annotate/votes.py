"""Several annotators at once: their votes as one distribution for each sample, and how far each can be relied on.

Dawid and Skene's model (1979) is written here and not taken from crowd-kit, which brings transformers, NLTK and pandas
along and takes longer (DECISIONS.md, D76).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import softmax
from scipy.stats import binomtest

from fwl.errors import InvalidInput, UnknownName, WrongShape
from fwl.records import Array

Integers = npt.NDArray[np.int64]

LEVEL = 0.95  # of the interval around an annotator's accuracy
PSEUDO = 0.01  # votes that every annotator is taken to have cast for each class of each class beforehand
ROUNDS = 200
NEAR_ENOUGH = 1e-4  # EM ends when no probability moves further (DECISIONS.md, D76)


@dataclass(frozen=True, eq=False)
class Votes:
    """Weak labels of several annotators, as users have them: given to the estimators as `WeakSet(X, Votes(...))`.

    A plain matrix of classes serves as well; this adds names, and says what numbers stand for.

    Attributes:
        values: [N, L], one column for each annotator: an array (None, NaN or -1 for an abstention), a sparse matrix
            (what is not stored is an abstention) or a frame.
        names: of the annotators; those of a frame's columns by default.
        codes: what each value stands for, such as {0: "ham", 1: "spam"}; None if the values are the classes.
    """

    values: Any
    names: Sequence[str] | None = None
    codes: Mapping[Any, Any] | None = None


@dataclass(frozen=True, eq=False)
class Ballots:
    """Who said what of which sample: one entry a vote, in any order.

    Attributes:
        row: the sample of each vote, [V].
        who: the annotator, [V].
        choice: the class, [V].
        samples: how many samples there are, N.
        classes: how many classes, C.
        names: of the annotators, L.
    """

    row: Integers
    who: Integers
    choice: Integers
    samples: int
    classes: int
    names: tuple[str, ...] = ("weak",)

    def __post_init__(self) -> None:
        for name, limit in (("row", self.samples), ("who", len(self.names)), ("choice", self.classes)):
            values: Integers = np.asarray(getattr(self, name), dtype=np.int64)
            object.__setattr__(self, name, values)
            if values.shape != (len(self.row),):
                raise WrongShape(f"votes: {name} has shape {values.shape}, expected one entry a vote ({len(self.row)})")
            if len(values) and not 0 <= values.min() <= values.max() < limit:
                raise InvalidInput(f"votes: {name} lies in 0 to {limit - 1}, got {values.min()} to {values.max()}")

    @property
    def heard(self) -> npt.NDArray[np.bool_]:
        """Whether anybody voted on each sample, [N]."""
        return np.bincount(self.row, minlength=self.samples) > 0

    def matrix(self) -> Integers:
        """The votes as [N, L], -1 for an abstention: what other libraries take."""
        votes = np.full((self.samples, len(self.names)), -1, dtype=np.int64)
        votes[self.row, self.who] = self.choice
        return votes

    def of(self, rows: Integers) -> Ballots:
        """The votes on these samples alone, in the order of `rows` (each at most once)."""
        place = np.full(self.samples, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        kept = place[self.row] >= 0
        row = place[self.row[kept]]
        return Ballots(row, self.who[kept], self.choice[kept], len(rows), self.classes, self.names)


def ballots_from_matrix(votes: npt.ArrayLike, classes: int, names: Sequence[str] | None = None) -> Ballots:
    """Ballots of a matrix [N, L] of class numbers, -1 for an abstention.

    >>> ballots_from_matrix([[0, 1], [-1, 1]], classes=2).row
    array([0, 0, 1])
    """
    matrix = np.asarray(votes)
    if matrix.ndim != 2:
        raise WrongShape(f"votes: expected a matrix [N, L] of class numbers, got shape {matrix.shape}")
    row, who = np.nonzero(matrix != -1)
    labels = tuple(names) if names is not None else tuple(f"annotator {i}" for i in range(matrix.shape[1]))
    return Ballots(row, who, matrix[row, who], len(matrix), classes, labels)


class Combiner(Protocol):
    """From votes to one distribution for each sample."""

    def combine(self, ballots: Ballots) -> Array:
        """Distributions [N, C]; NaN where nobody voted."""


@dataclass(frozen=True)
class Majority:
    """Every vote counts alike; where classes draw, they share."""

    def combine(self, ballots: Ballots) -> Array:
        """The share of the votes for each class."""
        counts = _tally(ballots)
        total = counts.sum(axis=1, keepdims=True)
        shares: Array = np.divide(counts, total, out=np.full_like(counts, np.nan), where=total > 0)
        return shares


@dataclass(frozen=True, eq=False)
class DawidSkene:
    """A vote counts by how its annotator errs: which class it names of each class.

    Attributes:
        prior: how often each class occurs, [C].
        confusion: confusion[l, c, k] is how often annotator l says k of class c, [L, C, C].
    """

    prior: Array
    confusion: Array

    def combine(self, ballots: Ballots) -> Array:
        """The probability of each class given the votes."""
        expected = (len(ballots.names), ballots.classes, ballots.classes)
        if self.confusion.shape != expected:
            raise WrongShape(
                f"votes of {len(ballots.names)} annotators on {ballots.classes} classes; expected "
                f"{self.confusion.shape[0]} and {self.confusion.shape[1]}, as when the votes were first combined"
            )
        joint = _log_joint(_one_hot(ballots), self)
        joint[~ballots.heard] = np.nan
        probabilities: Array = softmax(joint, axis=1)
        return probabilities


@dataclass(frozen=True, eq=False)
class ByObject:
    """Votes combined by somebody else's model: anything with `predict_proba(votes [N, L]) -> [N, C]`."""

    model: Any

    def combine(self, ballots: Ballots) -> Array:
        """What the model says of the matrix of votes, -1 for abstentions."""
        made = np.array(self.model.predict_proba(ballots.matrix()), dtype=np.float64)
        if made.shape != (ballots.samples, ballots.classes):
            raise WrongShape(
                f"predict_proba of {type(self.model).__name__} gave shape {made.shape}, expected "
                f"{(ballots.samples, ballots.classes)}: a row for each sample and a column for each class"
            )
        made[~ballots.heard] = np.nan
        return made


def make_combiner(how: Any, ballots: Ballots, known: Mapping[int, int] | None = None) -> Combiner:
    """What combines votes from now on, having seen these.

    Args:
        how: "majority", "dawid_skene", or an object with `predict_proba`.
        ballots: votes to learn from, where there is something to learn.
        known: the class of samples whose strong label is known.
    """
    if how == "majority":
        return Majority()
    if how == "dawid_skene":
        return fit_dawid_skene(ballots, known)
    if hasattr(how, "predict_proba"):
        return ByObject(how)
    if isinstance(how, str):
        raise UnknownName("way to combine votes", how, ("majority", "dawid_skene"))
    raise InvalidInput(
        f"combine: a {type(how).__name__} has no predict_proba; expected 'majority', 'dawid_skene' or an object with it"
    )


def fit_dawid_skene(
    ballots: Ballots, known: Mapping[int, int] | None = None, pseudo: float = PSEUDO, rounds: int = ROUNDS
) -> DawidSkene:
    """Dawid and Skene's model by expectation maximisation, from the majority's opinion.

    Args:
        ballots: the votes.
        known: the class of some samples, by row: these are not guessed.
        pseudo: votes added to every cell of every confusion matrix, so that none becomes impossible.
        rounds: at the most.
    """
    if not len(ballots.row):
        raise InvalidInput("votes: every annotator abstains everywhere; there is nothing to combine")
    rows = np.fromiter((known or {}).keys(), dtype=np.int64)
    truth = np.eye(ballots.classes)[np.fromiter((known or {}).values(), dtype=np.int64)]
    heard = ballots.heard
    heard[rows] = True  # a known class says how often classes occur, whoever voted
    belief = np.nan_to_num(Majority().combine(ballots), nan=1.0 / ballots.classes)
    belief[rows] = truth
    votes = _one_hot(ballots)
    for _ in range(rounds):
        updated: Array = softmax(_log_joint(votes, _maximised(votes, belief, heard, pseudo)), axis=1)
        updated[rows] = truth
        moved = float(np.abs(updated - belief).max())
        belief = updated
        if moved < NEAR_ENOUGH:
            break
    return _maximised(votes, belief, heard, pseudo)


def _maximised(votes: csr_array, belief: Array, heard: npt.NDArray[np.bool_], pseudo: float) -> DawidSkene:
    """The model under which these beliefs [N, C] about the classes and the votes [N, L C] are most likely."""
    classes = belief.shape[1]
    counts: Array = (votes.T @ belief).reshape(-1, classes, classes)  # [L, said, true]
    confusion = counts.transpose(0, 2, 1) + pseudo
    prior = belief[heard].sum(axis=0) + pseudo
    return DawidSkene(prior / prior.sum(), confusion / confusion.sum(axis=2, keepdims=True))


def _log_joint(votes: csr_array, model: DawidSkene) -> Array:
    """The log of P(class) P(votes | class) for each sample and class, [N, C]."""
    logs = np.log(model.confusion).transpose(0, 2, 1).reshape(votes.shape[1], len(model.prior))  # [L C, C]
    joint: Array = np.log(model.prior) + votes @ logs
    return joint


def _one_hot(ballots: Ballots) -> csr_array:
    """The votes as ones, a column for each annotator and class, [N, L C]."""
    columns = len(ballots.names) * ballots.classes
    places = (ballots.row, ballots.who * ballots.classes + ballots.choice)
    return csr_array((np.ones(len(ballots.row)), places), shape=(ballots.samples, columns))


def _tally(ballots: Ballots) -> Array:
    counts = np.bincount(ballots.row * ballots.classes + ballots.choice, minlength=ballots.samples * ballots.classes)
    return counts.reshape(ballots.samples, ballots.classes).astype(np.float64)


@dataclass(frozen=True)
class Reliability:
    """How far an annotator can be relied on.

    Attributes:
        name: of the annotator.
        coverage: the share of the pool it voted on.
        compared: strong samples that it voted on.
        accuracy: the share of those where it was right; None if there are none.
        low: the lower end of Wilson's interval around the accuracy, at 95 %.
        high: the upper end.
    """

    name: str
    coverage: float
    compared: int
    accuracy: float | None
    low: float | None
    high: float | None


def reliability(pool: Ballots, strong: Ballots | None = None, truth: Integers | None = None) -> tuple[Reliability, ...]:
    """Each annotator's coverage of the pool, and its accuracy where strong labels are known.

    Args:
        pool: votes on the weak set.
        strong: votes on strong samples, by the same annotators.
        truth: the strong samples' classes, [N].
    """
    cast = np.bincount(pool.who, minlength=len(pool.names)) / max(1, pool.samples)
    asked = right = np.zeros(0, dtype=np.int64)
    if strong is not None and truth is not None:
        asked, right = strong.who, strong.who[strong.choice == truth[strong.row]]
    return tuple(
        _judged(name, float(share), int(n), int(k))
        for name, share, n, k in zip(pool.names, cast, *(_counts(who, pool) for who in (asked, right)), strict=True)
    )


def _counts(who: Integers, pool: Ballots) -> Integers:
    return np.bincount(who, minlength=len(pool.names))


def _judged(name: str, coverage: float, compared: int, right: int) -> Reliability:
    if compared == 0:
        return Reliability(name, coverage, 0, None, None, None)
    interval = binomtest(right, compared).proportion_ci(LEVEL, method="wilson")
    return Reliability(name, coverage, compared, right / compared, float(interval.low), float(interval.high))
