"""The method: pretrain, soften, finetune; Algorithm 1, its baselines, and the automatic version."""

from fwl.learn.auto import fidelity_weighted_auto
from fwl.learn.fidelity_weighted import fidelity_weighted
from fwl.learn.learned import Learned
from fwl.learn.methods import METHODS
from fwl.learn.recipe import Auto, Problem, Recipe, Teaching
from fwl.learn.soften import fidelity, soften
from fwl.learn.task import REGRESSION, Task

__all__ = [
    "METHODS",
    "REGRESSION",
    "Auto",
    "Learned",
    "Problem",
    "Recipe",
    "Task",
    "Teaching",
    "fidelity",
    "fidelity_weighted",
    "fidelity_weighted_auto",
    "soften",
]
