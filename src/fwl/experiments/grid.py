"""A finite grid of settings, and its points as numbers that a Gaussian process can read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fwl.errors import InvalidInput
from fwl.records import Array

LOG_FROM = 4.0  # values whose largest is this many times the smallest are told apart by their ratio


@dataclass(frozen=True)
class Grid:
    """Every combination of some values of some settings; a point is its number, counted from 0.

    >>> grid = Grid({"dropout": (0.0, 0.5), "hidden": ((32,), (64,), (64, 64))})
    >>> len(grid), grid.settings(5)
    (6, {'dropout': 0.5, 'hidden': (64, 64)})
    >>> grid.point({"dropout": 0.5, "hidden": [64, 64]})
    5
    """

    values: Mapping[str, tuple[Any, ...]]

    def __post_init__(self) -> None:
        for name, values in self.values.items():
            if not values or len(set(values)) < len(values):
                raise InvalidInput(f"the grid's values of {name} are {values}: expected at least one, and none twice")

    def __len__(self) -> int:
        return math.prod(self.shape)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each setting has."""
        return tuple(len(values) for values in self.values.values())

    def settings(self, point: int) -> dict[str, Any]:
        """The settings at a point."""
        places = np.unravel_index(point, self.shape)
        return {name: values[int(i)] for (name, values), i in zip(self.values.items(), places, strict=True)}

    def point(self, settings: Mapping[str, Any]) -> int:
        """The point with these settings; lists, as JSON has them, are read as tuples."""
        if set(settings) != set(self.values):
            raise InvalidInput(f"a point of the grid has settings {', '.join(self.values)}; got {', '.join(settings)}")
        places = [_place(name, values, settings[name]) for name, values in self.values.items()]
        return int(np.ravel_multi_index(places, self.shape))

    def nearest(self, shares: Sequence[float]) -> int:
        """The point that lies at these shares, from 0 to below 1, of the way along each setting's values."""
        places = [min(int(share * count), count - 1) for share, count in zip(shares, self.shape, strict=True)]
        return int(np.ravel_multi_index(places, self.shape))

    def neighbours(self, point: int) -> list[int]:
        """The points that differ from one in a single setting."""
        here = [int(i) for i in np.unravel_index(point, self.shape)]
        others = [
            (*here[:axis], i, *here[axis + 1 :])
            for axis, count in enumerate(self.shape)
            for i in range(count)
            if i != here[axis]
        ]
        return [int(np.ravel_multi_index(other, self.shape)) for other in others]

    def encoded(self, points: Iterable[int]) -> Array:
        """Points as rows of numbers from 0 to 1; no two points have the same row."""
        places = np.unravel_index(np.fromiter(points, dtype=np.int64), self.shape)
        return np.concatenate([columns[i] for columns, i in zip(self._columns, places, strict=True)], axis=1)

    @cached_property
    def _columns(self) -> list[Array]:
        return [_columns_of(values) for values in self.values.values()]


def _place(name: str, values: tuple[Any, ...], value: Any) -> int:
    value = tuple(value) if isinstance(value, list) else value
    if value not in values:
        raise InvalidInput(f"{name}={value} is not on the grid; expected one of {values}")
    return values.index(value)


def _columns_of(values: tuple[Any, ...]) -> Array:
    """Values as rows of numbers: in their order where they have one, else each with a column of its own."""
    if all(isinstance(value, tuple) for value in values):
        return _layers(values)
    if all(isinstance(value, int | float) for value in values):
        return _scaled(values)
    return np.eye(len(values))


def _layers(values: tuple[tuple[float, ...], ...]) -> Array:
    """How many layers, and how wide each: beyond the last one its width goes on, so that depth alone is the change."""
    most = max(len(value) for value in values)
    wide = [(value or (0,)) + (value or (0,))[-1:] * (most - max(len(value), 1)) for value in values]
    columns = [_scaled([len(value) for value in values]), *(_scaled(column) for column in zip(*wide, strict=True))]
    return np.unique(np.concatenate(columns, axis=1), axis=1)  # equal widths would count as often as there are layers


def _scaled(values: Sequence[float]) -> Array:
    column = np.array(values, dtype=np.float64)
    if column.min() > 0 and column.max() / column.min() >= LOG_FROM:
        column = np.log(column)
    span = column.max() - column.min()
    scaled: Array = (column - column.min()) / (span if span > 0 else 1.0)
    return scaled[:, None]
