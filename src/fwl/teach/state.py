"""What a fitted teacher is made of: plain settings and arrays, enough to be the same teacher again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

import numpy.typing as npt

from fwl.errors import InvalidInput, UnknownName


@dataclass(frozen=True, eq=False)
class State:
    """Settings that JSON can hold, and arrays by name."""

    settings: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]


@runtime_checkable
class Storable(Protocol):
    """A teacher that can be saved."""

    def state(self) -> State:
        """What it is made of."""

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The same teacher again."""


Kind = TypeVar("Kind", bound=type[Storable])
KINDS: dict[str, type[Storable]] = {}


def storable(kind: Kind) -> Kind:
    """Make a class of teachers known by its name, so that a saved one finds it again."""
    KINDS[kind.__name__] = kind
    return kind


def kind_and_state(teacher: object) -> tuple[str, State]:
    """The name of a teacher's class, and what it is made of."""
    name = type(teacher).__name__
    if name not in KINDS or not isinstance(teacher, Storable):
        raise InvalidInput(f"a {name} cannot be saved; teachers that can: {', '.join(sorted(KINDS))}")
    return name, teacher.state()


def revive(kind: str, state: State) -> Any:
    """The teacher of that class and state."""
    if kind not in KINDS:
        raise UnknownName("kind of teacher", kind, sorted(KINDS))
    return KINDS[kind].from_state(state)


def nested(settings: dict[str, Any], arrays: dict[str, npt.NDArray[Any]], parts: dict[str, object]) -> State:
    """A state that holds the states of other teachers, each below its name."""
    states = {name: kind_and_state(teacher) for name, teacher in parts.items()}
    inner = {f"{name}.{key}": array for name, (_, part) in states.items() for key, array in part.arrays.items()}
    described = {name: {"kind": kind, "settings": part.settings} for name, (kind, part) in states.items()}
    return State({**settings, **described}, {**arrays, **inner})


def revive_part(state: State, name: str) -> Any:
    """The teacher below that name in a state that `nested` made."""
    arrays = {k.removeprefix(name + "."): v for k, v in state.arrays.items() if k.startswith(name + ".")}
    described = state.settings[name]
    return revive(described["kind"], State(described["settings"], arrays))
