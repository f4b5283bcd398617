"""The paper's tables and figures, declared as data and run as one."""

from fwl.experiments.catalogue import CATALOGUE, find_experiment
from fwl.experiments.runner import run_experiment

__all__ = ["CATALOGUE", "find_experiment", "run_experiment"]
