"""What can go wrong, as a tree.

    FWLError
    ├── InvalidInput (ValueError)       the user's data or settings cannot be used as they came
    │   ├── WrongShape                  an array has the wrong number of rows, columns or dimensions
    │   ├── NotFinite                   NaN or infinity where a number was expected
    │   └── UnknownName (LookupError)   a method, setting or experiment that does not exist
    ├── NotFitted (AttributeError)      asked before it was taught
    ├── NoClosedForm (NotImplementedError)  a model has no closed form for what was asked
    ├── NumericalTrouble (ArithmeticError)  a matrix that no jitter makes positive definite, a loss that diverged
    └── OutputTrouble (OSError)         a folder that cannot be written, a file that is not what it claims

TeacherWarning (UserWarning) is no error: a fitted teacher says what to beware of.

Each message says what came, what was expected and what to try. The command line turns all of them into exit code 2.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FWLError(Exception):
    """Anything this package raises on purpose."""


class InvalidInput(FWLError, ValueError):
    """The data or a setting cannot be used as it came."""


class WrongShape(InvalidInput):
    """An array has another shape than its role asks for."""


class NotFinite(InvalidInput):
    """NaN or infinity among numbers."""


class UnknownName(InvalidInput, LookupError):
    """A name that is not among the known ones; the message offers the nearest."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        known = list(known)
        self._parts = (kind, name, known)
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}? " if near else ""
        super().__init__(f"unknown {kind} {name!r}; {hint}known: {', '.join(known)}")

    def __reduce__(self) -> tuple[type[UnknownName], tuple[str, str, list[str]]]:
        return type(self), self._parts  # so that it survives the way home from a worker process


class NotFitted(FWLError, AttributeError):
    """Something was asked of a model that has learned nothing yet."""


class NoClosedForm(FWLError, NotImplementedError):
    """A model has no closed form for what was asked of it."""


class NumericalTrouble(FWLError, ArithmeticError):
    """The arithmetic broke down and no safe way round it was found."""


class OutputTrouble(FWLError, OSError):
    """A file or folder cannot be written, or is not what it claims to be."""


class TeacherWarning(UserWarning):
    """A fitted teacher's own word on what it is not good for."""
