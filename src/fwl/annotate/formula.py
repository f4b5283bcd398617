"""A weak function of one number, written as a formula: the annotator of the toy problem."""

from __future__ import annotations

import ast
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fwl.errors import InvalidInput, UnknownName, WrongShape
from fwl.records import Array, as_matrix

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "sign": np.sign,
    "sinc": np.sinc,  # sin(pi x) / (pi x): DECISIONS.md, D2
}
CONSTANTS = {"pi": np.pi, "e": np.e}
BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
LONGEST = 500  # characters; a formula of one variable needs no more


@dataclass(frozen=True)
class Formula:
    """A function of x, read as arithmetic and nothing else: no attribute, no index, no call but those listed.

    >>> Formula("2*sinc(x)").annotate(np.array([0.0, 1.0])).round(6)
    array([[2.],
           [0.]])
    """

    text: str

    def __post_init__(self) -> None:
        _check(_parse(self.text), self.text)

    def annotate(self, samples: npt.NDArray[Any]) -> Array:
        """The function's values at samples [N] or [N, 1], as labels [N, 1]."""
        x = as_matrix(samples, "formula input")
        if x.shape[1] != 1:
            raise WrongShape(f"formula input: expected one column, x, got {x.shape[1]}")
        with np.errstate(all="ignore"):
            values = np.broadcast_to(_evaluate(_parse(self.text), x), x.shape)  # a constant is a function too
        if not np.isfinite(values).all():
            raise InvalidInput(f"formula {self.text!r} is not finite at x = {x[~np.isfinite(values)][0]:.4g}")
        return as_matrix(values, "formula values")


def _parse(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise InvalidInput(f"a formula has at most {LONGEST} characters, got {len(text)}")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InvalidInput(
            f"cannot read formula {text!r} ({error}); write arithmetic of x, as in 'sin(x) + 0.5*cos(x/2)'"
        ) from error


def _check(node: ast.expr, text: str) -> None:
    """Refuse whatever is not arithmetic of x."""
    match node:
        case ast.Constant(value=int() | float() as value) if abs(value) <= sys.float_info.max:
            return
        case ast.Name(id=name):
            if name != "x" and name not in CONSTANTS:
                raise UnknownName("name in formula", name, ["x", *CONSTANTS, *FUNCTIONS])
        case ast.UnaryOp(op=op, operand=operand) if type(op) in UNARY:
            _check(operand, text)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
            _check(left, text)
            _check(right, text)
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]):
            if name not in FUNCTIONS:
                raise UnknownName("function in formula", name, FUNCTIONS)
            _check(argument, text)
        case _:
            raise InvalidInput(
                f"formula {text!r}: {ast.get_source_segment(text.strip(), node)!r} is not arithmetic of x; "
                f"known: + - * / **, numbers, x, {', '.join([*CONSTANTS, *FUNCTIONS])}"
            )


def _evaluate(node: ast.expr, x: Array) -> Any:
    match node:
        case ast.Constant(value=int() | float() as value):
            return np.float64(value)  # numpy's: 1/0 and 9**9**9 become infinite and are refused below
        case ast.Name(id=name):
            return x if name == "x" else np.float64(CONSTANTS[name])
        case ast.UnaryOp(op=op, operand=operand):
            return UNARY[type(op)](_evaluate(operand, x))
        case ast.BinOp(left=left, op=op, right=right):
            return BINARY[type(op)](_evaluate(left, x), _evaluate(right, x))
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return FUNCTIONS[name](_evaluate(argument, x))
    raise AssertionError(f"unchecked node {ast.dump(node)}")
