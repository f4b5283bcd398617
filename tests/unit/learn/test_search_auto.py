import numpy as np
import pytest
from tests.refusals import expect_refusal
from tests.searches import made_search
from tests.tolerances import ALGEBRA

from fwl.annotate import InvertedIndex
from fwl.errors import InvalidInput, WrongShape
from fwl.evaluate import rank_measures
from fwl.learn import search_auto
from fwl.learn.search_auto import (
    FUSIONS,
    Fusion,
    Judged,
    SearchModel,
    average_precision,
    choose_fusion,
    fit_memory,
    fit_search,
    ranking_of,
)
from fwl.learn.searcher import Searcher, candidates, standardised
from fwl.randomness import Chance
from fwl.text import Analyser

MADE = made_search()
NAMES = list(MADE.documents)


def encode(texts):
    """The topic that a text's words tell, and what all texts share."""
    return np.array([[*(text.count(f"{topic}x") for topic in range(5)), 1.0] for text in texts], np.float32)


@pytest.fixture(scope="module")
def searcher():
    analyser = Analyser()
    tokens = ((name, analyser.tokens(text)) for name, text in MADE.documents.items())
    index = InvertedIndex.of(tokens, {"analyser": analyser.settings()})
    return Searcher(index, encode(MADE.documents.values()), encode)


@pytest.fixture(scope="module")
def judged(searcher):
    relevant = np.array([[MADE.judgments[q].get(name, 0) > 0 for name in NAMES] for q in MADE.queries])
    return Judged(searcher.ask(list(MADE.queries.values())), relevant)


def test_a_fusion_adds_standardised_scores_over_the_candidates_of_both(judged):
    fused, among = Fusion("bm25", 2.0)(judged.asked)
    np.testing.assert_array_equal(among, candidates(judged.asked, ("bm25", "dense")))
    parts = [standardised(judged.asked.scores[name], among) for name in ("bm25", "dense")]
    np.testing.assert_allclose(fused, parts[0] + 2 * parts[1], rtol=0, atol=1e-6)
    alone, found = Fusion("bm25")(judged.asked)
    np.testing.assert_array_equal(found, judged.asked.scores["bm25"] > 0)
    np.testing.assert_array_equal(alone, standardised(judged.asked.scores["bm25"], found))


def test_average_precision_is_that_of_trec_eval(judged):
    fused, among = Fusion("bm25")(judged.asked)
    run = {
        query: [(NAMES[document], float(scores[document])) for document in ranked]
        for query, scores, ranked in zip(MADE.queries, fused, ranking_of(fused, among), strict=True)
    }
    theirs = rank_measures(MADE.judgments, run)["AP@1000"]
    ours = average_precision(fused, among, judged.relevant)
    np.testing.assert_allclose(ours, [theirs[query] for query in MADE.queries], rtol=0, atol=ALGEBRA)


def test_rankings_hold_candidates_alone_and_ties_in_their_order():
    scores = np.array([[1.0, 3.0, 3.0, 9.0, 2.0]], np.float32)
    among = np.array([[True, True, True, False, True]])
    assert [row.tolist() for row in ranking_of(scores, among)] == [[1, 2, 4, 0]]
    assert [row.tolist() for row in ranking_of(scores, among, 2)] == [[1, 2]]
    nothing = np.zeros((1, 5), dtype=bool)
    assert average_precision(scores, nothing, among)[0] == average_precision(scores, among, nothing)[0] == 0.0


def test_few_queries_fit_no_weight(searcher, judged):
    tried = choose_fusion(judged, searcher).tried
    assert {(one.annotator, one.dense) for one in tried} == {("bm25", 0), ("rm3", 0), ("bm25", 1), ("rm3", 1)}
    twice = Judged(judged.asked.rows(np.arange(80) % 40), np.tile(judged.relevant, (2, 1)))
    assert len(choose_fusion(twice, searcher).tried) == 2 * (1 + len(FUSIONS))
    assert len(choose_fusion(twice, searcher, ["tfidf"]).tried) == 1 + len(FUSIONS)


def test_the_best_fusion_is_chosen_and_nothing_corrects_it(searcher, judged):
    model = choose_fusion(judged, searcher)
    assert model.tried[model.fusion] == max(model.tried.values())
    scores, among = model.scores(judged.asked)
    fused, its = model.fusion(judged.asked)
    np.testing.assert_array_equal(scores, fused)
    np.testing.assert_array_equal(among, its)


def test_a_teacher_corrects_where_judged_queries_are_near(searcher, judged):
    words = Searcher(searcher.index)  # vectors that tell the topic would leave nothing to teach
    asked, train, test = words.ask(list(MADE.queries.values())), np.arange(28), np.arange(28, 40)
    model = fit_search(Judged(asked.rows(train), judged.relevant[train]), words, Chance(0))
    assert model.choice.keep
    fused, among = model.fusion(asked.rows(test))
    corrected, its = model.scores(asked.rows(test))
    np.testing.assert_array_equal(among, its)
    before, after = (average_precision(scores, among, judged.relevant[test]) for scores in (fused, corrected))
    assert after.mean() > before.mean() + 0.05


def test_a_teacher_that_is_not_kept_does_not_speak(searcher, judged):
    model = fit_search(judged, searcher, Chance(0))
    silent = SearchModel(model.fusion, model.teacher, None)
    np.testing.assert_array_equal(silent.scores(judged.asked)[0], model.fusion(judged.asked)[0])


def test_features_made_some_queries_at_a_time_change_nothing(searcher, judged, monkeypatch):
    whole = fit_search(judged, searcher, Chance(0)).choice
    monkeypatch.setattr(search_auto, "AT_ONCE", 130)
    parts = fit_search(judged, searcher, Chance(0)).choice
    assert [one.settings for one in parts.tried] == [one.settings for one in whole.tried]
    np.testing.assert_allclose(
        [one.gain for one in parts.tried], [one.gain for one in whole.tried], rtol=0, atol=ALGEBRA
    )


def test_the_memory_is_weighed_over_the_same_fusion(searcher, judged):
    model = fit_memory(judged, searcher, Fusion("bm25"))
    assert model.fusion == Fusion("bm25")
    assert len(model.choice.tried) == len(search_auto.MEMORY_WEIGHTS)


def test_relevance_of_another_shape_is_refused(judged):
    with expect_refusal(WrongShape, "relevance: expected shape (40, 60), got (40, 59)"):
        Judged(judged.asked, judged.relevant[:, 1:])


def test_judgments_without_anything_relevant_are_refused(judged):
    message = "none of the judged queries has a relevant document; judge some that have"
    with expect_refusal(InvalidInput, message):
        Judged(judged.asked, np.zeros_like(judged.relevant))
