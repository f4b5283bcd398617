import json
from functools import cache

import numpy as np
import pytest
from tests.examples import Listener
from tests.problems import class_problem, class_recipe, sine_problem, small_recipe
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput, UnknownName
from fwl.evaluate.folds import stratified_folds
from fwl.learn.compare_methods import COMPARED, as_plain, compare_methods
from fwl.learn.own_data import OWN_METHODS, OwnData, first_step, prepared
from fwl.learn.recipe import Auto
from fwl.learn.task import both_columns
from fwl.randomness import Chance
from fwl.students.training import Training


def own_data(n_strong=30, asked=True, classes=3):
    problem = class_problem(n_weak=60, n_strong=n_strong, classes=classes).problem
    weak, strong = problem.weak, problem.strong
    return OwnData(
        weak.X, weak.y, strong.X, strong.y, strong.weak if asked else None, np.arange(len(weak.X)), problem.task
    )


def quick_recipe(outputs=3):
    plan = Training(steps=10, batch_size=32, learning_rate=1e-2)
    auto = Auto(
        pretraining=Training(steps=40, batch_size=32, learning_rate=1e-2, patience=3, check_every=10),
        finetuning=plan,
        inputs=("x",),
        prior_means=("student", "student_and_weak"),
        committee=1,
    )
    return class_recipe(outputs, pretraining=plan, finetuning=plan, auto=auto)


@cache
def compared():
    return compare_methods(own_data(), quick_recipe(), Chance(0), repeats=1)


def test_every_method_is_scored_on_every_strong_row():
    comparison = compared()
    assert tuple(comparison.scores) == COMPARED
    for scored in comparison.scores.values():
        assert scored.of_rows.shape == (30,)
        assert set(np.unique(scored.of_rows).tolist()) <= {0.0, 1.0}
        assert len(scored.of_folds) == 5
        assert np.mean(scored.of_folds) == pytest.approx(scored.of_rows.mean())
    assert (comparison.metric, comparison.lower_is_better, comparison.strong) == ("accuracy", False, 30)


def test_the_annotators_row_is_how_often_it_is_right():
    data = own_data()
    right = data.strong_weak.argmax(axis=1) == data.y.argmax(axis=1)
    assert np.array_equal(compared().scores["WA"].of_rows, right.astype(float))


@pytest.mark.parametrize("method", ["LR_S", "NN_W->S", "FWL_auto"])
def test_a_methods_score_is_that_of_running_it_fold_by_fold(method):
    data, recipe, chance = own_data(), quick_recipe(), Chance(0)
    first, right = first_step(data, recipe, chance), np.zeros(30)
    for kept, left_out in stratified_folds(data.y.argmax(axis=1), 5, chance.child("folds", 0)):
        problem, its = prepared(data.with_strong(kept), recipe, first)
        learned = OWN_METHODS[method](problem, its, chance, first.student)
        weak = None
        if method == "FWL_auto":
            weak = learned.task.link(learned.teacher.view.eyes.respond(data.strong[left_out]))
        predicted = learned.predict(data.strong[left_out], weak)
        right[left_out] = predicted.argmax(axis=1) == data.y[left_out].argmax(axis=1)
    assert np.array_equal(compared().scores[method].of_rows, right)


def test_the_learning_curve_ends_with_what_a_fold_leaves():
    curve = compared().curve
    assert [point.strong for point in curve] == [12, 24]
    assert curve[-1].scores["LR_S"] == compared().scores["LR_S"].of_rows.mean()
    assert set(curve[0].scores) == {"LR_S", "NN_W->S", "NN_W->Sx4", "FWL_auto", "FWL_auto+W"}


def test_the_same_seed_gives_the_same_scores():
    methods = ("NN_W->S", "FWL")
    one, again = (
        compare_methods(own_data(), quick_recipe(), Chance(1), methods=methods, repeats=1, with_curve=False)
        for _ in range(2)
    )
    for name in methods:
        assert np.array_equal(one.scores[name].of_rows, again.scores[name].of_rows)
    assert one.curve == ()


def test_another_method_in_the_comparison_changes_no_score():
    alone = compare_methods(own_data(), quick_recipe(), Chance(0), methods=("NN_W->Sx4",), repeats=1, with_curve=False)
    assert np.array_equal(alone.scores["NN_W->Sx4"].of_rows, compared().scores["NN_W->Sx4"].of_rows)


def test_without_weak_labels_of_strong_rows_nobody_reads_them():
    comparison = compare_methods(
        own_data(asked=False), quick_recipe(), Chance(0), methods=("WA", "NN_W", "FWL_auto+W"), with_curve=False
    )
    assert tuple(comparison.scores) == ("NN_W",)


def test_few_rows_are_cut_into_folds_more_often():
    comparison = compare_methods(own_data(40), quick_recipe(), Chance(0), methods=("NN_W",), with_curve=False)
    assert len(comparison.scores["NN_W"].of_folds) == 3 * 5


def test_two_classes_are_compared_alike():
    comparison = compare_methods(
        own_data(classes=2), quick_recipe(1), Chance(0), methods=("WA", "LR_S", "FWL_auto"), with_curve=False, repeats=1
    )
    assert comparison.scores["LR_S"].of_rows.mean() > 0.5


def test_numbers_are_compared_by_squared_error():
    problem = sine_problem(n_strong=12)
    data = OwnData(
        problem.weak.X, problem.weak.y, problem.strong.X, problem.strong.y, None, np.arange(40), problem.task
    )
    comparison = compare_methods(data, small_recipe(), Chance(0), methods=("LR_S", "FWL"), repeats=1, with_curve=False)
    assert (comparison.metric, comparison.lower_is_better) == ("squared error", True)
    assert comparison.scores["FWL"].of_rows.shape == (12,)


def test_every_training_is_heard_of():
    listener = Listener()
    compare_methods(own_data(), quick_recipe(), Chance(0), methods=("LR_S", "NN_W"), repeats=2, progress=listener)
    assert sum(listener.heard) == listener.total
    assert listener.finished


def test_it_is_plain_values_for_json():
    plain = json.loads(json.dumps(as_plain(compared())))
    assert plain["scores"]["LR_S"]["mean"] == compared().scores["LR_S"].of_rows.mean()
    assert plain["curve"][0]["strong"] == 12


def test_too_few_strong_rows_are_refused():
    message = "a comparison needs at least 10 strong rows, got 9; label some more by hand"
    with expect_refusal(InvalidInput, message):
        compare_methods(own_data().with_strong(np.arange(9)), quick_recipe(), Chance(0))


def test_an_unknown_method_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="unknown method to compare 'FLW'; did you mean 'FWL'"):
        compare_methods(own_data(), quick_recipe(), Chance(0), methods=("FLW",))


def test_fewer_rows_keep_the_shares_of_the_classes():
    from fwl.learn.compare_methods import _some

    data = own_data(60)
    classes = both_columns(data.y).argmax(axis=1)
    rows = _some(data, np.arange(60), 20, Chance(0))
    np.testing.assert_allclose(np.bincount(classes[rows], minlength=3) / 20, np.bincount(classes) / 60, atol=0.06)


def test_workers_share_the_folds_and_the_numbers_are_the_same():
    """A committee's members begin alike in every worker, so not a bit depends on who had which fold."""
    methods = ("WA", "NN_W->Sx4", "FWL_auto")
    alone, shared = (
        compare_methods(own_data(), quick_recipe(), Chance(0), methods=methods, repeats=1, workers=workers)
        for workers in (1, 2)
    )
    for name in methods:
        assert np.array_equal(alone.scores[name].of_rows, shared.scores[name].of_rows)
    assert [point.scores for point in alone.curve] == [point.scores for point in shared.curve]
