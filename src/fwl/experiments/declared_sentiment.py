"""The sentiment table, and the same with more and more strong labels."""

from __future__ import annotations

from dataclasses import replace

from fwl.experiments.declare import Experiment, Size, Tuning, Variation
from fwl.experiments.grid import Grid
from fwl.experiments.sentiment import (
    SentimentSettings,
    measure_sentiment,
    prepare_sentiment,
    prepare_tuning,
    validate_sentiment,
)
from fwl.experiments.toy import ANNOTATOR
from fwl.experiments.tweets import TESTS
from fwl.learn.methods import METHODS

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
SIZES = {
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
    sizes=SIZES,
    measure=measure_sentiment,
    needs_data=True,
    prepare=prepare_sentiment,
    tuning=_SENTIMENT_TUNING,
    apart=(("NN_W->Sx4", "FWL_auto"),),  # the same four students
)

STRONG_TWEETS = (100, 300, 1000, 3000, 11_338)
SENTIMENT_CURVE = Experiment(
    name="sentiment-curve",
    title="Sentiment of tweets with more and more strong labels, drawn anew for each seed",
    settings=SentimentSettings(),
    methods=("NN_S", "NN_W->S", "FWL_auto"),
    variations=tuple(Variation("tweets", {"n_strong": n}, {"n_strong": n}) for n in STRONG_TWEETS),
    sizes=SIZES | {"tiny": replace(SIZES["tiny"], seeds=1)},
    measure=measure_sentiment,
    needs_data=True,
    prepare=prepare_sentiment,
    tuning=_SENTIMENT_TUNING,
)
