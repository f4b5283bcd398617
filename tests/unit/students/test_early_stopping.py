"""Early stopping watches a held-out set and keeps the best student it saw."""

import dataclasses

import numpy as np
import pytest

from fwl.randomness import Chance
from fwl.students import Lesson, Training, predict, train
from tests import examples
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


def test_the_held_out_loss_is_weighted_like_the_lesson():
    lesson = examples.lesson()
    doubled = dataclasses.replace(lesson, weight=np.full(30, 2.0))
    one = train(examples.perceptron(), lesson, plan(steps=9, patience=9), Chance(0), held_out=lesson)
    two = train(examples.perceptron(), lesson, plan(steps=9, patience=9), Chance(0), held_out=doubled)
    assert two.held_out == pytest.approx([2 * loss for loss in one.held_out], rel=SINGLE)
