"""From what `fit` is given to what methods learn from: both sets encoded, labels in columns, gaps and twins found."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fwl.errors import InvalidInput
from fwl.estimators.given import read_pool, read_strong
from fwl.estimators.inputs import Inputs, fit_inputs, kind_of
from fwl.estimators.labels import ClassLabels, Known, Labels, class_labels, number_labels, with_combiner
from fwl.estimators.latent import Samples, with_vectors
from fwl.estimators.new_students import TUNED_ENCODER
from fwl.estimators.overlap import near_copies, twins
from fwl.estimators.text_inputs import SentenceInputs, as_text_list
from fwl.estimators.tuned_vectors import fit_tuned
from fwl.learn.own_data import WITHOUT_WEAK, OwnData, rows_to_learn_from
from fwl.learn.task import silent_rows
from fwl.learn.view import VECTOR
from fwl.progress import Progress
from fwl.randomness import Chance
from fwl.records import Array


@dataclass(frozen=True, eq=False)
class Gathered:
    """Everything that is known before anything is learned.

    Attributes:
        data: both sets, encoded.
        inputs: how samples are encoded.
        labels: how labels are read and told.
        known: rows of the pool that are strong samples too, each with that sample's row.
        kind: of samples, as `kind_of` calls it.
        has_weak: whether there is a weak set; without one, the strong set stands in for it.
    """

    data: OwnData
    inputs: Inputs
    labels: Labels
    known: Known
    kind: str
    has_weak: bool

    def described(self) -> dict[str, Any]:
        """The data as a report tells it."""
        data = self.data
        labelled = int((~silent_rows(data.pool_weak)).sum()) if self.has_weak else 0
        rows = len(data.pool) if self.has_weak else 0
        return {
            "samples": self.inputs.described(),
            "strong": {"rows": len(data.strong), "with_weak_label": int(data.asked.sum()), **self._per_class()},
            "weak": {"rows": rows, "labelled": labelled, "abstained": rows - labelled},
            "in_both": len(self.known),
            "learned_from": len(data.learned_from),
            "annotators": list(self.labels.annotators) if self.has_weak else [],
        }

    def _per_class(self) -> dict[str, Any]:
        if not isinstance(self.labels, ClassLabels):
            return {}
        counts = self.labels.told(self.data.y).sum(axis=0).astype(int).tolist()
        return {"per_class": {str(c): n for c, n in zip(self.labels.classes.tolist(), counts, strict=True)}}


def gather_classes(
    estimator: Any, X: Any, y: Any, weak: Any, y_weak: Any, chance: Chance, progress: Progress | None = None
) -> Gathered:
    """The two sets of a classifier; samples that stand in both take no part in step 1.

    A method that learns from strong labels alone reads nothing that weak labels have shaped.
    """
    strong, truth = read_strong(estimator, X, y, numeric=False)
    classes = class_labels(truth, estimator.class_map, estimator.classes)
    inputs, samples, pool = _encoded(estimator, strong, weak, chance, progress)
    known = {} if weak is None else twins(pool, samples)
    weak_y = truth if weak is None else weak.y
    labels = with_combiner(classes, estimator.combine, weak_y, len(pool), y_weak, classes.places(truth), known)
    pool_weak = labels.weak(weak_y, len(pool))
    strong_weak = None if weak is None else _weak_of_strong(labels, y_weak, pool_weak, known, len(samples))
    rows = rows_to_learn_from(pool_weak, _taken_out(pool_weak, known), estimator.pool_size, chance)
    data = OwnData(pool, pool_weak, samples, labels.strong(truth), strong_weak, rows, labels.task)
    gathered = Gathered(data, inputs, labels, known, _kind(strong), weak is not None)
    if estimator.student != TUNED_ENCODER or weak is None or estimator.method in WITHOUT_WEAK:
        return gathered
    return _tuned(gathered, strong, as_text_list(weak.X), estimator.tuning_steps, chance.child("tuned"), progress)


def _tuned(
    gathered: Gathered, strong: list[str], pool: list[str], updates: int, chance: Chance, progress: Progress | None
) -> Gathered:
    """The same with an encoder beside the one that is there, tuned on weak labels.

    It learns from no text that nearly repeats a strong one: what it says of the strong texts is what it says of others.
    """
    data, inputs = gathered.data, gathered.inputs
    if not isinstance(inputs, SentenceInputs):
        raise InvalidInput(
            f"student={TUNED_ENCODER!r} needs texts and the folder of a sentence encoder: encoder=FOLDER"
        )
    rows = data.learning_without(near_copies(pool, strong)).learned_from
    texts, y = [pool[row] for row in rows], data.pool_weak[rows]
    tuned = fit_tuned(inputs.encoder, texts, y, data.task, updates, chance, progress)
    data = data.read_as(_beside(data.pool, tuned.vectors(pool)), _beside(data.strong, tuned.vectors(strong)))
    return replace(gathered, data=data, inputs=replace(inputs, tuned=tuned))


def _beside(samples: Samples, vectors: Array) -> Samples:
    """The samples with more columns in their vectors."""
    return with_vectors(samples, np.concatenate([samples[VECTOR], vectors], axis=1, dtype=np.float32))


def gather_numbers(
    estimator: Any,
    X: Any,
    y: Any,
    weak: Any,
    y_weak: Any,
    chance: Chance,
    progress: Progress | None = None,
) -> Gathered:
    """The two sets of a regressor; the annotator's numbers for strong samples are used where they are given."""
    if estimator.student == TUNED_ENCODER:
        raise InvalidInput(f"student={TUNED_ENCODER!r} is tuned on classes; for numbers use student='encoder'")
    strong, truth = read_strong(estimator, X, y, numeric=True)
    truth = np.asarray(truth, dtype=np.float64)
    inputs, samples, pool = _encoded(estimator, strong, weak, chance, progress)
    known = {} if weak is None else twins(pool, samples)
    weak_y = truth if weak is None else weak.y
    labels = number_labels(truth, weak_y, len(pool), y_weak, known)
    pool_weak = labels.weak(weak_y, len(pool))
    strong_weak = None if y_weak is None else labels.weak(y_weak, len(samples))
    rows = rows_to_learn_from(pool_weak, np.zeros(len(pool), dtype=bool), estimator.pool_size, chance)
    data = OwnData(pool, pool_weak, samples, labels.strong(truth), strong_weak, rows, labels.task)
    return Gathered(data, inputs, labels, known, _kind(strong), weak is not None)


def has_no_numbers(samples: npt.NDArray[Any]) -> bool:
    """Whether samples have nothing that a teacher could read directly."""
    return samples.dtype.names is not None and VECTOR not in samples.dtype.names


def _encoded(
    estimator: Any, strong: Any, weak: Any, chance: Chance, progress: Progress | None
) -> tuple[Inputs, Any, Any]:
    if weak is not None and not (hasattr(weak, "X") and hasattr(weak, "y")):
        raise InvalidInput(f"weak: expected fwl.WeakSet(X, y), got a {type(weak).__name__}")
    pool = strong if weak is None else read_pool(weak.X, strong)
    encoder = estimator.encoder, estimator.encoder_layers
    return fit_inputs(strong, pool, chance.child("inputs"), *encoder, progress)


def _weak_of_strong(labels: ClassLabels, y_weak: Any, pool_weak: Array, known: Known, samples: int) -> Array | None:
    """What the annotator says of the strong samples: as given, or as it says of their twins in the pool."""
    if y_weak is not None:
        return labels.weak(y_weak, samples)
    if not known:
        return None
    found = np.full((samples, pool_weak.shape[1]), np.nan)
    for row, place in known.items():
        if np.isnan(found[place]).any():
            found[place] = pool_weak[row]
    return found


def _taken_out(pool_weak: Array, known: Known) -> npt.NDArray[np.bool_]:
    """Rows of the pool that are strong samples too; none, if nothing labelled would be left without them."""
    out = np.zeros(len(pool_weak), dtype=bool)
    out[list(known)] = True
    labelled = ~silent_rows(pool_weak)
    return out if (labelled & ~out).any() else np.zeros_like(out)


def _kind(strong: Any) -> str:
    return "texts" if isinstance(strong, list) else kind_of(strong)
