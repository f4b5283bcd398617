"""The toy table, and what other readings of the paper's toy section give."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fwl.experiments.declare import Experiment, Size, Variation
from fwl.experiments.toy import ANNOTATOR, ToySettings, measure_toy
from fwl.learn.methods import METHODS

PAPER_TOY: dict[str | tuple[str, str], float] = {"NN_W": 0.8406, "NN_W->S": 0.5451, "FWL": 0.4143}

SETTINGS = ToySettings()
TINY = {
    "hidden": (16, 16),
    "pretrain_steps": 60,
    "finetune_steps": 60,
    "auto_pretrain_steps": 100,
    "auto_finetune_steps": 60,
    "auto_folds": 2,
}
SIZES = {"tiny": Size(3, TINY), "reduced": Size(8), "paper": Size(20)}

TOY = Experiment(
    name="toy",
    title="The toy problem: sin(x) from ten observations and a weak function",
    settings=SETTINGS,
    methods=(ANNOTATOR, *(name for name in METHODS if name != "FWL_unsuprep")),  # x has no representation of its own
    variations=(Variation("toy", paper=PAPER_TOY),),
    sizes=SIZES,
    measure=measure_toy,
    pictured=True,
)

# What the paper's toy section leaves open, and what other readings of it would have given (DECISIONS.md). Its seeds
# are the ones on which the choices were made, and are reported in no other table.
READINGS: dict[str, dict[str, Any]] = {
    "as chosen": {},
    "x in [-5, 5]": {"x_range": 5.0},
    "x in [-6, 6]": {"x_range": 6.0},
    "sinc = sin(x)/x": {"weak": "2*sin(x)/x"},
    "no noise on strong labels": {"strong_noise": 0.0},
    "noise of sd 0.1": {"strong_noise": 0.1},
    "step 1: 100 updates": {"pretrain_steps": 100},
    "step 1: 400 updates": {"pretrain_steps": 400},
    "step 3: 100 updates": {"finetune_steps": 100},
    "step 3: 300 updates": {"finetune_steps": 300},
    "step 3: 1200 updates": {"finetune_steps": 1200},
    "batches of 10": {"batch_size": 10},
    "torch's initialisation": {"initialisation": "torch"},
    "truncated normal initialisation": {"initialisation": "truncated_normal"},
    "teacher on psi": {"teacher_input": "psi"},
    "teacher on psi, standardised": {"teacher_input": "psi", "standardise": True},
    "teacher on psi, standardised and fitted": {
        "teacher_input": "psi",
        "standardise": True,
        "lengthscale": 8.0,
        "hyperparameters": "evidence",
    },
    "teacher on x, kernel fitted": {"hyperparameters": "evidence"},
    "White constant 0.0025": {"white": 0.0025},
    "White constant 0.1": {"white": 0.1},
    "Sigma without White, relative": {"uncertainty": "relative"},
    "prior mean: the student": {"prior_mean": "student"},
    "SGD at 0.02": {"optimiser": "sgd", "learning_rate": 0.02},
}

GAPS = Experiment(
    name="gaps",
    title="What the paper's toy section leaves open, and what other readings give",
    settings=replace(SETTINGS, seed=5000),
    methods=("NN_W", "NN_W->S", "FWL"),
    variations=tuple(Variation(name, changes, paper=PAPER_TOY) for name, changes in READINGS.items()),
    sizes=SIZES,
    measure=measure_toy,
)
