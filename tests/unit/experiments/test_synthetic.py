from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA

from fwl.errors import InvalidInput, WrongShape
from fwl.evaluate.calibration import accuracy, expected_calibration_error
from fwl.experiments.synthetic import GaussianClasses, SmoothClasses
from fwl.randomness import Chance

TASKS = [
    SmoothClasses(),
    SmoothClasses(columns=2, informative=1, classes=2, imbalance=19.0),
    SmoothClasses(columns=30, classes=6, sharpness=6.0),
    GaussianClasses(),
    GaussianClasses(columns=40, classes=5, imbalance=10.0),
]
NAMES = ["smooth", "two, one rare", "many", "clouds", "many clouds"]
of_every_task = pytest.mark.parametrize("task", TASKS, ids=NAMES)


@of_every_task
def test_shapes_and_the_simplex(task):
    X = task.draw(50, Chance(1))
    p, y = task.posterior(X), task.label(X, Chance(1))
    assert X.shape == (50, task.columns)
    assert p.shape == y.shape == (50, task.classes)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=ALGEBRA)
    assert set(np.unique(y)) == {0.0, 1.0}
    assert (y.sum(axis=1) == 1).all()


@of_every_task
def test_the_same_chance_draws_the_same(task):
    X = task.draw(50, Chance(1))
    assert np.array_equal(X, task.draw(50, Chance(1)))
    assert not np.array_equal(X, task.draw(50, Chance(2)))
    assert np.array_equal(task.label(X, Chance(1)), task.label(X, Chance(1)))
    assert not np.array_equal(task.label(X, Chance(1)), task.label(X, Chance(2)))


@of_every_task
def test_a_task_is_its_fields_and_its_chance(task):
    X, again, other = task.draw(50, Chance(1)), replace(task), replace(task, chance=Chance(1))
    assert again == task
    assert np.array_equal(task.posterior(X), again.posterior(X))
    assert not np.allclose(task.posterior(X), other.posterior(X))


@of_every_task
def test_labels_mean_what_the_posterior_says(task):
    X = task.draw(20_000, Chance(3))
    y, p = task.label(X, Chance(3)), task.posterior(X)
    assert expected_calibration_error(y, p) < 0.015
    assert accuracy(y, p) == pytest.approx(p.max(axis=1).mean(), abs=0.012)
    np.testing.assert_allclose(y.mean(axis=0), p.mean(axis=0), atol=0.012)


@of_every_task
def test_classes_are_as_common_as_planted(task):
    share = task.posterior(task.draw(20_000, Chance(4))).mean(axis=0)
    np.testing.assert_allclose(share, np.exp(task.log_prior), atol=0.02)
    assert share[0] / share[-1] == pytest.approx(task.imbalance, rel=0.3)


def test_sharper_classes_are_easier():
    means = []
    for sharpness in (0.0, 1.0, 3.0, 10.0):
        task = SmoothClasses(sharpness=sharpness)
        means.append(task.posterior(task.draw(2000, Chance(0))).max(axis=1).mean())
    assert means == sorted(means)
    assert means[0] == pytest.approx(1 / 3, abs=ALGEBRA)
    assert means[-1] > 0.9


def test_only_informative_columns_count():
    task = SmoothClasses(columns=6, informative=2)
    X, other = task.draw(20, Chance(0)), task.draw(20, Chance(1))
    moved = np.hstack([X[:, :2], other[:, 2:]])
    assert np.array_equal(task.posterior(X), task.posterior(moved))
    assert not np.allclose(task.posterior(X), task.posterior(np.hstack([other[:, :2], X[:, 2:]])))


def test_neighbours_have_like_probabilities():
    task = SmoothClasses()
    X = task.draw(500, Chance(0))
    assert np.abs(task.posterior(X) - task.posterior(X + 0.01)).max() < 0.05


def test_clouds_follow_bayes_rule():
    task = GaussianClasses(columns=2, classes=3, imbalance=4.0)
    centres, widths = task._clouds()
    X = task.draw(5, Chance(0))
    density = np.array([[np.prod(norm.pdf(x, c, w)) for c, w in zip(centres, widths, strict=True)] for x in X])
    joint = density * np.exp(task.log_prior)
    np.testing.assert_allclose(task.posterior(X), joint / joint.sum(axis=1, keepdims=True), atol=ALGEBRA)


def test_the_annotator_is_as_good_as_planted():
    """Right logits and no flips is Bayes' own decision; distortion and flips each take their share."""
    chance = Chance(9)

    def agreement(**planted):
        task = SmoothClasses(**planted)
        X = task.draw(5000, chance)
        weak = task.annotate(X, chance)
        assert weak.shape == (5000, 3)
        assert (weak.sum(axis=1) == 1).all()
        return (weak.argmax(axis=1) == task.posterior(X).argmax(axis=1)).mean()

    assert agreement(distortion=0.0, flips=0.0) == 1.0
    assert agreement(distortion=0.0, flips=0.3) == pytest.approx(0.8, abs=0.02)  # a third are drawn right again
    distorted = [agreement(distortion=d, flips=0.0) for d in (0.0, 0.2, 0.5, 1.0)]
    assert distorted == sorted(distorted, reverse=True)
    assert distorted[-1] < 0.55


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"classes": 1}, "classes=1: expected at least 2"),
        ({"columns": 0}, "columns=0: expected at least 1"),
        ({"imbalance": 0.5}, "imbalance=0.5: expected at least 1"),
        ({"informative": 0}, "informative=0: expected at least 1"),
        ({"informative": 11}, "informative=11: expected at most the 10 columns of x"),
        ({"sharpness": float("nan")}, "sharpness=nan: expected at least 0"),
        ({"lengthscale": 0.0}, "lengthscale=0.0: expected a number above 0"),
        ({"flips": 1.5}, "flips=1.5: expected a share from 0 to 1"),
        ({"distortion": -0.1}, "distortion=-0.1: expected a share from 0 to 1"),
    ],
)
def test_tasks_that_cannot_be_are_refused(fields, message):
    with expect_refusal(InvalidInput, message):
        SmoothClasses(**fields)


def test_clouds_that_cannot_be_are_refused():
    with expect_refusal(InvalidInput, "distance=-1.0: expected at least 0"):
        GaussianClasses(distance=-1.0)


@pytest.mark.parametrize("task", [TASKS[0], TASKS[3]], ids=["smooth", "clouds"])
def test_samples_of_another_width_are_refused(task):
    with expect_refusal(WrongShape, "samples: expected [N, 10], got shape (5, 4)"):
        task.posterior(np.zeros((5, 4)))
