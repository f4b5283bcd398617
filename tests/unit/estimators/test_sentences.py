import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.examples import Listener
from tests.refusals import expect_refusal
from tests.unit.estimators.test_classifier import QUICK
from tests.unit.students.test_encoder import save_encoder

from fwl.errors import InvalidInput, OutputTrouble
from fwl.estimators import text_inputs
from fwl.estimators.classifier import FWLClassifier
from fwl.estimators.gathering import gather_classes
from fwl.estimators.inputs import fit_inputs
from fwl.estimators.regressor import FWLRegressor
from fwl.estimators.saving import load_model, save_model
from fwl.estimators.text_inputs import SentenceInputs
from fwl.randomness import Chance
from fwl.records import WeakSet
from fwl.students import Perceptron, TextCNN

TEXTS = ["good film", "bad film", "a good good film", "what a bad bad film"] * 15
CLASSES = np.array(["up", "down"] * 30)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def model(folder):
    return FWLClassifier(student="encoder", encoder=str(folder), **QUICK).fit(
        TEXTS[:20], CLASSES[:20], weak=WeakSet(TEXTS[20:], CLASSES[20:])
    )


def test_texts_are_read_by_a_sentence_encoder(model):
    known = {"columns": 16, "words": 5, "pieces": 47, "tuned": False}
    assert model.report_["samples"] == {"kind": "sentence vectors", **known, "empty": 0}
    assert model.score(TEXTS, CLASSES) > 0.9


def test_words_and_spelling_stand_beside_the_sentence_vector_with_as_much_weight(model):
    inputs = model._fitted.inputs
    vectors = inputs.of(TEXTS)["vector"]
    words, spelling = inputs.words.vectors(inputs.words.ids(TEXTS)), inputs.spelling.vectors(TEXTS)
    assert words.shape == (60, 6)  # of 16 columns allowed, one less than there are ids (five words, unknown, padding)
    assert spelling.shape == (60, 16)
    assert np.array_equal(vectors[:, 16:], np.concatenate([words, spelling], axis=1).astype(np.float32))
    alone = replace(inputs, words=None, spelling=None)
    assert np.array_equal(vectors[:, :16], alone.of(TEXTS)["vector"])
    for side in (vectors[:, :16], words, spelling):
        assert side.var(axis=0).mean() == pytest.approx(1.0, rel=1e-3)


def test_a_vector_does_not_depend_on_the_texts_it_is_made_with(model):
    inputs = model._fitted.inputs
    assert np.array_equal(inputs.of(TEXTS)["vector"][3], inputs.of([TEXTS[3]])["vector"][0])


@pytest.mark.parametrize(("missing", "columns"), [(("spelling",), 22), (("words", "spelling"), 16)])
def test_inputs_that_were_saved_without_words_or_spelling_read_none(model, missing, columns):
    state = replace(model._fitted.inputs, **dict.fromkeys(missing)).state()
    again = SentenceInputs.from_state(state)
    assert again.of(TEXTS)["vector"].shape == (60, columns)
    assert (again.described()["words"] == 0, again.described()["pieces"]) == ("words" in missing, 0)


def test_words_are_read_in_order_too_with_wording_in_few_columns(model):
    inputs = model._fitted.inputs
    samples = inputs.of(TEXTS)
    assert samples.dtype.names == ("tokens", "wording", "vector")
    assert np.array_equal(samples["wording"], samples["vector"][:, 16:])  # short enough here
    good, bad = samples["tokens"][0], samples["tokens"][1]
    assert (good.shape, good[1], good[0] == bad[0]) == ((5,), bad[1], False)
    assert replace(inputs, read=0).of(TEXTS).dtype.names == ("vector",)


def test_students_without_the_encoder_join_the_committee(model):
    kinds = [
        {type(student) for student in of_kind} for of_kind in (model.learned_.students, model.learned_.second_kind)
    ]
    assert kinds == [{Perceptron}, {TextCNN}]
    assert all(parameter.dtype == torch.float64 for parameter in model.learned_.second_kind[0].parameters())
    assert set(model.choices_["shares"]) == {"teacher", "students", "linear"}


@pytest.mark.parametrize("changes", [{"student": "perceptron"}, {"method": "NN_W->Sx4"}])
def test_whoever_names_one_kind_has_that_alone(folder, changes):
    settings = {**QUICK, "student": "encoder", "encoder": str(folder), **changes}
    model = FWLClassifier(**settings).fit(TEXTS[:20], CLASSES[:20], weak=WeakSet(TEXTS[20:], CLASSES[20:]))
    assert model.learned_.second_kind == ()


def test_without_weak_labels_there_is_one_kind(folder):
    model = FWLClassifier(student="encoder", encoder=str(folder), **QUICK).fit(TEXTS[:20], CLASSES[:20])
    assert model.learned_.second_kind == ()


def test_an_installed_encoder_is_found_where_it_is_now(model, folder, tmp_path, monkeypatch):
    gone = shutil.copytree(folder, tmp_path / "gone")
    state = replace(model._fitted.inputs, folder=str(gone)).state()
    shutil.rmtree(gone)
    monkeypatch.setattr(text_inputs, "packaged_encoder", lambda: None)
    with pytest.raises(OutputTrouble, match="gone is not a folder"):
        SentenceInputs.from_state(state)
    monkeypatch.setattr(text_inputs, "packaged_encoder", lambda: folder)
    assert SentenceInputs.from_state(state).folder == str(folder)


def test_encoding_is_heard_of_text_by_text(folder):
    heard = Listener()
    inputs, *_ = fit_inputs(TEXTS[:20], TEXTS[20:], Chance(0), str(folder), progress=heard)
    assert (heard.what, heard.total, sum(heard.heard)) == ("encoding", 4, 4)  # different texts
    assert isinstance(inputs, SentenceInputs)


def test_a_model_finds_its_encoder_again_also_where_it_has_moved(model, folder, tmp_path):
    save_model(model, tmp_path / "model")
    moved = shutil.copytree(folder, tmp_path / "moved")
    for again in (load_model(tmp_path / "model"), load_model(tmp_path / "model", encoder=moved)):
        assert np.array_equal(model.predict_proba(TEXTS), again.predict_proba(TEXTS))


def test_another_encoder_is_refused(model, tmp_path):
    save_model(model, tmp_path / "model")
    other = save_encoder(tmp_path / "other", seed=1)
    with pytest.raises(InvalidInput, match="is not the one that this model was fitted with"):
        load_model(tmp_path / "model", encoder=other)


OTHERS = [f"{text} {letter} {letter} {letter}" for text in TEXTS[:20] for letter in "abc"]  # no near copies of TEXTS
SAYS = np.repeat(CLASSES[:20], 3)


def fit_tuned_model(folder, says, method="FWL_auto"):
    settings = {**QUICK, "student": "tuned_encoder", "encoder": str(folder), "tuning_steps": 3, "method": method}
    return FWLClassifier(**settings).fit(TEXTS[:20], CLASSES[:20], weak=WeakSet(OTHERS, says))


def test_vectors_of_a_tuned_copy_stand_beside_the_others(folder):
    model = fit_tuned_model(folder, SAYS)
    inputs = model._fitted.inputs
    vectors = inputs.of(TEXTS)["vector"]
    assert model.report_["samples"]["tuned"]
    gathered = gather_classes(model, TEXTS[:20], CLASSES[:20], WeakSet(OTHERS, SAYS), None, Chance(0))
    assert np.array_equal(gathered.data.strong["vector"], gathered.inputs.of(TEXTS[:20])["vector"])
    assert np.array_equal(gathered.data.pool["vector"], gathered.inputs.of(OTHERS)["vector"])
    assert np.array_equal(vectors[:, :-16], replace(inputs, tuned=None).of(TEXTS)["vector"])
    assert np.array_equal(vectors[:, -16:], inputs.tuned.vectors(TEXTS).astype(np.float32))
    assert model.score(TEXTS, CLASSES) > 0.9


def test_a_tuned_model_is_the_same_when_it_is_loaded(folder, tmp_path):
    model = fit_tuned_model(folder, SAYS)
    save_model(model, tmp_path / "model")
    assert np.array_equal(model.predict_proba(TEXTS), load_model(tmp_path / "model").predict_proba(TEXTS))


@pytest.mark.parametrize("method", ["LR_S", "NN_S"])
def test_what_learns_from_strong_labels_alone_reads_nothing_that_weak_ones_shaped(folder, method):
    models = [fit_tuned_model(folder, says, method) for says in (SAYS, SAYS[::-1])]
    assert not models[0].report_["samples"]["tuned"]
    one, other = (model.predict_proba(TEXTS) for model in models)
    assert np.array_equal(one, other)


def test_without_an_encoder_there_is_none_to_tune():
    message = "student='tuned_encoder' needs texts and the folder of a sentence encoder: encoder=FOLDER"
    with expect_refusal(InvalidInput, message):
        FWLClassifier(student="tuned_encoder", **QUICK).fit(TEXTS[:20], CLASSES[:20], weak=WeakSet(OTHERS, SAYS))


def test_without_weak_labels_the_encoder_stays_as_it_is(folder):
    model = FWLClassifier(student="tuned_encoder", encoder=str(folder), **QUICK).fit(TEXTS[:20], CLASSES[:20])
    assert not model.report_["samples"]["tuned"]


def test_numbers_tune_no_encoder(folder):
    message = "student='tuned_encoder' is tuned on classes; for numbers use student='encoder'"
    with expect_refusal(InvalidInput, message):
        FWLRegressor(student="tuned_encoder", encoder=str(folder)).fit(TEXTS, np.arange(60.0))
