"""The methods by the names that tables and command line use."""

from __future__ import annotations

from collections.abc import Callable

from fwl.learn import baselines
from fwl.learn.auto import fidelity_weighted_auto
from fwl.learn.fidelity_weighted import fidelity_weighted
from fwl.learn.learned import Learned
from fwl.learn.recipe import Problem, Recipe
from fwl.randomness import Chance
from fwl.students.contract import Student

Method = Callable[[Problem, Recipe, Chance, Student | None], Learned]

METHODS: dict[str, Method] = {
    "NN_W": baselines.weak_only,
    "NN_S": baselines.strong_only,
    "NN_S+/W": baselines.strong_and_weak_by_turns,
    "NN_W->S": baselines.weak_then_strong,
    "NN_W->Sx4": baselines.weak_then_strong_averaged,
    "NN_Womega->S": baselines.weak_at_fixed_weight_then_strong,
    "FWL_unsuprep": baselines.unsupervised_representation,
    "FWL_noSigma": baselines.fidelity_ignored,
    "FWL": fidelity_weighted,
    "FWL_s": baselines.fidelity_sampled,
    "FWL_auto": fidelity_weighted_auto,
}
