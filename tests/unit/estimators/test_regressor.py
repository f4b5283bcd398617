import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput, UnknownName, WrongShape
from fwl.estimators.regressor import FWLRegressor
from fwl.records import WeakSet

QUICK = {"hidden": (16,), "pretrain_steps": 30, "finetune_steps": 60, "random_state": 0}


def data(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 1))
    return X, np.sin(X[:, 0])


@parametrize_with_checks(
    [FWLRegressor(method="FWL", hidden=(16,), pretrain_steps=150, finetune_steps=150, random_state=0)]
)
def test_scikit_learns_contract(estimator, check):
    assert check(estimator) is None  # it raises what it finds


def test_it_learns_on_the_labels_own_scale():
    X, y = data()
    scale = lambda values: 1e6 + 1e4 * values  # noqa: E731
    weak = WeakSet(1e3 * X, scale(y + 0.5))
    model = FWLRegressor(hidden=(64, 64), random_state=0).fit(1e3 * X[:15], scale(y[:15]), weak=weak)
    error = np.abs(model.predict(1e3 * X) - scale(y)).mean() / 1e4
    assert error < 0.1


def test_it_tells_soft_labels_uncertainty_fidelity_and_choices():
    X, y = data()
    model = FWLRegressor(**QUICK).fit(X[:10], y[:10], weak=WeakSet(X, y + 0.5))
    assert model.soft_labels_.shape == model.uncertainty_.shape == model.fidelity_.shape == (160,)
    assert ((model.fidelity_ > 0) & (model.fidelity_ <= 1)).all()
    assert model.choices_["beta"] in (0.0, 1.0, 5.0)


def test_fitting_twice_equals_fitting_once():
    X, y = data()
    model = FWLRegressor(**QUICK)
    first = model.fit(X[:10], y[:10], weak=WeakSet(X, y)).predict(X)
    second = model.fit(X[:10], y[:10], weak=WeakSet(X, y)).predict(X)
    assert np.array_equal(first, second)
    assert np.array_equal(first, clone(model).fit(X[:10], y[:10], weak=WeakSet(X, y)).predict(X))


def test_the_weak_pool_reaches_every_fold_of_a_grid_search_whole():
    X, y = data()
    weak = WeakSet(X, y + 0.5)
    search = GridSearchCV(FWLRegressor(method="FWL", **QUICK), {"beta": [0.0, 5.0]}, cv=2)
    search.fit(X[:10], y[:10], weak=weak)
    assert search.best_estimator_.soft_labels_.shape == (160,)


def test_it_works_behind_a_pipeline():
    X, y = data()
    model = make_pipeline(StandardScaler(), FWLRegressor(method="NN_W->S", **QUICK))
    model.fit(X[:10], y[:10], fwlregressor__weak=WeakSet(X, y))
    assert model.predict(X).shape == (150,)


def test_an_unknown_method_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="unknown method 'FLW'; did you mean 'FWL'"):
        FWLRegressor(method="FLW").fit([[0.0], [1.0]], [0.0, 1.0])


def test_a_weak_set_with_other_columns_is_refused():
    X, y = data()
    message = r"weak samples have shape \(150, 2\) and strong samples \(150, 1\); expected the same columns"
    with pytest.raises(WrongShape, match=message):
        FWLRegressor(**QUICK).fit(X, y, weak=WeakSet(np.hstack([X, X]), y))


def test_numbers_of_several_annotators_are_averaged_and_judged():
    X, y = data()
    both = np.stack([y + 1.0, np.where(X[:, 0] > 0, np.nan, y - 1.0)], axis=1)
    model = FWLRegressor(**QUICK).fit(X[:10], y[:10], weak=WeakSet(X, both))
    high, low = model.report_["annotators"]
    assert (high["coverage"], high["compared"], high["mean_error"]) == (1.0, 10, pytest.approx(1.0))
    assert low["coverage"] == (X[:, 0] <= 0).mean()


def test_rows_without_a_weak_number_get_soft_labels_too():
    X, y = data()
    weak = np.where(X[:, 0] > 1, np.nan, y + 0.5)
    model = FWLRegressor(**QUICK).fit(X[:10], y[:10], weak=WeakSet(X, weak))
    assert model.soft_labels_.shape == (160,)
    assert model.report_["weak"]["abstained"] == (X[:, 0] > 1).sum()


@pytest.mark.parametrize("method", ["NN_W->S", "LR_S"])
def test_methods_without_a_teacher_have_one_all_the_same(method):
    X, y = data()
    model = FWLRegressor(method=method, **QUICK).fit(X[:10], y[:10], weak=WeakSet(X, y + 0.5))
    assert model.soft_labels_.shape == (160,)
    assert model.predict(X, weak=y + 0.5).shape == (150,)


def test_the_annotators_numbers_for_strong_rows_teach_the_teacher_how_it_errs():
    X, y = data()
    model = FWLRegressor(**QUICK).fit(X[:10], y[:10], weak=WeakSet(X, y + 0.5), y_weak=y[:10] + 0.5)
    assert "x, student_and_weak" in model.choices_["teacher_scores"]
    assert model.predict(X, weak=y + 0.5).shape == (150,)


def test_frames_are_taken():
    X, y = data()
    frame = pl.DataFrame({"a": X[:, 0], "b": ["x"] * 75 + ["z"] * 75})
    model = FWLRegressor(method="NN_W->S", **QUICK).fit(frame[:40], y[:40], weak=WeakSet(frame, y))
    assert model.predict(frame).shape == (150,)


def test_words_as_weak_labels_of_a_regression_are_refused():
    X, y = data()
    message = "weak labels: expected numbers, NaN for an abstention; this is a regression"
    with expect_refusal(InvalidInput, message):
        FWLRegressor(**QUICK).fit(X, y, weak=WeakSet(X, ["good"] * 150))
