from tests.refusals import expect_refusal

from fwl.errors import InvalidInput
from fwl.experiments.analyses import Only
from fwl.experiments.declare import Outcome, Score
from fwl.experiments.declared_sentiment import SENTIMENT
from fwl.experiments.tune import find_tunable


def measured(settings, dataset, methods, seed, with_curves):
    scores = tuple(Score("tweets", m, metric, False, 0.5) for m in methods for metric in ("F1", "ECE"))
    return Outcome(scores, "digest", {"x": [1]})


def test_only_some_metrics_are_kept():
    outcome = Only(measured, ("F1",))(None, "cell", ("WA", "FWL"), 0, True)
    assert [(s.dataset, s.method, s.metric) for s in outcome.scores] == [
        ("tweets", "WA", "F1"),
        ("tweets", "FWL", "F1"),
    ]
    assert (outcome.data_sha256, outcome.curves) == ("digest", {"x": [1]})


def test_a_cells_name_stands_behind_that_of_the_data():
    outcome = Only(measured, ("F1", "ECE"), named=True)(None, "VADER", ("WA",), 0, False)
    assert [(s.dataset, s.metric) for s in outcome.scores] == [("tweets, VADER", "F1"), ("tweets, VADER", "ECE")]


def test_studies_are_not_tuned_but_their_tasks_are():
    assert find_tunable("sentiment") is SENTIMENT
    message = "beta declares nothing to tune; these do: sentiment, ranking, sentiment-curve"
    with expect_refusal(InvalidInput, message):
        find_tunable("beta")
