"""What a fitted estimator says of rows: which weak labels to believe, who speaks for it, which rows to label next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from fwl.estimators.classifier import FWLClassifier
from fwl.estimators.fitting import Fitted, read_samples
from fwl.estimators.labels import ClassLabels
from fwl.estimators.regressor import FWLRegressor
from fwl.estimators.telling import CHUNK, predict_with
from fwl.learn.own_data import weak_or_student
from fwl.learn.soften import unexplained_share
from fwl.learn.suggest import CLUSTERS, OF_CLASSES, Suggestions, suggest
from fwl.learn.task import both_columns, silent_rows
from fwl.learn.verdicts import Witnesses, doubt, verdicts, witnesses
from fwl.randomness import Chance
from fwl.records import Array

Estimator = FWLClassifier | FWLRegressor
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Audit:
    """What became of rows' weak labels.

    Attributes:
        weak_label: the most probable class or the number that the annotators give, [N]; None or NaN where they abstain.
        soft_label: the teacher's class or number, [N].
        probability: of that class, [N]; of numbers, NaN.
        uncertainty: Sigma, [N].
        fidelity: eta2, [N].
        verdict: "kept", "corrected" or "ignored", [N].
        doubt: how much each weak label is worth doubting, [N]; NaN where there is none.
        witnesses: the strong rows that speak for the soft label.
    """

    weak_label: npt.NDArray[Any]
    soft_label: npt.NDArray[Any]
    probability: Array
    uncertainty: Array
    fidelity: Array
    verdict: npt.NDArray[np.str_]
    doubt: Array
    witnesses: Witnesses


def audit(model: Estimator, X: Any, weak: Any = None, count: int = 3) -> Audit:
    """Judge the weak labels of rows; a large table is best given a chunk at a time.

    Args:
        model: fitted.
        X: rows.
        weak: their weak labels, as `fit` takes them; None if there are none.
        count: strong rows that are named for each, at the most.
    """
    check_is_fitted(model, "learned_")
    samples = read_samples(model, X)
    fitted: Fitted = model._fitted
    read = None if weak is None else fitted.labels.weak(weak, len(samples))
    known = np.full((len(samples), fitted.soft.label.shape[1]), np.nan) if read is None else read
    label, sigma, eta2, left, deviation = _beliefs(fitted, samples, read)
    soft, probability = _told(fitted, label)
    return Audit(
        _weak_told(fitted, known),
        soft,
        probability,
        sigma,
        eta2,
        verdicts(fitted.labels.task, known, label, left, deviation),
        doubt(fitted.labels.task, known, label, eta2),
        witnesses(fitted.teacher, samples, label, count),
    )


def suggest_rows(
    model: Estimator, X: Any, n: int, *, weak: Any = None, allowed: Rows | None = None, clusters: int = CLUSTERS
) -> Suggestions:
    """The rows whose strong label would remove the most uncertainty over all of them, the best first.

    Rows on which the model is undecided count for more: there a better belief changes a decision. Of each class that
    the annotator names, no more are suggested than its share, rounded up, so that the labels still tell how frequent
    classes are.

    Args:
        model: fitted.
        X: the pool, or any rows.
        n: how many to suggest.
        weak: their weak labels, as `fit` takes them.
        allowed: rows that may be suggested; all by default. Leave out those whose label is known.
        clusters: over which suggestions are spread.
    """
    check_is_fitted(model, "learned_")
    samples = read_samples(model, X)
    fitted: Fitted = model._fitted
    read = None if weak is None else fitted.labels.weak(weak, len(samples))
    if not fitted.labels.task.has_classes:
        return suggest(fitted.teacher, samples, n, Chance(0).child("suggest"), allowed=allowed, clusters=clusters)
    return suggest(
        fitted.teacher,
        samples,
        n,
        Chance(0).child("suggest"),
        allowed=allowed,
        importance=lambda rows: _undecided(fitted, samples[rows], None if read is None else read[rows]),
        clusters=clusters,
        classes=lambda rows: _thought(fitted, samples[rows], None if read is None else read[rows]),
        foresight=OF_CLASSES,
    )


def _probabilities(fitted: Fitted, samples: npt.NDArray[Any], read: Array | None) -> Array:
    """The model's probability of every class, [N, C]."""
    return both_columns(predict_with(fitted.learned, fitted.teacher, samples, read))


def _undecided(fitted: Fitted, samples: npt.NDArray[Any], read: Array | None) -> Array:
    """The chance that two draws from the model's probabilities differ, [N]."""
    return np.asarray(1.0 - (_probabilities(fitted, samples, read) ** 2).sum(axis=1))


def _thought(fitted: Fitted, samples: npt.NDArray[Any], read: Array | None) -> Rows:
    """The place of the class that the annotator names, or the model where it is silent, [N]."""
    said = _probabilities(fitted, samples, read)
    if read is not None:
        spoke = ~silent_rows(read)
        said[spoke] = both_columns(read[spoke])
    return np.asarray(said.argmax(axis=1), dtype=np.int64)


def _beliefs(fitted: Fitted, samples: npt.NDArray[Any], read: Array | None) -> tuple[Array, Array, Array, Array, Array]:
    """Soft label, uncertainty, fidelity, share of the variance that is left, and standard deviation, a chunk each."""
    parts = []
    for start in range(0, len(samples), CHUNK):
        rows = slice(start, start + CHUNK)
        weak = weak_or_student(fitted.teacher, samples[rows], None if read is None else read[rows])
        posterior = fitted.teacher.posterior(samples[rows], weak)
        soft = fitted.softener.of(samples[rows], posterior)
        left, deviation = unexplained_share(posterior).mean(axis=1), np.sqrt(posterior.variance).mean(axis=1)
        parts.append((soft.label, soft.uncertainty, soft.fidelity, left, deviation))
    label, sigma, eta2, left, deviation = (np.concatenate(column) for column in zip(*parts, strict=True))
    return label, sigma, eta2, left, deviation


def _told(fitted: Fitted, label: Array) -> tuple[npt.NDArray[Any], Array]:
    if not isinstance(fitted.labels, ClassLabels):
        return fitted.labels.told(label), np.full(len(label), np.nan)
    probabilities = fitted.labels.told(label)
    return fitted.labels.named(probabilities), probabilities.max(axis=1)


def _weak_told(fitted: Fitted, weak: Array) -> npt.NDArray[Any]:
    if not isinstance(fitted.labels, ClassLabels):
        return fitted.labels.told(weak)
    silent = silent_rows(weak)
    named = fitted.labels.named(fitted.labels.told(np.where(silent[:, None], 0.0, weak))).astype(object)
    named[silent] = None
    return named
