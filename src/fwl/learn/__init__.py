"""The method: pretrain, soften, finetune; Algorithm 1, its baselines, and the automatic version."""

from fwl.learn.auto import fidelity_weighted_auto
from fwl.learn.chunks import Columns
from fwl.learn.eyes import OneStudent
from fwl.learn.fidelity_weighted import fidelity_weighted
from fwl.learn.fitted import FittedTeacher, fit_teacher
from fwl.learn.learned import Learned
from fwl.learn.methods import METHODS
from fwl.learn.recipe import Auto, Problem, Recipe, Teaching
from fwl.learn.soften import Softener, fidelity
from fwl.learn.stream import soften
from fwl.learn.task import BINARY, MULTICLASS, PREFERENCE, REGRESSION, Task
from fwl.learn.worth import Worth

__all__ = [
    "BINARY",
    "METHODS",
    "MULTICLASS",
    "PREFERENCE",
    "REGRESSION",
    "Auto",
    "Columns",
    "FittedTeacher",
    "Learned",
    "OneStudent",
    "Problem",
    "Recipe",
    "Softener",
    "Task",
    "Teaching",
    "Worth",
    "fidelity",
    "fidelity_weighted",
    "fidelity_weighted_auto",
    "fit_teacher",
    "soften",
]
