import math
import sys

import pytest

from fwl.errors import InvalidInput
from fwl.evaluate import mean_over_queries, rank_measures
from fwl.randomness import Chance
from fwl.text import Judgments, write_run
from tests.refusals import expect_refusal

KNOWN = "AP, AP@1000, nDCG@20, P@10 or RR"


def average_precision(grades, documents, cutoff):
    hits, total = 0, 0.0
    for place, document in enumerate(documents[:cutoff], 1):
        if grades.get(document, 0) > 0:
            hits += 1
            total += hits / place
    relevant = sum(grade > 0 for grade in grades.values())
    return total / relevant if relevant else 0.0


def discounted_gain(gains):
    return sum(max(gain, 0) / math.log2(place + 1) for place, gain in enumerate(gains, 1))


def normalised_gain(grades, documents, cutoff):
    best = discounted_gain(sorted(grades.values(), reverse=True)[:cutoff])
    return discounted_gain([grades.get(document, 0) for document in documents[:cutoff]]) / best if best > 0 else 0.0


def problem(seed):
    """Judgments with grades from -1 to 3, and rankings with many equal scores, some longer than the cut-offs."""
    random = Chance(seed).numpy()
    judgments, run = {}, {}
    for query in range(12):
        documents = [f"d{i}" for i in random.permutation(60)]
        judgments[f"q{query}"] = {document: int(random.integers(-1, 4)) for document in documents[: 1 + 4 * query]}
        scores = sorted(random.integers(0, 6, size=50) / 3, reverse=True)
        found = [f"d{i}" for i in random.permutation(60)[:50]]
        run[f"q{query}"] = list(zip(found, scores, strict=True))
    judgments["without-relevant"] = {"d1": 0}
    run["without-relevant"] = [("d1", 1.0)]
    return Judgments(judgments), run


@pytest.mark.parametrize("seed", range(5))
def test_measures_equal_plain_loops(seed):
    judgments, run = problem(seed)
    names = ("AP@1000", "AP@10", "nDCG@20", "nDCG@1000")
    values = rank_measures(judgments, run, names)
    assert list(values) == list(names)
    for name in names:
        assert list(values[name]) == list(judgments)
        loop = average_precision if name.startswith("AP") else normalised_gain
        for query, value in values[name].items():
            documents = [document for document, _ in run[query]]
            expected = loop(judgments[query], documents, int(name.partition("@")[2]))
            assert value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_written_run_gives_the_same_elsewhere(tmp_path, seed):
    ir_measures, pytrec_eval = pytest.importorskip("ir_measures"), pytest.importorskip("pytrec_eval")
    judgments, run = problem(seed)
    ours = rank_measures(judgments, run)
    path = write_run(tmp_path / "run", run.items(), "mine")
    read = list(ir_measures.read_trec_run(str(path)))

    measures = [ir_measures.AP @ 1000, ir_measures.nDCG @ 20]
    for metric in ir_measures.iter_calc(measures, dict(judgments), read):
        assert ours[str(metric.measure)][metric.query_id] == metric.value

    evaluator = pytrec_eval.RelevanceEvaluator(dict(judgments), {"map", "ndcg_cut.20"})
    scores = {query: {} for query in run}
    for found in read:
        scores[found.query_id][found.doc_id] = found.score
    for query, theirs in evaluator.evaluate(scores).items():
        assert ours["AP@1000"][query] == theirs["map"]
        assert ours["nDCG@20"][query] == theirs["ndcg_cut_20"]


def test_the_order_of_equal_scores_is_kept():
    judgments = {"q": {"a": 1}}
    for ranking, expected in (("ab", 1.0), ("ba", 0.5)):
        run = {"q": [(document, 0.25) for document in ranking]}
        assert rank_measures(judgments, run, ["AP"])["AP"]["q"] == expected


def test_scores_that_differ_in_double_precision_alone_keep_their_order():
    run = {"q": [("a", 1.0), ("b", 1.0 - 1e-12)]}
    assert rank_measures({"q": {"a": 1}}, run, ["AP"])["AP"]["q"] == 1.0


def test_a_judged_query_without_results_counts_as_zero():
    values = rank_measures({"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}, {"q1": [("a", 1.0)], "q2": []})
    assert values["AP@1000"] == {"q1": 1.0, "q2": 0.0, "q3": 0.0}
    assert mean_over_queries(values) == {"AP@1000": 1 / 3, "nDCG@20": 1 / 3}


def test_a_query_that_nobody_judged_does_not_count():
    values = rank_measures({"q1": {"a": 1}}, {"q1": [("a", 1.0)], "q2": [("a", 1.0)]})
    assert values == {"AP@1000": {"q1": 1.0}, "nDCG@20": {"q1": 1.0}}


def test_unjudged_documents_are_not_relevant():
    assert rank_measures({"q": {"a": 1}}, {"q": [("x", 2.0), ("a", 1.0)]}, ["AP"])["AP"]["q"] == 0.5


def test_the_two_names_of_one_measure_are_both_answered():
    assert rank_measures({"q": {"a": 1}}, {"q": [("a", 1.0)]}, ["AP", "MAP"]) == {"AP": {"q": 1.0}, "MAP": {"q": 1.0}}


@pytest.mark.parametrize("scores", [(1.0, 2.0), (1.0, math.nan), (math.nan, 1.0)])
def test_a_ranking_that_is_not_best_first_is_refused(scores):
    run = {"q": list(zip("ab", scores, strict=True))}
    with expect_refusal(InvalidInput, "run: the scores of query 'q' rise or are no numbers; expected the best first"):
        rank_measures({"q": {"a": 1}}, run)


def test_a_document_that_is_ranked_twice_is_refused():
    with expect_refusal(InvalidInput, "run: query 'q' has a document twice; each has one place in a ranking"):
        rank_measures({"q": {"a": 1}}, {"q": [("a", 1.0), ("a", 0.5)]})


def test_no_judgments_are_refused():
    with expect_refusal(InvalidInput, "judgments: expected those of at least one query, got none"):
        rank_measures({}, {"q": []})
    with expect_refusal(InvalidInput, "values: expected each measure for at least one query, got none"):
        mean_over_queries({"AP": {}})


def test_unknown_measures_are_refused():
    with expect_refusal(
        InvalidInput, f"measure 'MAAP' cannot be read (measure not found: MAAP); expected one such as {KNOWN}"
    ):
        rank_measures({"q": {"a": 1}}, {}, ["MAAP"])
    with expect_refusal(
        InvalidInput, f"measure 'alpha_nDCG@20' is not one of trec_eval's; expected one such as {KNOWN}"
    ):
        rank_measures({"q": {"a": 1}}, {}, ["alpha_nDCG@20"])
    for name in ("AP@0.5", "P", "AP+1", ""):
        with pytest.raises(InvalidInput, match="cannot be read"):
            rank_measures({"q": {"a": 1}}, {}, [name])


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with expect_refusal(InvalidInput, "rank_measures needs ir_measures; install it with: pip install 'fwl[ranking]'"):
        rank_measures({"q": {"a": 1}}, {})
