"""Labels as users have them to label columns [N, C] and back: classes by name, numbers on their own scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets

from fwl.annotate.votes import (
    Ballots,
    Combiner,
    DawidSkene,
    Majority,
    make_combiner,
    reliability,
)
from fwl.errors import InvalidInput
from fwl.estimators.weak_labels import ClassReader, read_numbers
from fwl.learn.task import BINARY, MULTICLASS, REGRESSION, Task
from fwl.records import Array
from fwl.teach.state import State

Known = Mapping[int, int]  # rows of the pool that are strong samples too, each with that sample's row


class Labels(Protocol):
    """How labels become columns and columns labels, fitted."""

    @property
    def task(self) -> Task:
        """What kind of labels they are."""

    @property
    def annotators(self) -> tuple[dict[str, Any], ...]:
        """What is known of each annotator."""

    def strong(self, y: Any) -> Array:
        """Strong labels as columns, [N, C]."""

    def weak(self, y: Any, samples: int) -> Array:
        """Weak labels as columns, [N, C], rows of NaN for abstentions."""

    def told(self, columns: Array) -> npt.NDArray[Any]:
        """Columns [N, C] as a user reads them."""

    def state(self) -> State:
        """What it takes to read labels the same way again."""


@dataclass(frozen=True, eq=False)
class ClassLabels:
    """Classes by name; two of them share one column, that of the second.

    Attributes:
        classes: [C], sorted.
        class_map: what other names of weak labels stand for.
        combiner: of several annotators' votes.
        annotators: what is known of each, for the report.
    """

    classes: npt.NDArray[Any]
    class_map: Mapping[Any, Any] | None = None
    combiner: Combiner = Majority()  # noqa: RUF009
    annotators: tuple[dict[str, Any], ...] = ()

    @property
    def task(self) -> Task:
        """Two classes, or several."""
        return BINARY if len(self.classes) == 2 else MULTICLASS

    def strong(self, y: Any) -> Array:
        """One-hot columns."""
        return self._columns(np.eye(len(self.classes))[self.places(y)])

    def places(self, y: Any) -> npt.NDArray[np.int64]:
        """The place of each label among the classes."""
        return np.searchsorted(self.classes, np.asarray(y))

    def weak(self, y: Any, samples: int) -> Array:
        """Distributions; of votes, as they were combined in fit."""
        return self._columns(self._distributions(self.reader.read(y, samples)))

    def told(self, columns: Array) -> npt.NDArray[Any]:
        """Probabilities, a column for each class."""
        return np.hstack([1.0 - columns, columns]) if columns.shape[1] == 1 else columns

    def named(self, probabilities: Array) -> npt.NDArray[Any]:
        """The most probable class of each row."""
        named: npt.NDArray[Any] = self.classes[probabilities.argmax(axis=1)]
        return named

    def state(self) -> State:
        """The classes' names, and how votes are combined."""
        settings: dict[str, Any] = {
            "classes": self.classes.tolist(),
            "kind": self.classes.dtype.kind,
            "class_map": None if self.class_map is None else [list(pair) for pair in self.class_map.items()],
            "combiner": type(self.combiner).__name__,
            "annotators": list(self.annotators),
        }
        model = self.combiner
        arrays = {"prior": model.prior, "confusion": model.confusion} if isinstance(model, DawidSkene) else {}
        return State(settings, arrays)

    @classmethod
    def from_state(cls, state: State) -> ClassLabels:
        """The same again; votes that an object of the user's combined have to be combined by it first."""
        settings = state.settings
        kind = settings["kind"]
        if kind not in _DTYPES:
            raise InvalidInput(f"classes of kind {kind!r}; expected one of {', '.join(_DTYPES)}")
        combiner: Combiner = Majority()
        if settings["combiner"] == "DawidSkene":
            combiner = DawidSkene(state.arrays["prior"], state.arrays["confusion"])
        pairs = settings["class_map"]
        class_map = None if pairs is None else {name: target for name, target in pairs}  # noqa: C416
        classes: npt.NDArray[Any] = np.array(settings["classes"], dtype=_DTYPES[kind])
        return cls(classes, class_map, combiner, tuple(settings["annotators"]))

    @property
    def reader(self) -> ClassReader:
        """Reads weak labels in terms of these classes."""
        return ClassReader(tuple(self.classes.tolist()), self.class_map)

    def _distributions(self, read: Ballots | Array) -> Array:
        return self.combiner.combine(read) if isinstance(read, Ballots) else read

    def _columns(self, distributions: Array) -> Array:
        return distributions[:, 1:] if len(self.classes) == 2 else distributions


_DTYPES = {"U": np.str_, "O": object, "i": np.int64, "u": np.uint64, "f": np.float64, "b": np.bool_}


def class_labels(y: Any, class_map: Mapping[Any, Any] | None = None, classes: Any = None) -> ClassLabels:
    """The classes that strong labels name, or those that the user does: some may have no strong label yet."""
    values = np.asarray(y)
    gaps = [row for row, value in enumerate(values.tolist()) if value is None or value != value]
    if gaps:
        raise InvalidInput(
            f"strong labels: {len(gaps)} of {len(values)} rows have none (row {gaps[0]}); drop those rows, or put them "
            "into the weak set"
        )
    kinds = sorted({type(value).__name__ for value in values.ravel().tolist()})
    if "str" in kinds and len(kinds) > 1:
        raise InvalidInput(f"strong labels mix kinds ({', '.join(kinds)}); expected one, such as texts")
    check_classification_targets(values)
    named = np.unique(values)
    if len(named) < 2:
        raise InvalidInput(
            f"strong labels: expected at least 2 classes, got 1 class ({named.tolist()[0]!r}); label a sample of "
            "another class by hand"
        )
    if classes is None:
        return ClassLabels(named, class_map)
    every = np.unique(np.asarray(classes))
    for label in named.tolist():
        if label not in every.tolist():
            raise InvalidInput(
                f"strong labels: {label!r} is not among the classes ({', '.join(map(repr, every.tolist()))})"
            )
    return ClassLabels(every, class_map)


def with_combiner(
    labels: ClassLabels, how: Any, pool: Any, samples: int, strong: Any, truth: npt.NDArray[np.int64], known: Known
) -> ClassLabels:
    """The labels with what combines votes, and what each annotator is worth.

    Args:
        labels: the classes.
        how: to combine votes (see `make_combiner`).
        pool: weak labels of the pool, as they came.
        samples: of the pool.
        strong: weak labels of the strong samples, as they came; None if the annotators were not asked.
        truth: the strong samples' classes by their place.
        known: rows of the pool that are strong samples too.
    """
    on_pool = _hard(labels.reader.read(pool, samples))
    on_strong = None if strong is None else _hard(labels.reader.read(strong, len(truth)))
    judged = truth
    if on_strong is None and known:
        rows = np.array(sorted(known), dtype=np.int64)
        on_strong, judged = on_pool.of(rows), truth[[known[row] for row in rows.tolist()]]
    told = tuple(asdict(entry) for entry in reliability(on_pool, on_strong, judged))
    classes_known = {row: int(truth[place]) for row, place in known.items()}
    return ClassLabels(labels.classes, labels.class_map, make_combiner(how, on_pool, classes_known), told)


def _hard(read: Ballots | Array) -> Ballots:
    """Votes for the most probable class, where distributions were given."""
    if isinstance(read, Ballots):
        return read
    rows = np.flatnonzero(~np.isnan(read).any(axis=1))
    return Ballots(rows, np.zeros_like(rows), read[rows].argmax(axis=1), len(read), read.shape[1])


@dataclass(frozen=True, eq=False)
class NumberLabels:
    """Numbers, standardised over both sets; several annotators' numbers are averaged.

    Attributes:
        centre: subtracted from every label.
        scale: by which it is then divided.
        annotators: what is known of each, for the report.
    """

    centre: float
    scale: float
    annotators: tuple[dict[str, Any], ...] = ()

    @property
    def task(self) -> Task:
        """Numbers."""
        return REGRESSION

    def strong(self, y: Any) -> Array:
        """One standardised column."""
        return (np.asarray(y, dtype=np.float64).reshape(-1, 1) - self.centre) / self.scale

    def weak(self, y: Any, samples: int) -> Array:
        """One standardised column, NaN where every annotator abstains."""
        return (mean_of_annotators(read_numbers(y, samples)[0]) - self.centre) / self.scale

    def told(self, columns: Array) -> npt.NDArray[Any]:
        """Numbers on their own scale, [N]."""
        numbers: Array = (columns * self.scale + self.centre)[:, 0]
        return numbers

    def state(self) -> State:
        """Its two numbers."""
        return State({"centre": self.centre, "scale": self.scale, "annotators": list(self.annotators)}, {})

    @classmethod
    def from_state(cls, state: State) -> NumberLabels:
        """The same again."""
        return cls(state.settings["centre"], state.settings["scale"], tuple(state.settings["annotators"]))


def number_labels(strong: Array, pool: Any, samples: int, strong_weak: Any, known: Known) -> NumberLabels:
    """Numbers standardised over both sets, and what each annotator is worth."""
    weak, names = read_numbers(pool, samples)
    mean = mean_of_annotators(weak)
    scaler = StandardScaler().fit(np.concatenate([mean[~np.isnan(mean[:, 0])], strong.reshape(-1, 1)]))
    asked = read_numbers(strong_weak, len(strong))[0] if strong_weak is not None else None
    truth = strong
    if asked is None and known:
        rows = sorted(known)
        asked, truth = weak[rows], strong[[known[row] for row in rows]]
    told = tuple(
        _worth(name, weak[:, i], None if asked is None else asked[:, i], truth) for i, name in enumerate(names)
    )
    return NumberLabels(float(scaler.mean_[0]), float(scaler.scale_[0]), told)


def mean_of_annotators(values: Array) -> Array:
    """The mean of those who gave a number, [N, L] -> [N, 1]; NaN where nobody did."""
    there = ~np.isnan(values)
    total, count = np.where(there, values, 0.0).sum(axis=1), there.sum(axis=1)
    mean: Array = np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0)
    return mean[:, None]


def _worth(name: str, pool: Array, asked: Array | None, truth: Array) -> dict[str, Any]:
    coverage = float((~np.isnan(pool)).mean())
    told: dict[str, Any] = {"name": name, "coverage": coverage, "compared": 0, "rmse": None, "mean_error": None}
    if asked is not None and not np.isnan(asked).all():
        error = (asked - truth)[~np.isnan(asked)]
        told |= {"compared": len(error), "rmse": float(np.sqrt((error**2).mean())), "mean_error": float(error.mean())}
    return told


LABELS: dict[str, Any] = {kind.__name__: kind for kind in (ClassLabels, NumberLabels)}
