"""What travels between the rooms: frozen, shape-checked, no behaviour.

Labels are always a float matrix [N, C]: one column for a number or a preference, one per class for classes. A single
column may come in as a vector. Samples are an array with one row each; where a student and a teacher read different
things of the same sample (word ids, a vector of numbers), its rows have named parts: numpy's structured arrays, which
are sliced, counted and concatenated like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from fwl.errors import InvalidInput, NotFinite, WrongShape

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WeakSet:
    """Many samples with labels nobody checked.

    Arrays of numbers are checked at once. Whatever else a user has (texts, a frame, a sparse matrix; names of classes,
    votes, labels with gaps) is kept as it came, for the estimators to encode; a `Problem` takes only what is encoded.

    It has no `__len__` on purpose: scikit-learn's cross-validation slices whatever has one, and the weak pool must
    reach every fold whole.

    Attributes:
        X: samples, [N, ...].
        y: weak labels, [N, C].
        encoded: whether both are checked arrays of numbers.
    """

    X: Any
    y: Any
    encoded: bool = field(init=False, repr=False, default=False)

    def __post_init__(self) -> None:
        if _is_numeric(self.X) and _is_numeric(self.y) and not _has_gaps(self.y):
            check_encoded(self)


@dataclass(frozen=True, eq=False)
class StrongSet:
    """Few samples with labels somebody vouches for.

    Attributes:
        X: samples, [N, ...].
        y: strong labels, [N, C].
        weak: what the annotator says of the same samples, [N, C], where it was asked.
    """

    X: npt.NDArray[Any]
    y: Array
    weak: Array | None = None

    def __post_init__(self) -> None:
        _check_labelled(self, "strong")
        if self.weak is not None:
            _store(self, "weak", as_matrix(self.weak, "weak labels of the strong samples"))
            _check_same_shape("weak labels of the strong samples", self.weak, "strong labels", self.y)


@dataclass(frozen=True, eq=False)
class Posterior:
    """What a teacher believes of N samples.

    Attributes:
        mean: [N, C].
        variance: of the label, noise included, [N, C].
        prior: the same variance before any strong label was seen, [N, C].
        noise: the part of both that no label can remove (the White kernel's constant).
    """

    mean: Array
    variance: Array
    prior: Array
    noise: float = 0.0

    def __post_init__(self) -> None:
        for name in ("mean", "variance", "prior"):
            _store(self, name, as_matrix(getattr(self, name), f"posterior {name}"))
            _check_same_shape(name, getattr(self, name), "mean", self.mean)
        if (self.variance < 0).any():
            raise InvalidInput(f"a variance is never negative, got {self.variance.min():.3g}")


@dataclass(frozen=True, eq=False)
class SoftSet:
    """The soft dataset D_sw: every sample with the teacher's label and how far to trust it.

    Attributes:
        X: samples, [N, ...].
        label: the soft label T(x), [N, C].
        uncertainty: Sigma(x), [N].
        fidelity: eta2 = exp(-beta Sigma(x)), [N], in (0, 1].
    """

    X: npt.NDArray[Any]
    label: Array
    uncertainty: Array
    fidelity: Array

    def __post_init__(self) -> None:
        _store(self, "X", as_samples(self.X, "soft"))
        _store(self, "label", as_matrix(self.label, "soft labels"))
        for name in ("uncertainty", "fidelity"):
            _store(self, name, as_vector(getattr(self, name), name))
            check_same_length(name, getattr(self, name), "soft labels", self.label)
        check_same_length("samples", self.X, "soft labels", self.label)
        if not ((self.fidelity > 0) & (self.fidelity <= 1)).all():
            raise InvalidInput(f"fidelity lies in (0, 1], got {self.fidelity.min():.3g} to {self.fidelity.max():.3g}")


@dataclass(frozen=True)
class Row:
    """One line of a results table: one method on one dataset, over all seeds or folds."""

    dataset: str
    method: str
    metric: str
    lower_is_better: bool
    values: tuple[float, ...]
    mean: float
    std: float
    paper: float | None = None
    better_than: tuple[str, ...] = ()
    p_values: dict[str, float] = field(default_factory=dict)
    at: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Result:
    """One run of one experiment: what `results.json` holds."""

    experiment: str
    title: str
    size: str
    settings: dict[str, Any]
    provenance: dict[str, Any]
    rows: tuple[Row, ...]
    curves: dict[str, Any] = field(default_factory=dict)


def as_samples(X: Any, name: str) -> npt.NDArray[Any]:
    """Samples as an array with one row each, not empty, every number (in every named part) finite."""
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise WrongShape(f"{name} samples: expected rows of one length, got {_glance(X)}") from error
    if array.ndim == 0:
        raise WrongShape(f"{name} samples: expected one row per sample, got a single {type(X).__name__}")
    parts = _parts(array, f"{name} samples")
    for part, values in parts:
        if values.dtype.kind not in "fiub":
            raise InvalidInput(f"{part}: expected numbers, got {values.dtype}; encode other columns first")
    if len(array) == 0:
        raise InvalidInput(f"{name} samples: the set is empty, expected at least one row")
    for part, values in parts:
        _check_finite(values, part)
    return array


def as_matrix(y: Any, name: str) -> Array:
    """Numbers as a finite float64 matrix [N, C]; a vector becomes one column."""
    matrix = _as_floats(y, name)
    if matrix.ndim == 1:
        matrix = matrix[:, None]
    if matrix.ndim != 2:
        raise WrongShape(f"{name}: expected a vector or a matrix [N, C], got shape {matrix.shape}")
    return matrix


def as_vector(v: Any, name: str) -> Array:
    """Numbers as a finite float64 vector [N]."""
    vector = _as_floats(v, name)
    if vector.ndim != 1:
        raise WrongShape(f"{name}: expected a vector [N], got shape {vector.shape}")
    return vector


def check_same_length(name: str, a: npt.NDArray[Any], other: str, b: npt.NDArray[Any]) -> None:
    """Refuse two arrays that should describe the same samples and don't."""
    if len(a) != len(b):
        raise WrongShape(f"{name} has {len(a)} rows and {other} has {len(b)}; they describe the same samples")


def check_encoded(weak: WeakSet) -> None:
    """Refuse a weak set that is no arrays of numbers yet."""
    if not weak.encoded:
        _check_labelled(weak, "weak")
        _store(weak, "encoded", True)


def _as_floats(y: Any, name: str) -> Array:
    try:
        array = np.array(y, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name}: expected numbers, got {_glance(y)}") from error
    if array.size == 0:
        raise InvalidInput(f"{name}: the set is empty, expected at least one row")
    _check_finite(array, name)
    return array


def _parts(array: npt.NDArray[Any], name: str) -> list[tuple[str, npt.NDArray[Any]]]:
    """Each named part with its name, or the whole where there are none."""
    if array.dtype.names is None:
        return [(name, array)]
    if array.ndim != 1:
        raise WrongShape(f"{name}: with named parts, expected one row per sample [N], got shape {array.shape}")
    return [(f"{name}, part {part!r}", array[part]) for part in array.dtype.names]


def _check_labelled(record: WeakSet | StrongSet, name: str) -> None:
    _store(record, "X", as_samples(record.X, name))
    _store(record, "y", as_matrix(record.y, f"{name} labels"))
    check_same_length(f"{name} samples", record.X, f"{name} labels", record.y)


def _check_finite(array: npt.NDArray[Any], name: str) -> None:
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return
    rows = np.atleast_1d(array)
    broken = np.argwhere(~np.isfinite(rows.reshape(len(rows), -1)).all(axis=1))[:, 0]
    some = ", ".join(str(row) for row in broken[:5]) + (", ..." if len(broken) > 5 else "")
    raise NotFinite(
        f"{name}: NaN or infinity in {len(broken)} of {len(rows)} rows (rows {some}); drop or fill them first"
    )


def _check_same_shape(name: str, a: Array, other: str, b: Array) -> None:
    if a.shape != b.shape:
        raise WrongShape(f"{name} has shape {a.shape} and {other} has shape {b.shape}; expected the same")


def _is_numeric(values: Any) -> bool:
    """Whether these should be numbers; what is not an array, a list or a column of another library is not."""
    if hasattr(values, "columns") or hasattr(values, "toarray"):  # a frame, a sparse matrix
        return False
    try:
        return np.asarray(values).dtype.kind not in "OUST"
    except ValueError:
        return True  # rows of different lengths: numbers gone wrong


def _has_gaps(y: Any) -> bool:
    """Whether some labels are NaN: somebody abstained."""
    values = np.asarray(y)
    return values.dtype.kind == "f" and bool(np.isnan(values).any())


def _store(record: Any, name: str, value: Any) -> None:
    object.__setattr__(record, name, value)


def _glance(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
