"""Every experiment and every study that `fwl reproduce` knows."""

from __future__ import annotations

from fwl.errors import UnknownName
from fwl.experiments.analyses import ANNOTATORS, BETA, LEARNING_CURVE, SAMPLING, TEACHERS
from fwl.experiments.declare import Experiment, Study
from fwl.experiments.declared_ranking import RANKING
from fwl.experiments.declared_sentiment import SENTIMENT, SENTIMENT_CURVE
from fwl.experiments.declared_toy import GAPS, TOY

CATALOGUE: dict[str, Experiment | Study] = {
    declared.name: declared
    for declared in (
        *(TOY, SENTIMENT, RANKING, BETA, LEARNING_CURVE, ANNOTATORS),
        *(SAMPLING, TEACHERS, SENTIMENT_CURVE, GAPS),
    )
}


def find_experiment(name: str) -> Experiment | Study:
    """The experiment or study of that name."""
    if name not in CATALOGUE:
        raise UnknownName("experiment", name, CATALOGUE)
    return CATALOGUE[name]
