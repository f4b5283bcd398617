"""Learn from few labels you trust and many you don't."""

from fwl.errors import FWLError
from fwl.estimators import FWLRegressor
from fwl.learn import METHODS, Problem, Recipe, Teaching, fidelity_weighted, fidelity_weighted_auto
from fwl.randomness import Chance
from fwl.records import Posterior, Result, SoftSet, StrongSet, WeakSet
from fwl.students import Perceptron, Student, Training, WrappedStudent
from fwl.teach import RBF, ExactGP, Kernel, Linear, Matern32, Teacher, White

__all__ = [
    "METHODS",
    "RBF",
    "Chance",
    "ExactGP",
    "FWLError",
    "FWLRegressor",
    "Kernel",
    "Linear",
    "Matern32",
    "Perceptron",
    "Posterior",
    "Problem",
    "Recipe",
    "Result",
    "SoftSet",
    "StrongSet",
    "Student",
    "Teacher",
    "Teaching",
    "Training",
    "WeakSet",
    "White",
    "WrappedStudent",
    "fidelity_weighted",
    "fidelity_weighted_auto",
]
