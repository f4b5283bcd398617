from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.examples import Listener
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput, UnknownName, WrongShape
from fwl.estimators.classifier import FWLClassifier
from fwl.learn.methods import METHODS
from fwl.records import WeakSet
from fwl.teach import RBF, ExactGP, White
from fwl.teach.insight import insight

QUICK = {"hidden": (16,), "pretrain_steps": 60, "finetune_steps": 60, "learning_rate": 1e-2, "random_state": 0}
CHECKED = {**QUICK, "pretrain_steps": 100, "committee": 1}


def data(n=200, classes=("left", "right"), flips=0.2, seed=0):
    """Points, the class of each by its first column, and an annotator that errs now and then."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    place = np.searchsorted(np.quantile(X[:, 0], np.linspace(0, 1, len(classes) + 1)[1:-1]), X[:, 0])
    wrong = (place + 1) % len(classes)
    names = np.array(classes)
    return X, names[place], names[np.where(rng.random(n) < flips, wrong, place)]


def fitted(X, y, says, n=30, **settings):
    """Fitted with the first n rows as strong ones and the others as weak ones."""
    return FWLClassifier(**{**QUICK, **settings}).fit(X[:n], y[:n], weak=WeakSet(X[n:], says[n:]), y_weak=says[:n])


@dataclass(frozen=True)
class QuickTeacher:
    """Nothing is fitted; its name is the same in every process that collects tests."""

    def __call__(self):
        return ExactGP(RBF(5.0, 0.1) + White(0.1))


@parametrize_with_checks([FWLClassifier(**CHECKED, method="FWL", teacher=QuickTeacher())])
def test_scikit_learns_contract(estimator, check):
    assert check(estimator) is None  # it raises what it finds


@pytest.mark.slow
@parametrize_with_checks([FWLClassifier(**CHECKED)])
def test_scikit_learns_contract_of_the_default(estimator, check):
    assert check(estimator) is None


@pytest.mark.parametrize(
    ("method", "classes"),
    [(method, "abc") for method in [*METHODS, "LR_S"]] + [(method, "ab") for method in ("FWL_auto", "FWL", "LR_S")],
)
def test_every_method_learns_classes_by_name(method, classes):
    X, y, says = data(classes=tuple(classes))
    model = fitted(X, y, says, method=method)
    assert model.classes_.tolist() == list(classes)
    assert model.score(X, y) > 0.6
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    assert np.array_equal(model.predict(X), model.classes_[probabilities.argmax(axis=1)])
    assert model.soft_labels_.shape == (200, len(classes))
    assert model.uncertainty_.shape == model.fidelity_.shape == (200,)
    assert ((model.fidelity_ > 0) & (model.fidelity_ <= 1)).all()


def test_the_default_is_a_committee_that_reads_weak_labels():
    X, y, says = data()
    model = fitted(X, y, says)
    assert model.learned_.with_teacher
    assert len(model.learned_.students) == 4
    assert model.choices_["prior_mean"] in ("average", "student", "student_and_weak")


def test_weak_labels_of_new_rows_are_read_where_they_are_given():
    X, y, says = data(400, flips=0.05)
    model = fitted(X, y, says, n=60, pretrain_steps=20)
    assert (model.predict(X, weak=says) == y).mean() > (model.predict(X) == y).mean()
    silent = np.full(400, None)
    assert np.array_equal(model.predict_proba(X, weak=silent), model.predict_proba(X))


def test_other_methods_answer_by_their_teacher_when_weak_labels_are_given():
    X, y, says = data()
    model = fitted(X, y, says, method="NN_W->S")
    assert (model.predict(X, weak=says) == y).mean() > 0.75


def test_fitting_twice_equals_fitting_once():
    X, y, says = data()
    model = fitted(X, y, says)
    first, given = model.predict_proba(X), (X[:30], y[:30], WeakSet(X[30:], says[30:]), says[:30])
    assert np.array_equal(first, model.fit(*given).predict_proba(X))
    assert np.array_equal(first, clone(model).fit(*given).predict_proba(X))


def test_the_weak_pool_reaches_every_fold_of_a_grid_search_whole():
    X, y, says = data()
    search = GridSearchCV(FWLClassifier(method="NN_W->S", **QUICK), {"hidden": [(8,), (16,)]}, cv=2)
    search.fit(X[:30], y[:30], weak=WeakSet(X[30:], says[30:]), y_weak=says[:30])
    assert search.best_estimator_.soft_labels_.shape == (200, 2)


def test_it_works_behind_a_pipeline_and_takes_parameters():
    X, y, says = data()
    model = make_pipeline(StandardScaler(), FWLClassifier(**QUICK)).set_params(fwlclassifier__method="NN_W->S")
    model.fit(X[:30], y[:30], fwlclassifier__weak=WeakSet(X[30:], says[30:]))
    assert model.score(X, y) > 0.75


def test_abstentions_get_soft_labels_and_are_not_learned_from():
    X, y, says = data()
    gaps = says.astype(object)
    gaps[50:120] = None
    model = fitted(X, y, gaps)
    assert model.soft_labels_.shape == (200, 2)
    told = model.report_["weak"]
    assert (told["rows"], told["labelled"], told["abstained"]) == (170, 100, 70)


def test_strong_rows_inside_the_pool_are_found_and_kept_out_of_step_1():
    X, y, says = data()
    model = FWLClassifier(**QUICK).fit(X[:30], y[:30], weak=WeakSet(X, says))
    assert model.report_["in_both"] == 30
    assert model.report_["learned_from"] == 170
    assert model.report_["strong"]["with_weak_label"] == 30
    (annotator,) = model.report_["annotators"]
    assert (annotator["compared"], annotator["accuracy"]) == (30, (says[:30] == y[:30]).mean())


def test_several_annotators_are_combined_and_judged():
    X, y, _ = data()
    rng = np.random.default_rng(0)
    votes = np.stack([np.where(rng.random(200) < share, y, "left") for share in (0.95, 0.6, 0.3)], axis=1)
    for how in ("majority", "dawid_skene"):
        model = fitted(X, y, votes, combine=how)
        accuracies = [told["accuracy"] for told in model.report_["annotators"]]
        assert accuracies[0] > accuracies[2]
        assert model.score(X, y) > 0.7
        assert model.predict(X, weak=votes).shape == (200,)


def test_a_pool_that_is_too_large_is_drawn_from_and_softened_whole():
    X, y, says = data()
    model = fitted(X, y, says, pool_size=50)
    assert model.report_["learned_from"] == 50
    assert model.soft_labels_.shape == (200, 2)


@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, scipy.sparse.coo_array])
def test_sparse_matrices_are_taken(make):
    X, y, says = data()
    model = FWLClassifier(**QUICK).fit(make(X[:30]), y[:30], weak=WeakSet(make(X[30:]), says[30:]))
    dense = FWLClassifier(**QUICK).fit(X[:30], y[:30], weak=WeakSet(X[30:], says[30:]))
    np.testing.assert_allclose(model.predict_proba(make(X)), dense.predict_proba(X))


def test_wide_sparse_matrices_are_reduced():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    rows = scipy.sparse.random(300, 3000, density=0.01, random_state=0, format="lil")
    rows[:, 0] = 3.0 * y[:, None]
    model = FWLClassifier(**QUICK).fit(rows[:40].tocsr(), y[:40], weak=WeakSet(rows[40:].tocsr(), y[40:]))
    assert model.report_["samples"]["reduced_to"] == 128
    assert model.score(rows.tocsr(), y) > 0.9


def frame_columns(n=200):
    rng = np.random.default_rng(0)
    size, colour = rng.normal(size=n), rng.choice(["red", "green", "blue"], size=n)
    y = np.where((colour == "red") | (size > 1), "yes", "no")
    return {"size": np.where(rng.random(n) < 0.1, np.nan, size), "colour": colour}, y


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_are_encoded_and_missing_cells_counted(library):
    columns, y = frame_columns()
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library]
    frame = make(columns)
    rows = (lambda a, b: frame.slice(a, b - a)) if library != "pandas" else (lambda a, b: frame.iloc[a:b])
    model = FWLClassifier(**QUICK).fit(rows(0, 40), y[:40], weak=WeakSet(rows(40, 200), y[40:]))
    size, colour = model.report_["samples"]["columns"]
    assert (size["column"], size["kind"], size["missing"]) == ("size", "numbers", int(np.isnan(columns["size"]).sum()))
    assert (colour["kind"], colour["categories"]) == ("categories", 3)
    assert model.score(frame, y) > 0.9
    assert model.n_features_in_ == 2


def test_a_frame_with_an_index_of_its_own_is_taken():
    columns, y = frame_columns()
    frame = pd.DataFrame(columns, index=pd.Index(np.arange(200) * 7, name="key"))
    model = FWLClassifier(**QUICK).fit(frame[:40], pd.Series(y[:40]), weak=WeakSet(frame[40:], pd.Series(y[40:])))
    assert [told["column"] for told in model.report_["samples"]["columns"]] == ["size", "colour"]


def texts(n=160, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    words = [["win", "free", "click"], ["nice", "song", "love"]]
    return [" ".join(rng.choice(words[c] + ["the", "a", "video"], size=6)) for c in y], np.where(y, "ham", "spam")


def test_texts_are_read_by_their_words():
    given, y = texts()
    settings = {**QUICK, "pretrain_steps": 40, "finetune_steps": 40}
    model = FWLClassifier(**settings).fit(given[:30], y[:30], weak=WeakSet(given[30:], y[30:]))
    assert model.report_["samples"]["kind"] == "texts"
    assert model.score(given, y) > 0.9
    assert model.predict(["free click", ""]).shape == (2,)


def test_missing_texts_are_empty_ones_and_counted():
    given, y = texts()
    model = FWLClassifier(**QUICK).fit([None, *given[1:30]], y[:30], weak=WeakSet(given[30:], y[30:]))
    assert model.report_["samples"]["empty"] == 1
    assert model.predict(pd.Series([None, "free"])).shape == (2,)


def test_of_many_strong_rows_some_choose_the_teacher_and_all_teach_it(monkeypatch):
    monkeypatch.setattr("fwl.estimators.classifier.KERNEL_ROWS", 20)
    X, y, says = data()
    model = fitted(X, y, says, n=60)
    assert insight(model.teacher_.teacher).strong == 60
    assert model.score(X, y) > 0.75


def test_progress_hears_of_learning_and_of_every_soft_label():
    X, y, says = data()
    listener = Listener()
    FWLClassifier(method="LR_S", **QUICK).fit(X[:30], y[:30], WeakSet(X[30:], says[30:]), progress=listener)
    assert (listener.what, listener.total, listener.finished) == ("soft labels", 200, True)
    assert sum(listener.heard) == QUICK["pretrain_steps"] + 200  # updates of step 1, then rows


def test_without_a_weak_set_the_strong_rows_are_learned_from():
    X, y, _ = data()
    model = FWLClassifier(**QUICK).fit(X[:60], y[:60])
    assert model.report_["weak"] == {"rows": 0, "labelled": 0, "abstained": 0}
    assert model.report_["annotators"] == []
    assert model.score(X, y) > 0.75


def test_an_unknown_method_is_answered_with_the_nearest():
    X, y, _ = data()
    with pytest.raises(UnknownName, match="unknown method 'FLW'; did you mean 'FWL'"):
        FWLClassifier(method="FLW").fit(X, y)


def test_one_class_is_refused():
    X, _, _ = data()
    message = (
        "strong labels: expected at least 2 classes, got 1 class ('left'); label a sample of another class by hand"
    )
    with expect_refusal(InvalidInput, message):
        FWLClassifier().fit(X, ["left"] * 200)


def test_strong_labels_with_gaps_are_refused():
    X, y, _ = data()
    gaps = y.astype(object)
    gaps[[3, 8]] = None
    message = "strong labels: 2 of 200 rows have none (row 3); drop those rows, or put them into the weak set"
    with expect_refusal(InvalidInput, message):
        FWLClassifier().fit(list(map(str, X[:, 0])), gaps)


def test_a_weak_set_of_another_kind_is_refused():
    X, y, _ = data()
    message = "the weak samples are of another kind (texts) than the strong ones (array)"
    with expect_refusal(InvalidInput, message):
        FWLClassifier().fit(X, y, weak=WeakSet(["a"], ["left"]))


def test_something_else_than_a_weak_set_is_refused():
    X, y, _ = data()
    with expect_refusal(InvalidInput, "weak: expected fwl.WeakSet(X, y), got a tuple"):
        FWLClassifier().fit(X, y, weak=(X, y))


def test_a_weak_set_with_other_columns_is_refused():
    X, y, says = data()
    message = "weak samples have shape (200, 2) and strong samples (200, 3); expected the same columns in both"
    with expect_refusal(WrongShape, message):
        FWLClassifier().fit(X, y, weak=WeakSet(X[:, :2], says))


def test_an_annotator_that_abstains_everywhere_is_refused():
    X, y, _ = data()
    message = (
        "no sample of the weak set can be learned from: the annotator abstains everywhere, or labels strong samples "
        "only; give weak labels for others too"
    )
    with expect_refusal(InvalidInput, message):
        FWLClassifier().fit(X[:20], y[:20], weak=WeakSet(X[20:], [None] * 180))


def test_samples_of_another_kind_than_fitted_are_refused():
    X, y, says = data()
    model = fitted(X, y, says, method="LR_S")
    with expect_refusal(InvalidInput, "this model was fitted on samples of another kind (array) than these (texts)"):
        model.predict(["a text"])
