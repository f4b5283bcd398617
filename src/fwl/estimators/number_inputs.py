"""Columns of numbers and categories, as students and teachers read them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse

from fwl.errors import WrongShape
from fwl.estimators.latent import Latent, Samples, as_vectors
from fwl.records import Array
from fwl.tables.encoding import TableEncoding
from fwl.teach.state import State


@dataclass(frozen=True, eq=False)
class ArrayInputs:
    """Columns of numbers, each brought to mean 0 and deviation 1."""

    centre: Array
    scale: Array

    def of(self, X: Any) -> Samples:
        """The standardised rows [N, D]."""
        standardised: Samples = (as_dense(X) - self.centre) / self.scale
        return standardised

    def described(self) -> dict[str, Any]:
        """How many columns there are."""
        return {"kind": "numbers", "columns": len(self.centre)}

    def state(self) -> State:
        """Its two arrays."""
        return State({}, {"centre": self.centre, "scale": self.scale})

    @classmethod
    def from_state(cls, state: State) -> ArrayInputs:
        """The same again."""
        return cls(state.arrays["centre"], state.arrays["scale"])


@dataclass(frozen=True, eq=False)
class SparseInputs:
    """Wide sparse rows, by their principal directions."""

    latent: Latent

    def of(self, X: Any) -> Samples:
        """The rows' vectors."""
        return as_vectors(self.latent(scipy.sparse.csr_matrix(X)))

    def described(self) -> dict[str, Any]:
        """How many columns became how many."""
        columns, kept = self.latent.directions.shape
        return {"kind": "sparse numbers", "columns": columns, "reduced_to": kept}

    def state(self) -> State:
        """Its directions."""
        return State({}, {"directions": self.latent.directions})

    @classmethod
    def from_state(cls, state: State) -> SparseInputs:
        """The same again."""
        return cls(Latent(state.arrays["directions"]))


@dataclass(frozen=True, eq=False)
class TableInputs:
    """The columns of a table: numbers standardised, categories one-hot, missing cells filled."""

    encoding: TableEncoding
    report: dict[str, Any] = field(default_factory=dict)

    def of(self, X: Any) -> Samples:
        """The rows as numbers [N, D]; an array is taken for the columns in their order."""
        return self.encoding.matrix(X if isinstance(X, pa.Table) else self._named(X))[0]

    def described(self) -> dict[str, Any]:
        """Every column, what became of it, and its missing cells."""
        return {"kind": "table", **self.report}

    def state(self) -> State:
        """Its columns, as plain values."""
        return State({"encoding": self.encoding.as_spec(), "report": self.report}, {})

    @classmethod
    def from_state(cls, state: State) -> TableInputs:
        """The same again."""
        return cls(TableEncoding.from_spec(state.settings["encoding"]), state.settings["report"])

    def _named(self, X: Any) -> pa.Table:
        rows, names = np.asarray(X), self.encoding.names
        if rows.ndim != 2 or rows.shape[1] != len(names) or self.encoding.dropped:
            raise WrongShape(
                f"expected a frame with the columns {', '.join(names)}, got an array of shape {rows.shape}"
            )
        return pa.table({name: rows[:, i] for i, name in enumerate(names)})


@dataclass(frozen=True, eq=False)
class PlainInputs:
    """Samples with named parts, for a student of the user's own: left as they are."""

    parts: tuple[str, ...]

    def of(self, X: Any) -> Samples:
        """The samples themselves."""
        samples = np.asarray(X)
        if samples.dtype.names != self.parts:
            raise WrongShape(f"expected samples with the parts {', '.join(self.parts)}, got {samples.dtype}")
        return samples

    def described(self) -> dict[str, Any]:
        """Their parts."""
        return {"kind": "samples with named parts", "parts": list(self.parts)}

    def state(self) -> State:
        """The names of the parts."""
        return State({"parts": list(self.parts)}, {})

    @classmethod
    def from_state(cls, state: State) -> PlainInputs:
        """The same again."""
        return cls(tuple(state.settings["parts"]))


def as_dense(X: Any) -> Any:
    """A matrix as an array."""
    return X.toarray() if hasattr(X, "toarray") else X
