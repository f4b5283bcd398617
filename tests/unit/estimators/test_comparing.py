import json

import numpy as np
from tests.refusals import expect_refusal
from tests.unit.estimators.test_classifier import QUICK, data
from tests.unit.estimators.test_sentences import CLASSES, OTHERS, SAYS, TEXTS
from tests.unit.students.test_encoder import save_encoder

from fwl.errors import InvalidInput
from fwl.estimators.classifier import FWLClassifier
from fwl.estimators.comparing import compare_on
from fwl.estimators.regressor import FWLRegressor
from fwl.records import WeakSet

METHODS = ("WA", "LR_S", "NN_W->S", "FWL_auto+W")


def test_a_classifiers_methods_are_compared_and_the_winner_fits():
    X, y, says = data()
    estimator = FWLClassifier(method="FWL", **QUICK)
    weak = WeakSet(X[30:], says[30:])
    found = compare_on(estimator, X[:30], y[:30], weak, says[:30], methods=METHODS, repeats=1, with_curve=False)
    assert tuple(found.comparison.scores) == METHODS
    winner = found.winner(estimator)
    assert winner.get_params()["method"] in ("LR_S", "NN_W->S", "FWL_auto")
    assert estimator.method == "FWL"
    assert not hasattr(estimator, "classes_")
    assert winner.fit(X[:30], y[:30], weak).score(X, y) > 0.7
    assert json.loads(json.dumps(found.as_dict()))["verdict"]["kept"] == found.verdict.kept


def test_a_regressors_methods_are_compared():
    X, _, _ = data()
    y = np.sin(X[:, 0])
    estimator = FWLRegressor(hidden=(8,), pretrain_steps=10, finetune_steps=20, random_state=0)
    found = compare_on(estimator, X[:20], y[:20], WeakSet(X[20:], y[20:] + 0.5), methods=("LR_S", "NN_W->S"), repeats=1)
    assert found.comparison.metric == "squared error"
    assert found.verdict.kept in ("LR_S", "NN_W->S")


def test_weak_texts_that_nearly_repeat_a_strong_one_are_not_learned_from():
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(300)])
    texts = [" ".join(rng.choice(words, 12, replace=False)) for _ in range(80)]
    y = rng.integers(2, size=80).astype(str)
    copies = [" ".join([*texts[row].split()[1:], "word7"]) for row in (0, 1)]
    weak = WeakSet([*texts[20:], *copies], np.append(y[20:], ["0", "1"]))
    model = FWLClassifier(pretrain_steps=5, finetune_steps=5, random_state=0)
    found = compare_on(model, texts[:20], y[:20], weak, methods=("LR_S",), repeats=1, with_curve=False)
    assert found.comparison.copies == 2
    assert found.as_dict()["comparison"]["copies"] == 2


def test_with_a_tuned_encoder_methods_without_weak_labels_score_as_with_a_frozen_one(tmp_path):
    folder = save_encoder(tmp_path)
    found = {}
    for student in ("encoder", "tuned_encoder"):
        model = FWLClassifier(student=student, encoder=str(folder), tuning_steps=2, **QUICK)
        methods = ("LR_S", "NN_W->S", "NN_S")
        weak = WeakSet(OTHERS, SAYS)
        found[student] = compare_on(model, TEXTS[:20], CLASSES[:20], weak, methods=methods, repeats=1).comparison
    frozen, tuned = found["encoder"], found["tuned_encoder"]
    assert tuple(tuned.scores) == tuple(frozen.scores) == ("LR_S", "NN_S", "NN_W->S")
    assert np.array_equal(tuned.scores["LR_S"].of_rows, frozen.scores["LR_S"].of_rows)
    assert [set(point.of_rows) for point in tuned.curve] == [{"LR_S", "NN_W->S"}] * len(frozen.curve)
    assert len(frozen.curve) == 2


def test_without_weak_labels_there_is_nothing_to_compare():
    X, y, _ = data()
    message = "a comparison needs weak labels; give weak=WeakSet(X, y)"
    with expect_refusal(InvalidInput, message):
        compare_on(FWLClassifier(), X, y, None)


def test_too_few_strong_rows_are_refused_before_any_text_is_read():
    message = "a comparison needs at least 10 strong rows, got 9; label some more by hand"
    estimator = FWLClassifier(encoder="nowhere")
    with expect_refusal(InvalidInput, message):
        compare_on(estimator, TEXTS[:9], CLASSES[:9], WeakSet(OTHERS, SAYS))
