import json
import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from fwl.errors import FWLError, InvalidInput
from fwl.experiments import sentiment
from fwl.experiments.catalogue import SENTIMENT
from fwl.experiments.made_tweets import MadeTweets
from fwl.experiments.runner import run_experiment, settings_for
from fwl.experiments.sentiment import (
    F1,
    SentimentSettings,
    _sources,
    measure_sentiment,
    prepare_tuning,
    problem_of,
    recipe_of,
    validate_sentiment,
)
from fwl.experiments.toy import SKEW
from fwl.experiments.tweets import LEARNED, STRONG, TESTS, load, prepare
from fwl.learn import members
from fwl.learn.pretrain import pretrain
from fwl.progress import Silent
from fwl.randomness import Chance

TINY = settings_for(SENTIMENT, "tiny", ["pretrain_steps=20", "finetune_steps=20"])
REAL = Path(os.environ.get("FWL_DATA", "no such folder")) / "sentiment"


@cache
def tweets():
    return load(prepare(_sources(TINY)))


def test_strong_tweets_are_train_and_dev_and_carry_the_annotators_word():
    problem = problem_of(tweets(), TINY, 0)
    assert len(problem.strong.X) == sum(len(tweets().labelled[name].X) for name in STRONG)
    assert problem.strong.weak.shape == problem.strong.y.shape
    assert len(problem.validation.X) == len(tweets().labelled["2013test"].X)


def test_fewer_strong_tweets_are_drawn_by_the_seed():
    few = settings_for(SENTIMENT, "tiny", ["n_strong=20"])
    one, same, other = (problem_of(tweets(), few, seed).strong for seed in (1, 1, 2))
    assert len(one.X) == 20
    assert np.array_equal(one.X["tokens"], same.X["tokens"])
    assert not np.array_equal(one.X["tokens"], other.X["tokens"])


def test_a_share_of_the_pool_is_drawn_by_the_seed():
    some = settings_for(SENTIMENT, "tiny", ["weak_share=0.25"])
    one, same, other = (problem_of(tweets(), some, seed).weak for seed in (1, 1, 2))
    assert len(one.X) == round(0.25 * len(tweets().pool.X))
    assert one is same
    assert not np.array_equal(one.X["tokens"], other.X["tokens"])


def test_cells_that_differ_after_step_1_share_it(monkeypatch):
    begun = []
    monkeypatch.setattr(members, "pretrain", lambda *given: begun.append(1) or pretrain(*given))
    sentiment._STARTS.clear()
    for changes in ({}, {"beta": 5.0}, {"n_strong": 30}, {"finetune_steps": 3}):
        measure_sentiment(replace(TINY, **changes), "tweets", ("FWL",), 3, False)
    assert len(begun) == 1
    measure_sentiment(replace(TINY, weak_share=0.5), "tweets", ("FWL",), 3, False)
    assert len(begun) == 2


def test_without_patience_a_training_goes_to_its_end():
    assert recipe_of(replace(TINY, patience=0)).finetuning.patience is None


def test_the_skew_of_the_fidelities_is_told_when_asked():
    plain = measure_sentiment(TINY, "tweets", ("WA", "FWL"), 0, False)
    skewed = measure_sentiment(TINY, "tweets", ("WA", "FWL"), 0, False, with_skew=True)
    more = [score for score in skewed.scores if score not in plain.scores]
    assert {(score.dataset, score.method, score.metric) for score in more} == {(data, "FWL", SKEW) for data in TESTS}


def test_no_test_tweet_is_learned_from():
    problem = problem_of(tweets(), TINY, 0)
    learned_from = {row.tobytes() for row in problem.all_samples["tokens"]}
    held = {row.tobytes() for file in TESTS.values() for row in tweets().labelled[file].X["tokens"]}
    assert len(held & learned_from) <= 2  # made-up texts of four words may agree by chance


def test_the_faithful_recipe_is_the_appendixs():
    recipe = recipe_of(SentimentSettings())
    teacher = recipe.teaching.new_teacher()
    assert (recipe.teaching.input, recipe.teaching.calibrate, recipe.beta) == ("psi", False, 1.0)
    assert (teacher.clusters, teacher.hyperparameters) == (30, "fixed")
    assert teacher.kernel.parameters()["0.lengthscale"] == 1.0


def test_every_method_is_scored_on_both_test_sets_and_teachers_beside_them():
    outcome = measure_sentiment(TINY, "tweets", ("WA", "NN_S", "FWL"), 0, False)
    scored = {(s.dataset, s.method, s.metric) for s in outcome.scores}
    assert {(d, m, F1) for d in TESTS for m in ("WA", "NN_S", "FWL")} <= scored
    assert {m for _, m, metric in scored if metric != F1} == {"FWL"}
    assert all(0.0 <= s.value <= 1.0 for s in outcome.scores)


def test_the_papers_figures_stand_beside_real_data_only(tmp_path):
    made = run_experiment(SENTIMENT, tmp_path, size="tiny", seeds=1, methods=["WA"], jobs=1)
    assert {row.paper for row in made.rows} == {None}
    assert made.settings["data"] == ""


def test_results_name_the_data_by_digest_and_never_by_its_path(tmp_path):
    folder = tmp_path / "secret place" / "tweets"
    MadeTweets(pool=60, strong=60, others=30).write(folder, Chance(1))
    result = run_experiment(
        SENTIMENT, tmp_path / "out", size="tiny", seeds=1, methods=["WA"], assignments=[f"data={folder}"], jobs=1
    )
    assert result.settings["data"] == "tweets"
    assert "secret place" not in json.dumps(result.settings) + (tmp_path / "out" / "journal.jsonl").read_text()
    assert {row.paper for row in result.rows if row.dataset == "SemEval-14"} == {0.5141}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"annotator": "oracle"}, "unknown annotator 'oracle'"),
        ({"n_strong": -1}, "n_strong=-1: expected a number from 0 up"),
        ({"committee": 0}, "committee=0: expected at least 1"),
    ],
)
def test_impossible_settings_are_refused(changes, message):
    with pytest.raises(FWLError, match=message):
        SentimentSettings(**changes)


def test_a_folder_without_tweets_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="has no folder semeval"):
        prepare(_sources(SentimentSettings(data=str(tmp_path))))


def test_a_missing_set_is_named(tmp_path):
    MadeTweets(pool=10, strong=10, others=10).write(tmp_path, Chance(0))
    (tmp_path / "semeval" / "2014test.tsv").unlink()
    with pytest.raises(InvalidInput, match=r"2014test\.tsv is missing"):
        prepare(_sources(settings_for(SENTIMENT, "tiny", [f"data={tmp_path}"])))


def test_tuning_learns_and_judges_where_no_test_set_is(tmp_path):
    MadeTweets(pool=60, strong=60, others=30).write(tmp_path, Chance(0))
    settings = settings_for(SENTIMENT, "tiny", [f"data={tmp_path}", "pretrain_steps=5", "finetune_steps=5"])
    with_tests = load(prepare(_sources(settings)))
    expected = validate_sentiment(settings, 0)
    for file in TESTS.values():
        (tmp_path / "semeval" / f"{file}.tsv").unlink()
    prepare_tuning(settings, Silent())
    assert validate_sentiment(settings, 0) == expected
    without = load(prepare(_sources(settings, LEARNED)))
    assert tuple(without.labelled) == LEARNED
    assert np.array_equal(without.words, with_tests.words)
    for name in LEARNED:  # a tuned student is trained on the very numbers it will be tested with
        assert np.array_equal(without.labelled[name].X, with_tests.labelled[name].X)


@pytest.mark.slow
@pytest.mark.skipif(not REAL.exists(), reason="needs the sentiment data; name its folder in FWL_DATA")
@pytest.mark.parametrize(("annotator", "least"), [("vader", (0.60, 0.57)), ("sentiwordnet", (0.48, 0.45))])
def test_the_annotators_are_as_good_as_promised(annotator, least, tmp_path):
    assignments = [f"data={REAL}", f"annotator={annotator}", "encoder=", "n_pool=2000", "word2vec=10", "embeddings="]
    result = run_experiment(SENTIMENT, tmp_path, seeds=1, methods=["WA"], assignments=assignments, jobs=1)
    found = {row.dataset: row.mean for row in result.rows}
    assert found["SemEval-14"] >= least[0]
    assert found["SemEval-15"] >= least[1]
