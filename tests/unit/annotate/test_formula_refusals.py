"""A formula is arithmetic of x: whatever else is written is refused, and nothing is executed."""

import builtins
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwl.annotate import Formula
from fwl.errors import InvalidInput, NotFinite, UnknownName, WrongShape
from tests.properties import PROPERTY
from tests.refusals import expect_refusal

KNOWN = "+ - * / **, numbers, x, pi, e, sin, cos, tan, tanh, exp, log, sqrt, abs, sign, sinc"

NOT_ARITHMETIC = {
    "x.real": "x.real",
    "x.__class__": "x.__class__",
    "sin.__globals__": "sin.__globals__",
    "1 + x.T": "x.T",
    "x[0]": "x[0]",
    "'x'": "'x'",
    "b'x'": "b'x'",
    "f'{x}'": "f'{x}'",
    "lambda: x": "lambda: x",
    "(lambda x: x)(x)": "(lambda x: x)(x)",
    "sin(x, x)": "sin(x, x)",
    "sin()": "sin()",
    "sin(x=x)": "sin(x=x)",
    "sin(x, out=x)": "sin(x, out=x)",
    "sin(*x)": "*x",
    "sin(**x)": "sin(**x)",
    "sin(x)(x)": "sin(x)(x)",
    "x.sum()": "x.sum()",
    "x if x else x": "x if x else x",
    "x < 1": "x < 1",
    "x and x": "x and x",
    "not x": "not x",
    "~x": "~x",
    "x % 2": "x % 2",
    "x // 2": "x // 2",
    "x << 9": "x << 9",
    "x @ x": "x @ x",
    "[x]": "[x]",
    "(x, x)": "(x, x)",
    "{x}": "{x}",
    "[x for x in x]": "[x for x in x]",
    "(x := 1)": "x := 1",
    "1j * x": "1j",
    "None": "None",
    "...": "...",
    "1e999": "1e999",
}


@pytest.mark.parametrize(("text", "part"), NOT_ARITHMETIC.items())
def test_what_is_not_arithmetic_is_refused_and_named(text, part):
    with expect_refusal(InvalidInput, f"formula {text!r}: {part!r} is not arithmetic of x; known: {KNOWN}"):
        Formula(text)


def test_a_number_too_large_for_a_float_is_refused():
    text = "1" + "0" * 400
    with expect_refusal(InvalidInput, f"formula {text!r}: {text!r} is not arithmetic of x; known: {KNOWN}"):
        Formula(text)


UNREADABLE = ["", " ", "x +", "(x", "x)", "x = 1", "import os", "x; x", "x\nx", "2x", "x\0", "\ud800", "(" * 300]


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_cannot_be_read_is_refused_with_an_example(text):
    with pytest.raises(InvalidInput) as caught:
        Formula(text)
    assert str(caught.value).startswith(f"cannot read formula {text!r} (")
    assert str(caught.value).endswith("); write arithmetic of x, as in 'sin(x) + 0.5*cos(x/2)'")


def test_a_formula_without_end_is_refused():
    with expect_refusal(InvalidInput, "a formula has at most 500 characters, got 501"):
        Formula("x" * 501)


def test_a_deep_refusal_is_still_a_refusal():
    with pytest.raises(InvalidInput, match="is not arithmetic of x"):
        Formula("~" + "-" * 400 + "x")


def test_an_unknown_name_is_answered_with_the_nearest():
    known = "x, pi, e, sin, cos, tan, tanh, exp, log, sqrt, abs, sign, sinc"
    with expect_refusal(UnknownName, f"unknown name in formula 'pie'; did you mean 'pi'? known: {known}"):
        Formula("2*pie")
    with expect_refusal(UnknownName, f"unknown name in formula 'y'; known: {known}"):
        Formula("y")


def test_an_unknown_function_is_answered_with_the_nearest():
    known = "sin, cos, tan, tanh, exp, log, sqrt, abs, sign, sinc"
    with expect_refusal(UnknownName, f"unknown function in formula 'sine'; did you mean 'sin'? known: {known}"):
        Formula("sine(x)")
    with expect_refusal(UnknownName, f"unknown function in formula 'eval'; known: {known}"):
        Formula("eval(x)")


NOT_FINITE = ["1/0", "9**9**9", "-9**9**9", "pi/(pi-pi)", "e**e**e**e**e", "0/0", "log(-1)", "(-1)**0.5", "1e308*10"]


@pytest.mark.parametrize("text", NOT_FINITE)
def test_a_constant_that_is_not_finite_is_refused(text):
    with expect_refusal(InvalidInput, f"formula {text!r} is not finite at x = 0.5"):
        Formula(text).annotate([0.5])


@pytest.mark.parametrize(
    ("text", "x"), [("1/x", 0.0), ("log(x)", -2.0), ("sqrt(x)", -2.0), ("x**x", -0.5), ("tan(x)/0", 1.0)]
)
def test_the_first_x_that_is_not_finite_is_named(text, x):
    with expect_refusal(InvalidInput, f"formula {text!r} is not finite at x = {x:.4g}"):
        Formula(text).annotate([x, 1.0])


def test_samples_of_several_columns_are_refused():
    with expect_refusal(WrongShape, "formula input: expected one column, x, got 2"):
        Formula("x").annotate(np.ones((3, 2)))


def test_broken_samples_are_refused():
    with expect_refusal(NotFinite, "formula input: NaN or infinity in 1 of 2 rows (rows 1); drop or fill them first"):
        Formula("x").annotate([0.0, np.nan])


PIECES = ["x", "1", "2.5", "+", "-", "*", "/", "**", "(", ")", "sin(", "log(", "pi", ",", ".", ".__class__", "[", "]"]
PIECES += ["'", "lambda", ":", "__import__(", "open(", "exec(", "eval(", "os"]


@contextmanager
def nothing_runs() -> Iterator[None]:
    """Whatever could run code or open a file raises instead."""

    def forbidden(*_, **__):
        raise AssertionError("a formula was executed")

    with pytest.MonkeyPatch.context() as patch:
        for name in ("eval", "exec", "open"):
            patch.setattr(builtins, name, forbidden)
        yield


@PROPERTY
@given(text=st.one_of(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join), st.text(max_size=30)))
def test_any_text_is_a_function_or_a_refusal(text):
    try:
        with nothing_runs():
            labels = Formula(text).annotate([0.5, 1.0])
    except InvalidInput:
        return
    assert labels.shape == (2, 1)
    assert np.isfinite(labels).all()
