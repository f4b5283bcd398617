import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_digits
from sklearn.metrics import average_precision_score
from tests.unit.estimators.test_classifier import QUICK, data, fitted

from fwl.estimators.auditing import audit, suggest_rows
from fwl.estimators.classifier import FWLClassifier
from fwl.estimators.regressor import FWLRegressor
from fwl.estimators.saving import load_model, save_model
from fwl.records import WeakSet


@pytest.fixture(scope="module")
def model():
    return fitted(*data(), method="FWL_auto")


def test_it_tells_of_every_row_what_became_of_its_label(model):
    X, _, says = data()
    gaps = says.astype(object)
    gaps[:5] = None
    told = audit(model, X, gaps)
    assert told.weak_label[:5].tolist() == [None] * 5
    assert told.weak_label[5:].tolist() == says[5:].tolist()
    assert set(told.verdict.tolist()) <= {"kept", "corrected", "ignored"}
    agree = told.weak_label == told.soft_label
    assert (told.verdict[agree] == "kept").all()
    assert (told.verdict[~agree] != "kept").all()
    assert np.isnan(told.doubt[:5]).all()
    assert told.witnesses.rows.shape == (200, 3)
    assert told.witnesses.rows.max() < 30
    assert ((told.probability >= 0.5) & (told.probability <= 1)).all()


def test_the_pools_audit_repeats_its_soft_labels(model):
    X, _, says = data()
    told = audit(model, X[30:], says[30:])
    np.testing.assert_allclose(told.fidelity, model.fidelity_[:170])
    np.testing.assert_allclose(told.probability, model.soft_labels_[:170].max(axis=1))


def test_rows_may_be_audited_without_weak_labels(model):
    X, _, _ = data()
    assert set(audit(model, X).verdict.tolist()) <= {"corrected", "ignored"}


def test_a_loaded_model_says_the_same(model, tmp_path):
    X, _, says = data()
    again = load_model(save_model(model, tmp_path / "model"))
    one, other = audit(model, X, says), audit(again, X, says)
    for name in ("weak_label", "soft_label", "probability", "uncertainty", "fidelity", "verdict", "doubt"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    assert np.array_equal(suggest_rows(model, X, 5).rows, suggest_rows(again, X, 5).rows)


def test_suggestions_are_rows_that_are_allowed(model):
    X, _, says = data()
    found = suggest_rows(model, X, 8, weak=says, allowed=np.arange(100, 150))
    assert ((found.rows >= 100) & (found.rows < 150)).all()
    assert len(set(found.rows.tolist())) == 8


def test_suggestions_have_the_shares_of_the_classes_that_the_annotator_names(model, monkeypatch):
    X, _, _ = data()
    favourites = suggest_rows(model, X, 10).rows
    says = np.where(np.isin(np.arange(200), favourites), "left", "right")

    def from_the_left():
        return (says[suggest_rows(model, X, 10, weak=says).rows] == "left").sum()

    assert from_the_left() == 1  # a twentieth of the rows: half a suggestion, rounded up
    monkeypatch.setattr("fwl.learn.suggest.MOST_OF_A_CLASS", 20.0)
    assert from_the_left() > 1


def test_where_the_annotator_is_silent_the_model_names_the_class(model):
    X, _, _ = data()
    silent = np.full(200, None)
    thought = model.predict(X, silent)
    suggested = thought[suggest_rows(model, X, 10, weak=silent).rows]
    for name in model.classes_:
        assert (suggested == name).sum() <= np.ceil(10 * (thought == name).mean())


def test_numbers_are_audited_and_asked_about_too():
    X, _, _ = data()
    y = np.sin(X[:, 0])
    model = FWLRegressor(hidden=(8,), pretrain_steps=40, finetune_steps=40, random_state=0)
    model.fit(X[:30], y[:30], weak=WeakSet(X, y))
    wrong = y.copy()
    wrong[50] += 10
    wrong[60] = np.nan
    told = audit(model, X, wrong)
    assert told.doubt.argmax() == 50 or np.nanargmax(told.doubt) == 50
    assert told.verdict[50] != "kept"
    assert np.isnan(told.weak_label[60])
    assert np.isnan(told.probability).all()
    np.testing.assert_allclose(told.weak_label[:50], y[:50])
    assert suggest_rows(model, X, 3).rows.shape == (3,)


def test_frames_are_audited():
    X, y, says = data()
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    model = FWLClassifier(**QUICK).fit(frame[:40], y[:40], weak=WeakSet(frame, says))
    assert audit(model, frame, says).verdict.shape == (200,)


def test_planted_errors_are_found():
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    strong, pool = order[:100], order[100:1000]
    flipped = rng.random(len(pool)) < 0.2
    says = np.where(flipped, (y[pool] + rng.integers(1, 10, len(pool))) % 10, y[pool])
    settings = {**QUICK, "hidden": (64,), "pretrain_steps": 300, "finetune_steps": 50, "committee": 1}
    model = FWLClassifier(**settings).fit(X[strong], y[strong], weak=WeakSet(X[pool], says))
    told = audit(model, X[pool], says)
    assert average_precision_score(flipped, told.doubt) > 0.9
    assert flipped[told.verdict == "kept"].mean() < 0.05
