"""Every experiment that `fwl reproduce` knows."""

from __future__ import annotations

from typing import Any

from fwl.errors import UnknownName
from fwl.experiments.declare import Experiment, Size, Variation
from fwl.experiments.toy import ANNOTATOR, ToySettings, measure_toy
from fwl.learn.methods import METHODS

BETAS = (0.0, 0.1, 1.0, 2.0, 5.0)
WEAK_AMOUNTS = (5, 10, 20, 40, 70, 100)
STRONG_AMOUNTS = (3, 5, 10, 20, 30, 50)
STEPS = (10, 25, 50, 100, 200, 400, 800)
TOYS: dict[str, dict[str, Any]] = {"toy": {}, "toy*": {"n_strong": 5}, "toy**": {"weak": "x + 1"}}
PAPER_TOY = {"NN_W": 0.8406, "NN_W->S": 0.5451, "FWL": 0.4143}

_SETTINGS = ToySettings()
_TINY = {
    "hidden": (16, 16),
    "pretrain_steps": 60,
    "finetune_steps": 60,
    "auto_pretrain_steps": 100,
    "auto_finetune_steps": 60,
    "auto_folds": 2,
}
_SIZES = {"tiny": Size(3, _TINY), "reduced": Size(8), "paper": Size(20)}

TOY = Experiment(
    name="toy",
    title="The toy problem: sin(x) from ten observations and a weak function",
    settings=_SETTINGS,
    methods=(ANNOTATOR, *METHODS),
    variations=(Variation("toy", paper=PAPER_TOY),),
    sizes=_SIZES,
    measure=measure_toy,
)

BETA = Experiment(
    name="beta",
    title="How far to trust the teacher: the effect of beta",
    settings=_SETTINGS,
    methods=("FWL",),
    variations=tuple(
        Variation(name, {**changes, "beta": beta}, {"beta": beta}) for name, changes in TOYS.items() for beta in BETAS
    ),
    sizes=_SIZES,
    measure=measure_toy,
)

LEARNING_CURVE = Experiment(
    name="learning-curve",
    title="A good teacher is better than many observations: learning with more weak and more strong data",
    settings=_SETTINGS,
    methods=("NN_W->S", "FWL"),
    variations=(
        *(Variation("toy", {"n_weak": n}, {"n_weak": n}) for n in WEAK_AMOUNTS),
        *(Variation("toy", {"n_strong": n}, {"n_strong": n}) for n in STRONG_AMOUNTS),
    ),
    sizes=_SIZES,
    measure=measure_toy,
)

SAMPLING = Experiment(
    name="sampling",
    title="From modifying the learning rate to weighted sampling: FWL beside FWL_s",
    settings=_SETTINGS,
    methods=("FWL", "FWL_s"),
    variations=tuple(Variation("toy", {"finetune_steps": n}, {"finetune_steps": n}) for n in STEPS),
    sizes=_SIZES,
    measure=measure_toy,
)

CATALOGUE = {experiment.name: experiment for experiment in (TOY, BETA, LEARNING_CURVE, SAMPLING)}


def find_experiment(name: str) -> Experiment:
    """The experiment of that name."""
    if name not in CATALOGUE:
        raise UnknownName("experiment", name, CATALOGUE)
    return CATALOGUE[name]
