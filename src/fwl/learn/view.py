"""How a teacher sees samples: through a student's eyes, directly, or both.

Of samples with named parts, the teacher sees the one named `VECTOR` directly: the others are the student's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fwl.errors import InvalidInput
from fwl.learn.eyes import Eyes
from fwl.records import Array, StrongSet

VECTOR = "vector"


@dataclass(frozen=True, eq=False)
class View:
    """From samples to teacher inputs, with the students frozen inside.

    Attributes:
        eyes: whose psi is used.
        input: "x", "psi" or "both".
        centre: subtracted from each column, [D].
        scale: each column is divided by it, [D].
    """

    eyes: Eyes
    input: str
    centre: Array
    scale: Array

    def __call__(self, X: npt.NDArray[Any]) -> Array:
        """Teacher inputs Z [N, D] of samples X."""
        return (_columns(self.eyes, X, self.input) - self.centre) / self.scale

    def of_strong(self, strong: StrongSet) -> Array:
        """Teacher inputs of the strong samples, each seen by a student that was not taught its label."""
        psi = None if self.input == "x" else self.eyes.represent_strong(strong)
        return (_side_by_side(strong.X, psi, self.input) - self.centre) / self.scale


def make_view(eyes: Eyes, everything: npt.NDArray[Any], input: str, standardise: bool) -> View:  # noqa: A002
    """A view on all samples, each column brought to mean 0 and deviation 1 over them if asked for."""
    Z = _columns(eyes, everything, input)
    centre, scale = np.zeros(Z.shape[1]), np.ones(Z.shape[1])
    if standardise:
        centre, deviation = Z.mean(axis=0), Z.std(axis=0)
        # A column that never changes carries nothing: it becomes zero instead of noise blown up.
        scale = np.where(deviation > 1e-9 * (np.abs(centre) + 1e-300), deviation, np.inf)
        scale = _of_one_vector(scale, everything[:1], input) * _balance(Z.shape[1], everything[:1], input)
    return View(eyes, input, centre, scale)


def _columns(eyes: Eyes, X: npt.NDArray[Any], input: str) -> Array:  # noqa: A002
    return _side_by_side(X, None if input == "x" else eyes.represent(X), input)


def _side_by_side(X: npt.NDArray[Any], psi: Array | None, input: str) -> Array:  # noqa: A002
    if psi is None:
        return _flat(X)
    return psi if input == "psi" else np.concatenate([_flat(X), psi], axis=1)


def _of_one_vector(scale: Array, one: npt.NDArray[Any], input: str) -> Array:  # noqa: A002
    """The columns of a named vector keep their proportions: the small ones of principal components are mostly noise."""
    if one.dtype.names is None or input == "psi":
        return scale
    n, moving = _flat(one).shape[1], np.isfinite(scale)
    common = np.sqrt(np.mean(scale[:n][moving[:n]] ** 2)) if moving[:n].any() else np.inf
    return np.concatenate([np.where(moving[:n], common, np.inf), scale[n:]])


def _balance(columns: int, one: npt.NDArray[Any], input: str) -> Array:  # noqa: A002
    """In "both", each block counts as much as the other however many columns it has."""
    if input != "both":
        return np.ones(columns)
    n_x = _flat(one).shape[1]
    n_psi = columns - n_x
    return np.sqrt(np.concatenate([np.full(n_x, n_x), np.full(n_psi, n_psi)]).astype(np.float64))


def _flat(X: npt.NDArray[Any]) -> Array:
    if X.dtype.names is not None:
        if VECTOR not in X.dtype.names:
            raise InvalidInput(
                f"these samples have no numbers of their own (parts: {', '.join(X.dtype.names)}; expected one named "
                f"{VECTOR!r}); choose input 'psi'"
            )
        X = X[VECTOR]
    return X.reshape(len(X), -1).astype(np.float64)
