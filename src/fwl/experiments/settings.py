"""`--set key=value`: text onto a frozen dataclass of settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from fwl.errors import InvalidInput, UnknownName


def apply_settings(settings: Any, assignments: Iterable[str]) -> Any:
    """The settings with `key=value` texts applied, each value read as its field's kind."""
    return change_settings(settings, dict(split_assignment(text) for text in assignments))


def change_settings(settings: Any, changes: Mapping[str, Any]) -> Any:
    """The settings with some fields changed; texts are read as their field's kind."""
    known = [field.name for field in fields(settings)]
    for name in changes:
        if name not in known:
            raise UnknownName("setting", name, known)
    return replace(settings, **{name: _read(name, value, getattr(settings, name)) for name, value in changes.items()})


def split_assignment(text: str) -> tuple[str, str]:
    """The name and the value of a `key=value` text."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InvalidInput(f"--set {text!r}: expected key=value, as in --set beta=0.5")
    return name.strip(), value.strip().strip("\"'")


def _read(name: str, value: Any, now: Any) -> Any:
    """A text as the kind of value that stands there now; anything else is taken as it is."""
    if not isinstance(value, str) or isinstance(now, str):
        return value
    try:
        if isinstance(now, bool):
            return {"true": True, "false": False}[value.lower()]
        if isinstance(now, tuple):
            return tuple(type(now[0])(part) for part in value.split(","))
        return type(now)(value)
    except (KeyError, ValueError) as error:
        kind = "true or false" if isinstance(now, bool) else _kind_of(now)
        raise InvalidInput(f"setting {name}={value!r}: expected {kind}, such as {_show(now)}") from error


def _kind_of(now: Any) -> str:
    if isinstance(now, tuple):
        return "numbers with commas between"
    return "a whole number" if isinstance(now, int) else "a number"


def _show(now: Any) -> str:
    return ",".join(str(part) for part in now) if isinstance(now, tuple) else str(now)
