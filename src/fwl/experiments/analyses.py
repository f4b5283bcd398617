"""The paper's analyses, each declared on the toys, on sentiment and on ranking.

A part takes its task's own settings, so that its row FWL is the row of that task's table, and is smaller only in what
many students cost: fewer updates, fewer weak labels and fewer seeds at size "reduced".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fwl.experiments.declare import Experiment, Measure, Outcome, Size, Study, Variation
from fwl.experiments.declared_ranking import RANKING
from fwl.experiments.declared_sentiment import SENTIMENT
from fwl.experiments.declared_toy import TOY
from fwl.experiments.ranking import METRICS, PAIRS, TEACHER_PAIRS, RankingSettings, measure_ranking
from fwl.experiments.sentiment import F1, SentimentSettings, measure_sentiment
from fwl.experiments.taught import TEACHERS as TAUGHT
from fwl.experiments.teachers import TeacherSettings, measure_teachers
from fwl.experiments.toy import ANNOTATOR, SKEW, measure_toy

BETAS = (0.0, 0.1, 1.0, 2.0, 5.0)
TOYS: dict[str, dict[str, Any]] = {"toy": {}, "toy*": {"n_strong": 5}, "toy**": {"weak": "x + 1"}}
WEAK_AMOUNTS = (5, 10, 20, 40, 70, 100)
STRONG_AMOUNTS = (3, 5, 10, 20, 30, 50)
WEAK_SHARES = (0.05, 0.3, 1.0)
STRONG_TWEETS = (100, 300, 1000, 3000, 11_338)
STRONG_QUERIES = (10, 40, 120)
TOY_STEPS = (10, 25, 50, 100, 200, 400, 800)
STEPS = (25, 50, 100, 200, 400)
LEXICONS = {"SentiWordNet": "sentiwordnet", "VADER": "vader"}
SEARCHES = {"binary VSM": "binary", "TF-IDF VSM": "tfidf", "BM25": "bm25", "BM25+RM3": "rm3"}
MAP = next(iter(METRICS))
SCORING = "_score"  # behind the name of a row: by the student that scores each document by itself


@dataclass(frozen=True)
class Only:
    """A measure of which some metrics are kept.

    Attributes:
        measure: what measures.
        metrics: that are kept, the first of them the one that is compared.
        named: whether a cell's own name stands behind that of the data.
    """

    measure: Measure
    metrics: tuple[str, ...]
    named: bool = False

    def __call__(self, settings: Any, dataset: str, methods: tuple[str, ...], seed: int, with_curves: bool) -> Outcome:
        """What came out, without other metrics."""
        outcome = self.measure(settings, dataset, methods, seed, with_curves)
        scores = (score for score in outcome.scores if score.metric in self.metrics)
        behind = f", {dataset}" if self.named else ""
        return replace(outcome, scores=tuple(replace(score, dataset=score.dataset + behind) for score in scores))


def _sweep(dataset: str, name: str, values: Iterable[float], **fixed: Any) -> tuple[Variation, ...]:
    """A cell for each value of one setting."""
    return tuple(Variation(dataset, {**fixed, name: value}, {name: value}) for value in values)


def _smaller(whole: Experiment, reduced: Size, tiny: Size) -> dict[str, Size]:
    """The sizes of a part: at "reduced" as told, at "tiny" the task's own with less still."""
    changes = {**whole.sizes["tiny"].changes, **tiny.changes}
    return {**whole.sizes, "tiny": replace(tiny, changes=changes), "reduced": reduced}


_FIRST_STEPS = {"finetune_steps": 50}
_TOY_SIZES = {**TOY.sizes, "tiny": replace(TOY.sizes["tiny"], most=_FIRST_STEPS)}
_TINY_TWEETS = Size(
    2, {"pretrain_steps": 20, "finetune_steps": 20, "filters": 8}, {**_FIRST_STEPS, "n_strong": STRONG_TWEETS[1]}
)
_FEWER_TWEETS = Size(3, {"n_pool": 20_000, "pretrain_steps": 600, "finetune_steps": 500})
_SENTIMENT_SIZES = _smaller(SENTIMENT, _FEWER_TWEETS, _TINY_TWEETS)
_FEWER_PAIRS = Size(
    2, {**RANKING.sizes["reduced"].changes, "weak_pairs": 50_000, "pretrain_steps": 1500, "finetune_steps": 200}
)
_TINY_PAIRS = Size(
    1,
    {"pretrain_steps": 20, "finetune_steps": 10, "weak_pairs": 500, "folds": 2},
    {**_FIRST_STEPS, "n_strong": STRONG_QUERIES[1]},
)
_RANKING_SIZES = _smaller(RANKING, _FEWER_PAIRS, _TINY_PAIRS)
# No row of an analysis searches by sentence vectors: without an encoder nothing is encoded.
_RANKING_SETTINGS = replace(RankingSettings(), encoder="")


def _on_sentiment(name: str, methods: tuple[str, ...], variations: tuple[Variation, ...], **changes: Any) -> Experiment:
    return replace(
        SENTIMENT,
        **{
            "name": f"{name}/sentiment",
            "methods": methods,
            "variations": variations,
            "sizes": _SENTIMENT_SIZES,
            "measure": Only(measure_sentiment, (F1,)),
            **changes,
        },
    )


def _on_ranking(name: str, methods: tuple[str, ...], variations: tuple[Variation, ...], **changes: Any) -> Experiment:
    return replace(
        RANKING,
        **{
            "name": f"{name}/ranking",
            "settings": _RANKING_SETTINGS,
            "methods": methods,
            "variations": variations,
            "sizes": _RANKING_SIZES,
            "measure": Only(measure_ranking, (MAP,)),
            **changes,
        },
    )


def _on_toy(name: str, methods: tuple[str, ...], variations: tuple[Variation, ...], **changes: Any) -> Experiment:
    own = {"name": f"{name}/toy", "methods": methods, "variations": variations, "sizes": _TOY_SIZES}
    return replace(TOY, **{**own, "pictured": False, **changes})


BETA = Study(
    name="beta",
    title="How far to trust the teacher: the effect of beta",
    parts={
        "toy": _on_toy(
            "beta",
            ("FWL",),
            tuple(cell for toy, changes in TOYS.items() for cell in _sweep(toy, "beta", BETAS, **changes)),
        ),
        "sentiment": _on_sentiment("beta", ("FWL",), _sweep("tweets", "beta", BETAS)),
        "ranking": _on_ranking("beta", ("FWL",), _sweep("collection", "beta", BETAS)),
    },
)

_WITH_AND_WITHOUT = ("NN_W->S", "FWL")
LEARNING_CURVE = Study(
    name="learning-curve",
    title="A good teacher is better than many observations: learning with more weak and more strong data",
    parts={
        "toy": _on_toy(
            "learning-curve",
            _WITH_AND_WITHOUT,
            (*_sweep("toy", "n_weak", WEAK_AMOUNTS), *_sweep("toy", "n_strong", STRONG_AMOUNTS)),
        ),
        "sentiment": _on_sentiment(
            "learning-curve",
            _WITH_AND_WITHOUT,
            (*_sweep("tweets", "weak_share", WEAK_SHARES), *_sweep("tweets", "n_strong", STRONG_TWEETS)),
        ),
        "ranking": _on_ranking(
            "learning-curve",
            (*_WITH_AND_WITHOUT, *(f"{name}{SCORING}" for name in _WITH_AND_WITHOUT)),
            (*_sweep("collection", "weak_share", WEAK_SHARES), *_sweep("collection", "n_strong", STRONG_QUERIES)),
        ),
    },
)

ANNOTATORS = Study(
    name="annotators",
    title="The better the annotator: FWL beside the annotator it learned from",
    parts={
        "sentiment": _on_sentiment(
            "annotators",
            (ANNOTATOR, "FWL"),
            tuple(Variation(title, {"annotator": name}) for title, name in LEXICONS.items()),
            measure=Only(measure_sentiment, (F1,), named=True),
        ),
        "ranking": _on_ranking(
            "annotators",
            (ANNOTATOR, "FWL", f"FWL{SCORING}"),
            tuple(Variation(title, {"annotator": name}) for title, name in SEARCHES.items()),
            measure=Only(measure_ranking, (MAP,), named=True),
        ),
    },
)

# To the end, whatever the validation set says: the figure is of how much was seen.
_TO_THE_END: dict[str, Any] = {"patience": 0}
_BY_STEP_OR_BY_SAMPLING = ("FWL", "FWL_s")
SAMPLING = Study(
    name="sampling",
    title="From modifying the learning rate to weighted sampling: FWL beside FWL_s",
    parts={
        "toy": _on_toy(
            "sampling",
            _BY_STEP_OR_BY_SAMPLING,
            _sweep("toy", "finetune_steps", TOY_STEPS),
            measure=partial(measure_toy, with_skew=True),
        ),
        "sentiment": _on_sentiment(
            "sampling",
            _BY_STEP_OR_BY_SAMPLING,
            _sweep("tweets", "finetune_steps", STEPS, **_TO_THE_END),
            measure=Only(partial(measure_sentiment, with_skew=True), (F1, SKEW)),
        ),
        "ranking": _on_ranking(
            "sampling",
            _BY_STEP_OR_BY_SAMPLING,
            _sweep("collection", "finetune_steps", STEPS, **_TO_THE_END),
            measure=Only(partial(measure_ranking, with_skew=True), (MAP, SKEW)),
        ),
    },
)


@dataclass(frozen=True)
class SentimentTeacherSettings(SentimentSettings):
    """The sentiment table's, and those of other teachers.

    Attributes:
        teacher_rows: strong tweets that each teacher knows, drawn by the seed, at the most.
        components: of the PCA.
    """

    teacher_rows: int = 4000
    components: int = 10


@dataclass(frozen=True)
class RankingTeacherSettings(RankingSettings):
    """The ranking table's, and those of other teachers.

    Attributes:
        teacher_rows: strong pairs that each teacher knows, drawn by the seed, at the most.
        components: of the PCA.
    """

    encoder: str = ""
    teacher_rows: int = 4000
    components: int = 10


def _knowing(rows: int, sizes: Mapping[str, Size]) -> dict[str, Size]:
    """The same sizes, with fewer strong samples for each teacher at "reduced"."""
    less = sizes["reduced"]
    return {**sizes, "reduced": replace(less, changes={**less.changes, "teacher_rows": rows})}


TEACHERS = Study(
    name="teachers",
    title="Which teacher: a single Gaussian process, one after PCA, a clustered one",
    parts={
        "toy": Experiment(
            name="teachers/toy",
            title="Which teacher, on the toy and on made-up classes",
            settings=TeacherSettings(),
            methods=TAUGHT,
            variations=(
                Variation("toy", {"task": "toy", "clusters": 2, "smallest": 3, "components": 3}),
                Variation("classes"),
                Variation("classes, calibrated", {"calibrate": True}),
            ),
            sizes={
                "tiny": Size(
                    2, {"n_weak": 300, "n_strong": 60, "n_test": 300, "pretrain_steps": 60, "finetune_steps": 60}
                ),
                "reduced": Size(5),
                "paper": Size(20),
            },
            measure=measure_teachers,
        ),
        "sentiment": _on_sentiment(
            "teachers",
            TAUGHT,
            (Variation("tweets"),),
            settings=SentimentTeacherSettings(),
            sizes=_knowing(2000, _SENTIMENT_SIZES),
            measure=measure_sentiment,
        ),
        "ranking": _on_ranking(
            "teachers",
            TAUGHT,
            (Variation("collection"),),
            settings=RankingTeacherSettings(),
            sizes=_knowing(2000, _RANKING_SIZES),
            measure=Only(measure_ranking, (MAP, PAIRS, TEACHER_PAIRS)),
        ),
    },
)
