"""Early stopping watches a held-out set and keeps the best student it saw."""

import dataclasses

import numpy as np
import pytest

from fwl.errors import NumericalTrouble
from fwl.randomness import Chance
from fwl.students import Lesson, Training, inference, predict, train
from tests import examples
from tests.refusals import expect_refusal
from tests.tolerances import SINGLE


def opposite(lesson: Lesson) -> Lesson:
    """A held-out set that gets worse as the lesson is learned."""
    return dataclasses.replace(lesson, y=-3 * lesson.y)


def held_out_loss(student, lesson: Lesson) -> float:
    return float(np.mean((predict(student, lesson.X) - lesson.y) ** 2))


def plan(**changes) -> Training:
    given = {"steps": 100, "batch_size": 30, "optimiser": "sgd", "learning_rate": 0.1, "patience": 2, "check_every": 3}
    return Training(**given | changes)


def test_it_stops_when_patience_is_used_up():
    history = train(examples.perceptron(), examples.lesson(), plan(), Chance(0), held_out=opposite(examples.lesson()))
    assert history.stopped_early
    assert history.best_step == 3
    assert history.checked_at == [3, 6, 9]
    assert len(history.loss) == 9


@pytest.mark.parametrize("patience", [1, 2, 5])
def test_patience_counts_checks_without_a_better_one(patience):
    held_out = opposite(examples.lesson())
    history = train(examples.perceptron(), examples.lesson(), plan(patience=patience), Chance(0), held_out=held_out)
    assert len(history.held_out) == patience + 1


def test_the_best_student_is_put_back():
    student, best = examples.perceptron(), examples.perceptron()
    held_out = opposite(examples.lesson())
    history = train(student, examples.lesson(), plan(), Chance(0), held_out=held_out)
    train(best, examples.lesson(), plan(steps=history.best_step, patience=None), Chance(0))
    assert examples.same_bits(student, best)
    assert held_out_loss(student, held_out) == pytest.approx(min(history.held_out), rel=SINGLE)


def test_the_best_of_a_wandering_loss_is_put_back():
    """Noisy small batches: the best check is neither the first nor the last."""
    student, held_out = examples.perceptron(), examples.lesson(seed=1)
    noisy = plan(batch_size=2, learning_rate=0.3, patience=50, check_every=1)
    history = train(student, examples.lesson(), noisy, Chance(0), held_out=held_out)
    best = int(np.argmin(history.held_out))
    assert 0 < best < len(history.held_out) - 1
    assert history.best_step == history.checked_at[best]
    assert held_out_loss(student, held_out) == pytest.approx(history.held_out[best], rel=SINGLE)


def test_a_loss_that_keeps_falling_trains_to_the_end():
    lesson = examples.lesson()
    history = train(examples.perceptron(), lesson, plan(steps=30, learning_rate=0.01), Chance(0), held_out=lesson)
    assert not history.stopped_early
    assert history.best_step == len(history.loss) == 30


def test_too_few_steps_for_a_check_keep_the_last_student():
    student, plain = examples.perceptron(), examples.perceptron()
    lesson = examples.lesson()
    history = train(student, lesson, plan(steps=2), Chance(0), held_out=opposite(lesson))
    train(plain, lesson, plan(steps=2, patience=None), Chance(0))
    assert history.best_step == 2
    assert examples.same_bits(student, plain)


def test_without_patience_nobody_watches():
    lesson = examples.lesson()
    watched = plan(steps=9, patience=None)
    history = train(examples.perceptron(), lesson, watched, Chance(0), held_out=opposite(lesson))
    assert history.held_out == []
    assert len(history.loss) == 9


def test_watching_changes_no_step():
    """Dropout is off while watching and its stream goes on undisturbed."""
    lesson = examples.lesson()
    watched = train(examples.with_dropout(), lesson, plan(steps=9, patience=9), Chance(0), held_out=lesson)
    alone = train(examples.with_dropout(), lesson, plan(steps=9, patience=None), Chance(0))
    assert watched.loss == alone.loss


def agreement(outputs: np.ndarray, targets: np.ndarray) -> float:
    return float((outputs * targets).mean())


def test_what_is_watched_decides_where_to_stop():
    """The held-out loss grows from the start while the agreement, here wanted small, falls."""
    student, lesson = examples.perceptron(), examples.lesson()
    held_out = opposite(lesson)
    by_loss = train(examples.perceptron(), lesson, plan(steps=30), Chance(0), held_out=held_out)
    watched = train(student, lesson, plan(steps=30), Chance(0), held_out=held_out, watch=agreement)
    assert by_loss.best_step < watched.best_step
    assert min(watched.held_out) == pytest.approx(agreement(predict(student, held_out.X), held_out.y), rel=SINGLE)


def test_a_watch_sees_outputs_and_targets_in_the_order_of_the_set():
    seen, held_out = [], examples.text_lesson(seed=1)
    student = examples.text_cnn()

    def watch(outputs, targets):
        seen.append((outputs, targets))
        return 0.0

    train(student, examples.text_lesson(), plan(steps=3), Chance(0), held_out=held_out, watch=watch)
    outputs, targets = seen[0]
    np.testing.assert_allclose(outputs, predict(student, held_out.X), rtol=0, atol=SINGLE)
    np.testing.assert_allclose(targets, held_out.y, rtol=SINGLE)
    assert outputs.dtype == targets.dtype == np.float64


def test_a_watch_that_is_no_number_is_trouble():
    message = "the watched quantity became nan at step 3; try a smaller learning rate (now 0.1) or standardised inputs"
    with expect_refusal(NumericalTrouble, message):
        train(
            examples.perceptron(),
            examples.lesson(),
            plan(),
            Chance(0),
            held_out=examples.lesson(),
            watch=lambda outputs, targets: float("nan"),
        )


@pytest.mark.parametrize(
    ("make", "make_lesson"), [(examples.perceptron, examples.lesson), (examples.text_cnn, examples.text_lesson)]
)
def test_a_held_out_set_in_chunks_has_the_weighted_mean_of_the_whole(monkeypatch, make, make_lesson):
    held_out = make_lesson(weighted=True)
    whole = train(make(), make_lesson(), plan(steps=9, patience=9), Chance(0), held_out=held_out)
    monkeypatch.setattr(inference, "CHUNK", 7)
    chunks = train(make(), make_lesson(), plan(steps=9, patience=9), Chance(0), held_out=held_out)
    assert chunks.held_out == pytest.approx(whole.held_out, rel=SINGLE)
    assert chunks.loss == whole.loss


def test_the_held_out_loss_is_weighted_like_the_lesson():
    lesson = examples.lesson()
    doubled = dataclasses.replace(lesson, weight=np.full(30, 2.0))
    one = train(examples.perceptron(), lesson, plan(steps=9, patience=9), Chance(0), held_out=lesson)
    two = train(examples.perceptron(), lesson, plan(steps=9, patience=9), Chance(0), held_out=doubled)
    assert two.held_out == pytest.approx([2 * loss for loss in one.held_out], rel=SINGLE)
