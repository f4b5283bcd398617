import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwl.annotate import Formula
from fwl.annotate.formula import CONSTANTS, FUNCTIONS
from tests.properties import PROPERTY
from tests.tolerances import ALGEBRA

X = np.array([-1.5, 0.0, 0.25, 2.0])

READ = {
    "x": X,
    "-x": -X,
    "+x": X,
    "3": np.full(4, 3.0),
    "1.5e-3*x": 1.5e-3 * X,
    "x + 2*x - x/4": X + 2 * X - X / 4,
    "x**2": X**2,
    "2**x": 2**X,
    "-x**2": -(X**2),
    "(x + 1) * (x - 1)": X**2 - 1,
    "sin(x) + 0.5*cos(x/2)": np.sin(X) + 0.5 * np.cos(X / 2),
    "2*sinc(x)": 2 * np.sinc(X),
    "pi*x + e": np.pi * X + np.e,
    "  x\t": X,
    "sqrt(abs(x))": np.sqrt(np.abs(X)),
    "exp(log(e))*x": np.e * X,
    "-" * 400 + "x": X,
}


@pytest.mark.parametrize(("text", "expected"), READ.items())
def test_arithmetic_is_read_as_written(text, expected):
    labels = Formula(text).annotate(X)
    assert labels.shape == (4, 1)
    np.testing.assert_allclose(labels[:, 0], expected, rtol=0, atol=ALGEBRA)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_numpys(name):
    x = np.array([0.5, 1.25])
    np.testing.assert_array_equal(Formula(f"{name}(x)").annotate(x)[:, 0], getattr(np, name)(x))


@pytest.mark.parametrize("name", CONSTANTS)
def test_every_constant_is_numpys(name):
    assert Formula(name).annotate([0.0])[0, 0] == getattr(np, name)


def test_a_column_is_read_like_a_vector():
    np.testing.assert_array_equal(Formula("x**3").annotate(X[:, None]), Formula("x**3").annotate(X))


def test_formulas_are_values():
    assert Formula("x") == Formula("x") != Formula("2*x")
    assert repr(Formula("x")) == "Formula(text='x')"


@PROPERTY
@given(a=st.floats(-1e6, 1e6), b=st.floats(-1e6, 1e6))
def test_any_line_is_read(a, b):
    np.testing.assert_array_equal(Formula(f"{a!r}*x + {b!r}").annotate(X)[:, 0], a * X + b)
