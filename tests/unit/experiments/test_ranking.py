from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput, UnknownName
from fwl.experiments import ranking
from fwl.experiments.catalogue import RANKING
from fwl.experiments.collections import load
from fwl.experiments.ranking import (
    NEURAL,
    ROWS,
    RankingSettings,
    _folds,
    _Learning,
    _new_student,
    _recipe,
    _Reranker,
    _sources,
    _Table,
    measure_ranking,
    validate_ranking,
)
from fwl.experiments.runner import settings_for
from fwl.experiments.toy import SKEW
from fwl.learn import members
from fwl.learn.pretrain import pretrain
from fwl.randomness import Chance
from fwl.students.score_ranker import ScoreRanker
from fwl.text.collection import Judgments

TINY = settings_for(RANKING, "tiny", ["pretrain_steps=20", "finetune_steps=10", "weak_pairs=500"])


@cache
def ready():
    return load(_sources(TINY))


@cache
def learning():
    return _Learning(ready(), TINY, Chance(0))


def test_the_rows_are_the_papers_each_alone_and_beside_the_annotator():
    assert {"NN_W", "NN_S", "NN_S+/W", "NN_W->S", "NN_Womega->S", "FWL_unsuprep", "FWL_noSigma", "FWL"} == set(NEURAL)
    assert {f"{name}+WA" for name in NEURAL} <= set(ROWS)
    assert {"NN_W_score", "NN_W->S_score", "FWL_score+WA"} <= set(ROWS)
    assert {"WA", "WA_binary", "WA_tfidf", "WA_rm3", "FWL_auto", "FWL_auto_memory"} <= set(ROWS)


def test_every_judged_query_is_reported_once_and_never_learned_from_where_it_is():
    n = len(ready().queries)
    folds = list(_folds(n, TINY, Chance(3)))
    assert sorted(np.concatenate([fold.test for fold in folds]).tolist()) == list(range(n))
    for fold in folds:
        assert not set(fold.test) & set(fold.judged)
        assert not set(fold.train) & set(fold.validation)
        assert len(fold.validation)


def test_strong_pairs_put_a_relevant_document_beside_another_in_both_orders():
    rows = np.arange(len(ready().queries))
    pairs = learning().pairs(rows)
    query, plus, minus = pairs.X["pair"].T
    relevant = ready().relevant
    better = np.where(pairs.y[:, 0] == 1, plus, minus)
    worse = np.where(pairs.y[:, 0] == 1, minus, plus)
    assert relevant[query, better].all()
    assert not relevant[query, worse].any()
    assert pairs.y.mean() == 0.5


def test_the_annotator_says_of_strong_pairs_what_it_says_of_weak_ones():
    pairs = learning().pairs(np.arange(5))
    query, plus, minus = pairs.X["pair"].T
    scores = ready().asked.scores["bm25"]
    both = scores[query, plus] + scores[query, minus]
    expected = np.where(both > 0, scores[query, plus] / np.where(both > 0, both, 1), 0.5)
    assert np.allclose(pairs.weak[:, 0], expected)


def test_missing_judgments_of_documents_that_are_not_relevant_are_filled_from_the_candidates():
    unjudged = replace(
        ready(),
        judgments=Judgments({q.id: dict.fromkeys(ready().judgments.relevant(q.id), 1) for q in ready().queries}),
    )
    for row in range(5):
        relevant, others = _Learning(unjudged, TINY, Chance(0))._judged(row, Chance(0))
        found = set(np.flatnonzero(ready().asked.scores["bm25"][row] > 0))
        assert set(relevant) | set(others) <= found
        assert not set(relevant) & set(others)
        assert len(others) == min(len(relevant), len(found) - len(relevant))


def test_documents_judged_as_not_relevant_need_no_stand_ins():
    judgments = ready().judgments
    enough = [len(judgments.not_relevant(q.id)) >= len(judgments.relevant(q.id)) for q in ready().queries]
    row = enough.index(True)
    relevant, others = learning()._judged(row, Chance(0))
    assert set(relevant) == set(np.flatnonzero(ready().relevant[row]))
    assert len(others) == len(ready().judgments.not_relevant(ready().queries[row].id))


def test_the_faithful_recipe_is_the_appendixs():
    recipe = _recipe(ready(), RankingSettings())
    teacher = recipe.teaching.new_teacher()
    assert (recipe.teaching.input, recipe.teaching.calibrate, recipe.beta) == ("psi", False, 1.0)
    assert (teacher.clusters, teacher.hyperparameters) == (50, "fixed")
    assert teacher.kernel.parameters()["0.lengthscale"] == 1.0
    assert RankingSettings().student == "pair"


def test_a_student_that_knows_nothing_gets_no_say_beside_the_annotator():
    class Indifferent(_Reranker):
        def _scores(self, row, documents):
            return np.zeros(len(documents))

    ranker = Indifferent(ready(), TINY, None, Chance(0))
    assert ranker.weight(np.arange(20)) == 0.0


def test_our_student_stands_beside_the_papers_with_the_same_pairs():
    table = _Table(ready(), TINY, ("NN_W_score",), Chance(0))
    table.fill()
    assert set(table.rankings) == {"NN_W_score"}
    assert isinstance(_new_student(ready(), table._scored._settings, Chance(0)), ScoreRanker)
    assert np.array_equal(table._scored._weak.y, table._papers._weak.y)


def test_methods_are_compared_over_queries():
    outcome = measure_ranking(TINY, "collection", ("WA", "WA_rm3", "FWL_auto_base"), 0, False)
    scores = {(s.method, s.metric): s for s in outcome.scores}
    assert set(scores) == {(m, k) for m in ("WA", "WA_rm3", "FWL_auto_base") for k in ("MAP", "nDCG@20")}
    for score in scores.values():
        assert len(score.each) == len(ready().queries)
        assert score.value == pytest.approx(np.mean(score.each))


def test_the_same_seed_gives_the_same_rows():
    methods = ("NN_W->S", "NN_W->S+WA", "FWL_auto")
    one, same = (measure_ranking(TINY, "collection", methods, 1, False) for _ in range(2))
    assert one == same


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["folds=1"], "settings folds=1, validation_share=0.2: expected at least 2 folds and a share between 0 and 1"),
        (["depth=0"], "setting depth=0: expected at least 1"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes, message):
    with expect_refusal(InvalidInput, message):
        settings_for(RANKING, "tiny", changes)


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(UnknownName, match="did you mean 'bm25'"):
        settings_for(RANKING, "tiny", ["annotator=bm2"])


def test_tuning_ranks_validation_queries_and_sees_no_judgment_of_those_it_is_tested_on(monkeypatch):
    fold = next(_folds(len(ready().queries), TINY, Chance(0)))
    hidden = ready().relevant.copy()
    hidden[fold.test] = False
    expected = validate_ranking(TINY, 0)
    monkeypatch.setattr("fwl.experiments.ranking.load", lambda _: replace(ready(), relevant=hidden))
    assert validate_ranking(TINY, 0) == expected
    assert 0.0 < expected <= 1.0


def test_fewer_judged_queries_are_drawn_by_the_seed_and_more_have_what_fewer_have():
    fold = next(_folds(len(ready().queries), TINY, Chance(0)))
    few, more, all_ = (
        _Learning(ready(), replace(TINY, n_strong=n), Chance(0))._learned_from(fold) for n in (3, 6, 999)
    )
    assert (len(few), len(more)) == (3, 6)
    assert set(few) < set(more) < set(fold.train)
    assert np.array_equal(all_, fold.train)


def test_a_share_of_the_weak_pairs_is_of_the_same_pairs():
    whole, half = (_Learning(ready(), replace(TINY, weak_share=s), Chance(0))._weak for s in (1.0, 0.5))
    assert len(half.X) == round(0.5 * len(whole.X))
    assert {row.tobytes() for row in half.X["pair"]} <= {row.tobytes() for row in whole.X["pair"]}


def test_cells_that_differ_after_step_1_share_it(monkeypatch):
    begun = []
    monkeypatch.setattr(members, "pretrain", lambda *given: begun.append(1) or pretrain(*given))
    ranking._STARTS.clear()
    for changes in ({}, {"beta": 5.0}, {"n_strong": 5}, {"finetune_steps": 3}):
        measure_ranking(replace(TINY, **changes), "collection", ("FWL",), 3, False)
    assert len(begun) == 1
    measure_ranking(replace(TINY, weak_share=0.5), "collection", ("FWL",), 3, False)
    assert len(begun) == 2


def test_a_shared_step_1_changes_no_number():
    other = measure_ranking(replace(TINY, beta=5.0), "collection", ("FWL",), 4, False)
    after = measure_ranking(TINY, "collection", ("FWL",), 4, False)
    ranking._STARTS.clear()
    assert measure_ranking(TINY, "collection", ("FWL",), 4, False).scores == after.scores
    assert other.scores != after.scores


def test_the_skew_of_the_fidelities_is_told_when_asked():
    plain = measure_ranking(TINY, "collection", ("FWL", "NN_W"), 0, False)
    skewed = measure_ranking(TINY, "collection", ("FWL", "NN_W"), 0, False, with_skew=True)
    more = [score for score in skewed.scores if score not in plain.scores]
    assert [(score.method, score.metric) for score in more] == [("FWL", SKEW)]
    assert 0.0 < more[0].value <= 1.0
