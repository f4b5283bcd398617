import hashlib
import json

import numpy as np
import polars as pl
import pytest
import safetensors.numpy
from tests.refusals import expect_refusal
from tests.unit.estimators.test_classifier import QUICK, data, fitted, frame_columns, texts
from torch import nn

from fwl.errors import InvalidInput, OutputTrouble
from fwl.estimators.classifier import FWLClassifier
from fwl.estimators.regressor import FWLRegressor
from fwl.estimators.saving import load_model, load_notes, save_model
from fwl.records import WeakSet
from fwl.storage import Stored, write_folder


def same(model, again, X, weak=None):
    assert np.array_equal(model.predict_proba(X), again.predict_proba(X))
    assert np.array_equal(model.predict(X), again.predict(X))
    if weak is not None:
        assert np.array_equal(model.predict_proba(X, weak), again.predict_proba(X, weak))
    for name in ("soft_labels_", "uncertainty_", "fidelity_", "classes_"):
        assert np.array_equal(getattr(model, name), getattr(again, name))
    assert json.loads(json.dumps(model.report_)) == again.report_


@pytest.mark.parametrize("method", ["FWL_auto", "FWL", "NN_W->Sx4", "LR_S"])
def test_a_classifier_comes_back_to_the_bit(method, tmp_path):
    X, y, says = data(classes=("a", "b c", "ü"))
    model = fitted(X, y, says, method=method)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    same(model, again, X, says)
    assert again.get_params()["method"] == method
    assert again.n_features_in_ == 3


def test_votes_are_combined_as_before(tmp_path):
    X, y, says = data()
    votes = np.stack([y, says, says], axis=1)
    model = fitted(X, y, votes, combine="dawid_skene", class_map={"weg": "left"})
    again = load_model(save_model(model, tmp_path / "model"))
    same(model, again, X, votes)
    assert again.predict(X[:1], weak=[["weg", "weg", None]]).shape == (1,)


@pytest.mark.parametrize("kind", ["integers", "booleans", "objects"])
def test_classes_of_every_kind_come_back(kind, tmp_path):
    X, y, says = data()
    names = {"integers": (3, 7), "booleans": (False, True), "objects": ("left", "right")}[kind]
    dtype = object if kind == "objects" else None
    y, says = (np.array([names[int(v == "right")] for v in values], dtype=dtype) for values in (y, says))
    model = fitted(X, y, says, method="LR_S")
    again = load_model(save_model(model, tmp_path / "model"))
    same(model, again, X)
    assert again.classes_.dtype == model.classes_.dtype


def test_a_frames_encoding_comes_back(tmp_path):
    columns, y = frame_columns()
    frame = pl.DataFrame(columns)
    model = FWLClassifier(**QUICK).fit(frame[:40], y[:40], weak=WeakSet(frame[40:], y[40:]))
    again = load_model(save_model(model, tmp_path / "model"))
    same(model, again, frame)
    assert again.feature_names_in_.tolist() == ["size", "colour"]


def test_texts_come_back(tmp_path):
    given, y = texts(60)
    model = FWLClassifier(**{**QUICK, "pretrain_steps": 20}).fit(given[:30], y[:30], weak=WeakSet(given[30:], y[30:]))
    same(model, load_model(save_model(model, tmp_path / "model")), [*given, "unheard words"])


def test_a_regressor_comes_back_to_the_bit(tmp_path):
    X, _, _ = data()
    y = np.sin(X[:, 0])
    model = FWLRegressor(hidden=(8,), pretrain_steps=30, finetune_steps=30, random_state=0)
    model.fit(X[:20], y[:20], weak=WeakSet(X, y + 1))
    again = load_model(save_model(model, tmp_path / "model"))
    assert isinstance(again, FWLRegressor)
    assert np.array_equal(model.predict(X), again.predict(X))
    assert np.array_equal(model.predict(X, y), again.predict(X, y))


def own(samples, outputs, chance):
    return nn.Sequential(nn.Linear(samples.shape[1], 8), nn.Tanh(), nn.Linear(8, outputs))


def test_a_student_of_ones_own_comes_back_with_its_function(tmp_path):
    X, y, says = data()
    model = fitted(X, y, says, student=own, method="NN_W->S")
    save_model(model, tmp_path / "model")
    same(model, load_model(tmp_path / "model", student=own), X, says)
    message = (
        "this model's student was made by a function of your own; give it to load_model as well: "
        "load_model(folder, student=function)"
    )
    with expect_refusal(InvalidInput, message):
        load_model(tmp_path / "model")


def test_notes_are_kept_beside_it(tmp_path):
    X, y, says = data()
    save_model(fitted(X, y, says, method="LR_S"), tmp_path / "model", notes={"strong": "rows.csv"})
    assert load_notes(tmp_path / "model") == {"strong": "rows.csv"}


def test_what_is_not_fitted_cannot_be_saved(tmp_path):
    message = "a FWLClassifier that is not fitted cannot be saved; fit an FWLClassifier or FWLRegressor first"
    with expect_refusal(InvalidInput, message):
        save_model(FWLClassifier(), tmp_path / "model")


def test_another_kind_of_folder_is_refused(tmp_path):
    write_folder(tmp_path / "model", Stored("teacher", {}, {"a": np.zeros(1)}))
    with expect_refusal(OutputTrouble, f"{tmp_path / 'model'} holds a teacher, expected an estimator"):
        load_model(tmp_path / "model")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    X, y, says = data()
    return save_model(fitted(X, y, says), tmp_path_factory.mktemp("models") / "model")


def forged(saved, folder, change_settings=None, change_arrays=None):
    """A copy of a model with something changed and every checksum made anew, as somebody hostile would."""
    manifest = json.loads((saved / "manifest.json").read_text())
    arrays = safetensors.numpy.load_file(saved / "arrays.safetensors")
    settings = manifest["settings"]
    (change_settings or (lambda _: None))(settings)
    (change_arrays or (lambda _: None))(arrays)
    return write_folder(folder, Stored("estimator", settings, arrays))


HOSTILE = {
    "no estimator": lambda s: s.update(estimator="os.system"),
    "unknown inputs": lambda s: s["kinds"].update(inputs="Popen"),
    "unknown labels": lambda s: s["kinds"].update(labels="Popen"),
    "unknown student": lambda s: s["learned"]["students"][0].update(kind="Popen"),
    "unknown activation": lambda s: s["learned"]["students"][0].update(activation="exec"),
    "unknown teacher": lambda s: s["teacher"].update(kind="Popen"),
    "unknown task": lambda s: s["learned"].update(task="exec"),
    "unknown prior": lambda s: s["teacher"].update(prior_mean="exec"),
    "unknown kernel": lambda s: s["teacher"]["settings"]["kernel"]["parts"][0].update(kind="exec"),
    "unknown parameter": lambda s: s["parameters"].update(run="me"),
    "objects as classes": lambda s: s["labels"].update(kind="V"),
    "no parts": lambda s: s.pop("teacher"),
    "a number for a list": lambda s: s["learned"].update(students=7),
    "an odd sample": lambda s: s.update(example={"": ["|O", [3]]}),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_forged_manifest_is_refused(change, saved, tmp_path):
    with pytest.raises((OutputTrouble, InvalidInput)):
        load_model(forged(saved, tmp_path / "forged", change))


FORGED_ARRAYS = {
    "other shape": lambda a: a.update({"learned.student.0.output.weight": np.zeros((7, 7))}),
    "missing": lambda a: a.pop("learned.student.0.output.weight"),
    "too many": lambda a: a.update({"learned.student.0.more": np.zeros(3)}),
    "no soft labels": lambda a: a.pop("soft.label"),
}


@pytest.mark.parametrize("change", FORGED_ARRAYS.values(), ids=FORGED_ARRAYS.keys())
def test_forged_weights_are_refused(change, saved, tmp_path):
    with pytest.raises((OutputTrouble, InvalidInput)):
        load_model(forged(saved, tmp_path / "forged", None, change))


def test_a_changed_file_is_refused(saved, tmp_path):
    copy = forged(saved, tmp_path / "copy")
    content = bytearray((copy / "arrays.safetensors").read_bytes())
    content[-1] ^= 1
    (copy / "arrays.safetensors").write_bytes(bytes(content))
    digest = hashlib.sha256(bytes(content)).hexdigest()
    assert digest not in (copy / "manifest.json").read_text()
    with pytest.raises(OutputTrouble, match="was changed after it was saved"):
        load_model(copy)
