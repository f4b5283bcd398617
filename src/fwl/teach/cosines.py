"""Cosines between rows, and the covariance k(a, b) = exp(-(1 - cos(a, b)) / l²) that is made of them.

Rows come as dense vectors, as sparse ones (TF-IDF), or as cosines that somebody worked out; several views of the same
rows, as a tuple, have their cosines averaged, so that an encoder and the words themselves can speak together. A row of
zeros has the cosine 0 with everything and 1 with itself: a query of unknown words is like no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from scipy import sparse
from torch import Tensor

from fwl.errors import InvalidInput, WrongShape
from fwl.records import Array, as_matrix
from fwl.teach.state import State

Rows = npt.NDArray[np.int64]
ROUNDING = 1e-6  # by which cosines may leave [-1, 1], or differ from their mirror image

LARGEST = 1e15  # of a judgment


@dataclass(frozen=True, eq=False)
class Cosines:
    """Cosines worked out elsewhere.

    Attributes:
        matrix: of the rows with each other, [n, n]; of new rows with those, [m, n].
    """

    matrix: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", as_matrix(self.matrix, "cosines"))
        most = np.abs(self.matrix).max()
        if most > 1.0 + ROUNDING:
            raise InvalidInput(f"cosines lie in [-1, 1], got {most:.6g}; divide dot products by the vectors' lengths")


View = Array | sparse.csr_array | Cosines


@dataclass(frozen=True, eq=False)
class Seen:
    """Rows whose cosines can be taken.

    Attributes:
        views: each of them every row at unit length, or their cosines.
        name: what the rows are, for messages.
    """

    views: tuple[View, ...]
    name: str

    def __len__(self) -> int:
        return rows_of(self.views[0])

    def among(self, rows: Rows, columns: Rows) -> Array:
        """Cosines of some rows with some rows, [rows, columns]."""
        found = _mean([_between(view, rows, columns) for view in self.views])
        found[rows[:, None] == columns] = 1.0  # zeros too; and rounding gone
        return found

    def with_new(self, new: Seen) -> Array:
        """Cosines of new rows with these, [new, rows]."""
        return _mean([_cross(a, b) for a, b in zip(new.views, self.views, strict=True)])


def as_seen(given: Any, name: str) -> Seen:
    """Rows to learn from: vectors [n, D] (dense or scipy's sparse), `Cosines` [n, n], or a tuple of several of them."""
    views = tuple(_as_view(view, name) for view in _several(given, name))
    for view in views:
        if rows_of(view) != rows_of(views[0]):
            raise WrongShape(f"{name}: views of {rows_of(views[0])} and {rows_of(view)} rows; expected the same rows")
        if isinstance(view, Cosines):
            _check_mirrored(view.matrix, name)
    return Seen(views, name)


def as_new(given: Any, known: Seen) -> Seen:
    """New rows, seen in the same views as the known ones; `Cosines` are theirs with the known ones, [m, n]."""
    several = _several(given, known.name)
    if len(several) != len(known.views):
        raise WrongShape(f"{known.name}: expected {len(known.views)} views as in fit, got {len(several)}")
    views = tuple(_as_view(view, known.name) for view in several)
    for view, other in zip(views, known.views, strict=True):
        if isinstance(view, Cosines) != isinstance(other, Cosines):
            kind = "cosines with the rows of fit" if isinstance(other, Cosines) else "vectors"
            raise InvalidInput(f"{known.name}: expected {kind}, as in fit")
        if _columns(view) != _columns(other) or rows_of(view) != rows_of(views[0]):
            shape = (rows_of(views[0]), _columns(other))
            raise WrongShape(f"{known.name}: expected shape {shape}, got {(rows_of(view), _columns(view))}")
    return Seen(views, known.name)


def covariance(cosine: Array, lengthscale: float) -> Tensor:
    """exp(-(1 - cos) / l²), in place of the cosines."""
    # Two divisions, as the square of a small lengthscale may be none at all.
    return torch.from_numpy(cosine).sub_(1.0).div_(lengthscale).div_(lengthscale).exp_()


def gram(seen: Seen, lengthscale: float, at_once: int = 1024) -> Tensor:
    """The covariance of every row with every row, [n, n]."""
    everyone = np.arange(len(seen))
    matrix = np.empty((len(seen), len(seen)))
    for rows in pieces(len(seen), at_once):  # products of sparse rows need several times the room of what comes out
        matrix[rows] = seen.among(everyone[rows], everyone)
    return covariance(matrix, lengthscale)


def pieces(n: int, at_once: int) -> Iterator[slice]:
    """0 to n in slices of at most that many."""
    return (slice(start, min(n, start + at_once)) for start in range(0, n, at_once))


def as_state(seen: Seen) -> State:
    """What it takes to see the same rows again."""
    kinds, arrays = [], dict[str, npt.NDArray[Any]]()
    for i, view in enumerate(seen.views):
        kind, parts = _parts(view)
        kinds.append({"kind": kind, "columns": _columns(view)})
        arrays |= {f"{i}.{part}": array for part, array in parts.items()}
    return State({"name": seen.name, "views": kinds}, arrays)


def from_state(state: State) -> Seen:
    """The rows that `state` was taken from."""
    views: list[View] = []
    for i, described in enumerate(state.settings["views"]):
        parts = {key.split(".")[1]: array for key, array in state.arrays.items() if key.split(".")[0] == str(i)}
        if described["kind"] == "sparse":
            shape = (len(parts["indptr"]) - 1, described["columns"])
            views.append(sparse.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=shape))
        else:
            views.append(Cosines(parts["matrix"]) if described["kind"] == "cosines" else parts["matrix"])
    return Seen(tuple(views), state.settings["name"])


def as_judgments(judgments: Any, shape: tuple[int, int], name: str) -> Array:
    """A finite number for every query and document, [Q, N]."""
    matrix = as_matrix(judgments, name)
    if matrix.shape != shape:
        raise WrongShape(f"{name}: expected shape {shape}, queries by documents, got {np.shape(judgments)}")
    most = np.abs(matrix).max()
    if most > LARGEST:
        raise InvalidInput(f"{name}: values up to {most:.1e} are too large for their squares to be summed; scale them")
    return matrix


def check_positive(number: float, name: str) -> None:
    """Refuse a lengthscale or noise that is none."""
    if isinstance(number, bool) or not isinstance(number, (int, float, np.number)) or not 0 < number < np.inf:
        raise InvalidInput(f"{name} is a number above 0, got {number!r}")


def rows_of(view: View) -> int:
    """How many rows a view shows."""
    return int((view.matrix if isinstance(view, Cosines) else view).shape[0])


def _several(given: Any, name: str) -> tuple[Any, ...]:
    if isinstance(given, tuple) and not given:
        raise InvalidInput(f"{name}: no view of them at all, expected at least one")
    return given if isinstance(given, tuple) else (given,)


def _as_view(given: Any, name: str) -> View:
    if isinstance(given, Cosines):
        return given
    if _is_sparse(given):
        return _sparse_unit_rows(given, name)
    vectors = as_matrix(given, name)
    if np.ndim(given) != 2:
        raise WrongShape(f"{name}: expected vectors [n, D], one in each row, got shape {np.shape(given)}")
    return _unit_rows(vectors)


def _unit_rows(vectors: Array) -> Array:
    """Each row at length 1, zeros as they are; by its largest entry first, whose square may overflow."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    vectors = vectors / np.where(largest > 0, largest, 1.0)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1.0))


def _sparse_unit_rows(given: Any, name: str) -> sparse.csr_array:
    if given.ndim != 2 or given.dtype.kind not in "fiub":
        raise WrongShape(f"{name}: expected sparse rows of numbers [n, D], got {given.dtype} of shape {given.shape}")
    if 0 in given.shape:
        raise InvalidInput(f"{name}: the set is empty, expected at least one row")
    vectors: sparse.csr_array = sparse.csr_array(given, dtype=np.float64, copy=True)
    vectors.sum_duplicates()
    row = np.repeat(np.arange(vectors.shape[0]), np.diff(vectors.indptr))
    broken = ~np.isfinite(vectors.data)
    if broken.any():
        as_matrix(np.where(np.isin(np.arange(vectors.shape[0]), row[broken]), np.nan, 0.0), name)  # says which rows
    for size in (_largest, _length):
        found = size(vectors.data, row, int(vectors.shape[0]))
        vectors.data = vectors.data / np.where(found > 0, found, 1.0)[row]
    return vectors


def _largest(data: Array, row: Rows, n: int) -> Array:
    found = np.zeros(n)
    np.maximum.at(found, row, np.abs(data))
    return found


def _length(data: Array, row: Rows, n: int) -> Array:
    return np.asarray(np.sqrt(np.bincount(row, data**2, n)))


def _check_mirrored(matrix: Array, name: str) -> None:
    if matrix.shape[0] != matrix.shape[1]:
        raise WrongShape(f"{name}: expected cosines of all rows with all rows [n, n], got shape {matrix.shape}")
    if np.abs(matrix - matrix.T).max() > ROUNDING or np.abs(np.diag(matrix) - 1.0).max() > ROUNDING:
        raise InvalidInput(f"{name}: cosines are the same both ways and 1 with oneself; these are not")


def _parts(view: View) -> tuple[str, dict[str, npt.NDArray[Any]]]:
    if isinstance(view, Cosines):
        return "cosines", {"matrix": view.matrix}
    if isinstance(view, sparse.csr_array):
        return "sparse", {"data": view.data, "indices": view.indices, "indptr": view.indptr}
    return "dense", {"matrix": view}


def _columns(view: View) -> int:
    return int((view.matrix if isinstance(view, Cosines) else view).shape[1])


def _between(view: View, rows: Rows, columns: Rows) -> Array:
    if isinstance(view, Cosines):
        return view.matrix[np.ix_(rows, columns)]
    return _product(view[rows], view[columns])


def _cross(new: View, known: View) -> Array:
    if isinstance(new, Cosines):
        return new.matrix.copy()
    assert not isinstance(known, Cosines)
    return _product(new, known)


def _product(a: Any, b: Any) -> Array:
    found = a @ b.T
    return np.asarray(found.toarray() if _is_sparse(found) else found)


def _is_sparse(matrix: Any) -> bool:
    return bool(sparse.issparse(matrix))


def _mean(cosines: list[Array]) -> Array:
    total = cosines[0]
    for other in cosines[1:]:
        total = total + other
    return total / len(cosines) if len(cosines) > 1 else total
