"""What every student promises, asked of ours and of a user's own module."""

from functools import partial

import numpy as np
import pytest
import torch

from fwl.randomness import Chance
from fwl.students import Training, inference, predict, represent, train
from fwl.students.inference import as_input
from tests import examples
from tests.tolerances import ALGEBRA, SINGLE

STUDENTS = {
    "perceptron": (examples.perceptron, examples.lesson),
    "wrapped": (examples.wrapped, examples.lesson),
    "with dropout": (examples.with_dropout, examples.lesson),
    "sparse": (examples.sparse, examples.word_lesson),
    "text": (examples.text_cnn, examples.text_lesson),
    "text, two layers": (partial(examples.text_cnn, layers=2), examples.text_lesson),
}
pytestmark = pytest.mark.parametrize(("make", "make_lesson"), STUDENTS.values(), ids=STUDENTS)


def test_forward_is_predict_from_of_represent(make, make_lesson):
    student = make().eval()
    x = as_input(make_lesson().X, student.reads)
    assert torch.equal(student(x), student.predict_from(student.represent(x)))


def test_arrays_have_a_row_per_sample(make, make_lesson):
    student, X = make(), make_lesson(n=7).X
    assert represent(student, X).shape[0] == 7
    assert represent(student, X).ndim == 2
    assert predict(student, X).shape == (7, 1)
    assert predict(student, X).dtype == np.float64


def test_predictions_are_predicted_from_representations(make, make_lesson):
    student, X = make().eval(), make_lesson().X
    psi = torch.from_numpy(represent(student, X).astype(np.float32))
    with torch.no_grad():
        expected = student.predict_from(psi).numpy()
    # Samples with lengths go through sorted: the same rows of a product, in another place.
    near = ALGEBRA if student.lengths(X) is None else SINGLE
    np.testing.assert_allclose(predict(student, X), expected, rtol=0, atol=near)


def test_chunks_give_what_the_whole_gives(make, make_lesson, monkeypatch):
    student, X = make(), make_lesson().X
    whole, whole_psi = predict(student, X), represent(student, X)
    monkeypatch.setattr(inference, "CHUNK", 7)
    np.testing.assert_allclose(predict(student, X), whole, rtol=SINGLE, atol=SINGLE)
    np.testing.assert_allclose(represent(student, X), whole_psi, rtol=SINGLE, atol=SINGLE)


def test_the_order_of_samples_changes_no_outputs(make, make_lesson):
    student, X = make(), make_lesson().X
    order = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_allclose(predict(student, X[order]), predict(student, X)[order], rtol=0, atol=SINGLE)
    np.testing.assert_allclose(represent(student, X[order]), represent(student, X)[order], rtol=0, atol=SINGLE)


def test_no_samples_give_no_rows(make, make_lesson):
    assert predict(make(), make_lesson().X[:0]).shape == (0, 1)


@pytest.mark.parametrize("training", [True, False])
def test_asking_leaves_the_mode_as_it_was(make, make_lesson, training):
    student = make().train(training)
    predict(student, make_lesson().X)
    assert student.training is training


def test_training_lowers_the_loss(make, make_lesson):
    student, lesson = make(), make_lesson()
    before = np.mean((predict(student, lesson.X) - lesson.y) ** 2)
    train(student, lesson, Training(steps=60, learning_rate=0.02), Chance(0))
    assert np.mean((predict(student, lesson.X) - lesson.y) ** 2) < before
    assert not student.training
