"""The ranking table."""

from __future__ import annotations

from fwl.experiments.declare import Experiment, Size, Tuning, Variation
from fwl.experiments.grid import Grid
from fwl.experiments.ranking import (
    AUTO,
    FUSED,
    ROWS,
    SCORED,
    UNSUPERVISED,
    RankingSettings,
    measure_ranking,
    prepare_ranking,
    validate_ranking,
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
    apart=(tuple(row for row in ROWS if row.startswith((*SCORED, UNSUPERVISED, FUSED, AUTO))),),  # other first steps
)
