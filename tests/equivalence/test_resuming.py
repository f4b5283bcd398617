"""A training that was stopped and resumed ends with the same bits as one that ran through."""

from collections.abc import Callable
from functools import partial

import pytest
from threadpoolctl import threadpool_limits

from fwl.randomness import Chance
from fwl.students import Lesson, Student, Training, train
from fwl.students.batches import Alternating, ByProbability
from fwl.students.checkpoint import Checkpoint
from tests import examples
from tests.examples import Interrupted, Listener

STEPS, EVERY, STOP_AFTER, RESUMED_FROM = 45, 7, 24, 21


@threadpool_limits.wrap(limits=1)  # students this small only wait for a second thread
def check_resumes(tmp_path, make: Callable[[], Student], lesson: Lesson, plan: Training, **how) -> Student:
    """Train once through and once with a break; both must agree in every parameter and every recorded loss."""
    through, broken, resumed = make(), make(), make()
    history = train(through, lesson, plan, Chance(2), **how)
    path = tmp_path / "training.safetensors"
    with pytest.raises(Interrupted):
        train(
            broken,
            lesson,
            plan,
            Chance(2),
            checkpoint=Checkpoint(path, EVERY),
            progress=Listener(STOP_AFTER),
            **how,
        )
    listener = Listener()
    again = train(resumed, lesson, plan, Chance(2), checkpoint=Checkpoint(path, EVERY), progress=listener, **how)
    assert listener.heard[0] == RESUMED_FROM
    assert again == history
    assert examples.same_bits(through, resumed)
    assert not examples.same_bits(through, broken)
    return through


def plan(**changes) -> Training:
    return Training(**{"steps": STEPS, "batch_size": 8, "learning_rate": 0.01} | changes)


@pytest.mark.parametrize("annealing", ["constant", "cosine"])
@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_each_optimiser_resumes(tmp_path, optimiser, annealing):
    lesson = examples.lesson(weighted=True)
    check_resumes(tmp_path, examples.perceptron, lesson, plan(optimiser=optimiser, annealing=annealing, l2=1e-3))


def test_dropout_resumes(tmp_path):
    check_resumes(tmp_path, examples.with_dropout, examples.lesson(), plan())


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_sparse_embeddings_resume(tmp_path, optimiser):
    check_resumes(tmp_path, examples.sparse, examples.word_lesson(), plan(optimiser=optimiser))


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_text_students_resume(tmp_path, optimiser, layers):
    """Sparse gradients, dropout and batches of like length together."""
    lesson = examples.text_lesson(weighted=True)
    check_resumes(tmp_path, partial(examples.text_cnn, layers, dropout=0.5), lesson, plan(optimiser=optimiser))


def test_early_stopping_resumes_after_the_best_student(tmp_path):
    """The best student is seen before the break, so it must come back out of the file."""
    held_out = examples.lesson(seed=9)
    worsening = plan(learning_rate=0.2, optimiser="sgd", patience=6, check_every=5)
    held_out = Lesson(held_out.X, -held_out.y)
    check_resumes(tmp_path, examples.perceptron, examples.lesson(), worsening, held_out=held_out)
    history = train(examples.perceptron(), examples.lesson(), worsening, Chance(2), held_out=held_out)
    assert history.best_step < RESUMED_FROM < history.checked_at[-1]


def test_sampling_by_weight_resumes(tmp_path):
    lesson = examples.lesson(weighted=True)
    batches = ByProbability(lesson.weight, 8, Chance(4))
    check_resumes(tmp_path, examples.perceptron, lesson, plan(), batches=batches)


def test_alternating_batches_resume(tmp_path):
    batches = Alternating(20, 10, 8, Chance(4))
    check_resumes(tmp_path, examples.perceptron, examples.lesson(), plan(), batches=batches)


def test_a_finished_training_resumes_to_its_own_end(tmp_path):
    first, second = examples.perceptron(), examples.perceptron()
    checkpoint = Checkpoint(tmp_path / "training.safetensors", every=STEPS)
    history = train(first, examples.lesson(), plan(), Chance(2), checkpoint=checkpoint)
    listener = Listener()
    assert train(second, examples.lesson(), plan(), Chance(2), checkpoint=checkpoint, progress=listener) == history
    assert listener.heard == [STEPS]
    assert examples.same_bits(first, second)


def test_saving_changes_nothing(tmp_path):
    plain, saved = examples.with_dropout(), examples.with_dropout()
    train(plain, examples.lesson(), plan(), Chance(2))
    train(saved, examples.lesson(), plan(), Chance(2), checkpoint=Checkpoint(tmp_path / "c", every=1))
    assert examples.same_bits(plain, saved)
