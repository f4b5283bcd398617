"""Every experiment that `fwl reproduce` knows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fwl.errors import UnknownName
from fwl.experiments.declare import Experiment, Size, Tuning, Variation
from fwl.experiments.grid import Grid
from fwl.experiments.ranking import ROWS, RankingSettings, measure_ranking, prepare_ranking, validate_ranking
from fwl.experiments.sentiment import (
    SentimentSettings,
    measure_sentiment,
    prepare_sentiment,
    prepare_tuning,
    validate_sentiment,
)
from fwl.experiments.teachers import TEACHERS, TeacherSettings, measure_teachers
from fwl.experiments.toy import ANNOTATOR, ToySettings, measure_toy
from fwl.experiments.tweets import TESTS
from fwl.learn.methods import METHODS

BETAS = (0.0, 0.1, 1.0, 2.0, 5.0)
WEAK_AMOUNTS = (5, 10, 20, 40, 70, 100)
STRONG_AMOUNTS = (3, 5, 10, 20, 30, 50)
STEPS = (10, 25, 50, 100, 200, 400, 800)
TOYS: dict[str, dict[str, Any]] = {"toy": {}, "toy*": {"n_strong": 5}, "toy**": {"weak": "x + 1"}}
PAPER_TOY: dict[str | tuple[str, str], float] = {"NN_W": 0.8406, "NN_W->S": 0.5451, "FWL": 0.4143}

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
    methods=(ANNOTATOR, *(name for name in METHODS if name != "FWL_unsuprep")),  # x has no representation of its own
    variations=(Variation("toy", paper=PAPER_TOY),),
    sizes=_SIZES,
    measure=measure_toy,
    pictured=True,
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

# What the paper's toy section leaves open, and what other readings of it would have given (DECISIONS.md). Its seeds
# are the ones on which the choices were made, and are reported in no other table.
GAPS: dict[str, dict[str, Any]] = {
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

GAPS_EXPERIMENT = Experiment(
    name="gaps",
    title="What the paper's toy section leaves open, and what other readings give",
    settings=replace(_SETTINGS, seed=5000),
    methods=("NN_W", "NN_W->S", "FWL"),
    variations=tuple(Variation(name, changes, paper=PAPER_TOY) for name, changes in GAPS.items()),
    sizes=_SIZES,
    measure=measure_toy,
)

TEACHERS_EXPERIMENT = Experiment(
    name="teachers",
    title="Which teacher: a single Gaussian process, one after PCA, a clustered one",
    settings=TeacherSettings(),
    methods=TEACHERS,
    variations=(
        Variation("toy", {"task": "toy", "clusters": 2, "smallest": 3, "components": 3}),
        Variation("classes"),
        Variation("classes, calibrated", {"calibrate": True}),
    ),
    sizes={
        "tiny": Size(2, {"n_weak": 300, "n_strong": 60, "n_test": 300, "pretrain_steps": 60, "finetune_steps": 60}),
        "reduced": Size(5),
        "paper": Size(20),
    },
    measure=measure_teachers,
)

_PAPER_SENTIMENT = {
    "WA": (0.5141, 0.4471),
    "NN_W": (0.6719, 0.5606),
    "NN_S": (0.6307, 0.5811),
    "NN_S+/W": (0.7032, 0.6319),
    "NN_W->S": (0.7080, 0.6441),
    "NN_Womega->S": (0.7166, 0.6603),
    "FWL_unsuprep": (0.6588, 0.6954),
    "FWL_noSigma": (0.7202, 0.6590),
    "FWL": (0.7470, 0.6830),
}
_SENTIMENT_SIZES = {
    "tiny": Size(
        2,
        {
            "annotator": "made",
            "encoder": "",
            "word2vec": 16,
            "vector_columns": 16,
            "length": 20,
            "filters": 16,
            "hidden": (16,),
            "learning_rate": 5e-3,
            "finetune_rate": 2e-3,
            "pretrain_steps": 60,
            "finetune_steps": 40,
            "check_every": 10,
            "clusters": 4,
            "committee": 2,
            "kernel_rows": 100,
        },
    ),
    "reduced": Size(5, {"n_pool": 100_000}),
    "paper": Size(5),
}

# The paper's grid: one rate for both steps there, one for each here, for step 3 has another length.
_SENTIMENT_GRID = Grid(
    {
        "hidden": ((32,), (64,), (128,), (32, 32), (64, 64), (128, 128)),
        "convolutions": (1, 2),
        "filters": (200, 300),
        "width": (3, 4, 5),
        "learning_rate": (1e-3, 1e-5),
        "finetune_rate": (1e-3, 1e-5),
        "dropout": (0.0, 0.2, 0.5),
        "word2vec": (100, 200),
    }
)
_TINY_SENTIMENT_GRID = Grid(
    {
        "hidden": ((8,), (16,), (8, 8), (16, 16)),
        "convolutions": (1, 2),
        "filters": (8, 16),
        "width": (2, 3),
        "learning_rate": (5e-3, 5e-5),
        "finetune_rate": (5e-3, 5e-5),
        "dropout": (0.0, 0.2, 0.5),
        "word2vec": (8, 16),
    }
)
_SENTIMENT_TUNING = Tuning(
    task="sentiment",
    metric="F1 on the validation set",
    grids={"tiny": _TINY_SENTIMENT_GRID, "reduced": _SENTIMENT_GRID, "paper": _SENTIMENT_GRID},
    validate=validate_sentiment,
    prepare=prepare_tuning,
)

SENTIMENT = Experiment(
    name="sentiment",
    title="Sentiment of tweets: the official F1 of positive and negative",
    settings=SentimentSettings(),
    methods=(ANNOTATOR, *(name for name in METHODS if name != "FWL_s")),
    variations=(
        Variation(
            "tweets",
            paper={
                (dataset, method): figures[i]
                for method, figures in _PAPER_SENTIMENT.items()
                for i, dataset in enumerate(TESTS)
            },
        ),
    ),
    sizes=_SENTIMENT_SIZES,
    measure=measure_sentiment,
    needs_data=True,
    prepare=prepare_sentiment,
    tuning=_SENTIMENT_TUNING,
)

STRONG_TWEETS = (100, 300, 1000, 3000, 11_338)
SENTIMENT_CURVE = Experiment(
    name="sentiment-curve",
    title="Sentiment of tweets with more and more strong labels, drawn anew for each seed",
    settings=SentimentSettings(),
    methods=("NN_S", "NN_W->S", "FWL_auto"),
    variations=tuple(Variation("tweets", {"n_strong": n}, {"n_strong": n}) for n in STRONG_TWEETS),
    sizes=_SENTIMENT_SIZES | {"tiny": replace(_SENTIMENT_SIZES["tiny"], seeds=1)},
    measure=measure_sentiment,
    needs_data=True,
    prepare=prepare_sentiment,
    tuning=_SENTIMENT_TUNING,
)

_RANKING_GRID = Grid(
    {
        "hidden": tuple((width,) * layers for layers in (1, 2, 3) for width in (64, 128, 256, 512)),
        "learning_rate": (1e-3, 1e-5),
        "finetune_rate": (1e-3, 1e-5),
        "dropout": (0.0, 0.2, 0.5),
        "word_columns": (300, 500),  # where word vectors are trained; those of a file have their own size
    }
)
_TINY_RANKING_GRID = Grid(
    {
        "hidden": ((8,), (16,), (16, 16)),
        "learning_rate": (5e-3, 5e-5),
        "finetune_rate": (1e-3, 1e-5),
        "dropout": (0.0, 0.2),
    }
)

RANKING = Experiment(
    name="ranking",
    title="Document ranking: re-ranking what an annotator finds, by cross-validation over judged queries",
    settings=RankingSettings(),
    methods=ROWS,
    variations=(Variation("collection"),),  # no figure of the paper's: it has other collections
    sizes={
        "tiny": Size(
            1,
            {
                "encoder": "",
                "embeddings": "",
                "word_columns": 16,
                "weak_queries": 200,
                "weak_pairs": 2000,
                "strong_pairs": 10,
                "hidden": (16,),
                "learning_rate": 5e-3,
                "pretrain_steps": 60,
                "finetune_steps": 30,
                "check_every": 10,
                "clusters": 4,
                "opponents": 8,
            },
        ),
        "reduced": Size(
            3,
            {
                "weak_queries": 5000,
                "weak_pairs": 100_000,
                "strong_pairs": 25,
                "pretrain_steps": 3000,
                "finetune_steps": 300,
                "opponents": 8,
            },
        ),
        "paper": Size(5),
    },
    measure=measure_ranking,
    needs_data=True,
    prepare=prepare_ranking,
    tuning=Tuning(
        task="ranking",
        metric="MAP of validation queries",
        grids={"tiny": _TINY_RANKING_GRID, "reduced": _RANKING_GRID, "paper": _RANKING_GRID},
        validate=validate_ranking,
        prepare=prepare_ranking,
    ),
)

CATALOGUE = {
    experiment.name: experiment
    for experiment in (
        *(TOY, SENTIMENT, RANKING, BETA, LEARNING_CURVE, SENTIMENT_CURVE),
        *(SAMPLING, TEACHERS_EXPERIMENT, GAPS_EXPERIMENT),
    )
}


def find_experiment(name: str) -> Experiment:
    """The experiment of that name."""
    if name not in CATALOGUE:
        raise UnknownName("experiment", name, CATALOGUE)
    return CATALOGUE[name]
