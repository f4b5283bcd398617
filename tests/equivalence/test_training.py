"""The training loop against the update that the paper writes down."""

import dataclasses

import numpy as np
import pytest
import torch

from fwl.randomness import Chance
from fwl.students import Lesson, Training, train
from tests import examples
from tests.oracles.weighted_step import weighted_step
from tests.tolerances import SINGLE


@pytest.mark.parametrize("l2", [0.0, 0.01])
@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_all_weights_one_is_no_weights(optimiser, l2):
    plain, weighted = examples.perceptron(), examples.perceptron()
    lesson, plan = examples.lesson(), Training(steps=25, batch_size=8, optimiser=optimiser, l2=l2)
    all_one = dataclasses.replace(lesson, weight=np.ones(len(lesson.X)))
    history = train(plain, lesson, plan, Chance(1))
    assert train(weighted, all_one, plan, Chance(1)) == history
    assert examples.same_bits(plain, weighted)


def test_the_weights_matter():
    plain, weighted = examples.perceptron(), examples.perceptron()
    train(plain, examples.lesson(), Training(steps=5), Chance(1))
    train(weighted, examples.lesson(weighted=True), Training(steps=5), Chance(1))
    assert not examples.same_bits(plain, weighted)


@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_a_weighted_step_is_the_mean_of_scaled_steps(l2):
    student, plain = examples.perceptron(n_outputs=2), examples.perceptron(n_outputs=2)
    rng = np.random.default_rng(3)
    lesson = Lesson(rng.normal(size=(9, 3)), rng.normal(size=(9, 2)), rng.uniform(size=9))
    steps, rate = 4, 0.1
    train(student, lesson, Training(steps, batch_size=9, optimiser="sgd", learning_rate=rate, l2=l2), Chance(0))
    for _ in range(steps):
        weighted_step(plain, lesson.X, lesson.y, lesson.weight, rate, l2)
    for learned, expected in zip(student.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(learned, expected, rtol=SINGLE, atol=SINGLE)


@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_weights_of_zero_teach_nothing(l2):
    student, before = examples.perceptron(), examples.perceptron()
    lesson = dataclasses.replace(examples.lesson(), weight=np.zeros(30))
    train(student, lesson, Training(steps=5, optimiser="sgd", l2=l2), Chance(0))
    assert examples.same_bits(student, before)


def test_a_weight_of_zero_removes_its_sample_but_not_its_place_in_the_mean():
    student, fewer = examples.perceptron(), examples.perceptron()
    lesson = examples.lesson(n=8)
    half = dataclasses.replace(lesson, weight=np.repeat([1.0, 0.0], 4))
    train(student, half, Training(steps=3, optimiser="sgd", learning_rate=0.2), Chance(0))
    kept = Lesson(lesson.X[:4], lesson.y[:4])
    train(fewer, kept, Training(steps=3, optimiser="sgd", learning_rate=0.1), Chance(0))
    for one, other in zip(student.parameters(), fewer.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=SINGLE, atol=SINGLE)


def test_the_same_chance_gives_the_same_bits():
    one, other = examples.with_dropout(), examples.with_dropout()
    plan = Training(steps=20, batch_size=4)
    train(one, examples.lesson(), plan, Chance(5))
    train(other, examples.lesson(), plan, Chance(5))
    assert examples.same_bits(one, other)
