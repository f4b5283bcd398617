from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.problems import class_problem, class_recipe, sine_problem, small_recipe
from tests.refusals import expect_refusal
from tests.tolerances import OPTIMISED

from fwl.errors import InvalidInput
from fwl.learn.linear import STRENGTHS, balanced_linear, fit_linear
from fwl.learn.recipe import Problem
from fwl.learn.task import BINARY, MULTICLASS
from fwl.randomness import Chance
from fwl.records import StrongSet, WeakSet


def learned(problem):
    return balanced_linear(problem, class_recipe(), Chance(0))


@pytest.mark.parametrize("classes", [2, 3])
def test_it_is_scikit_learns_balanced_regression_on_columns_of_one_scale(classes):
    made = class_problem(classes=classes)
    ours = learned(made.problem).predict(made.X)
    strong, everything = made.problem.strong, made.problem.all_samples
    scale = np.sqrt(everything.var(axis=0).mean())
    labels = strong.y[:, 0] > 0.5 if classes == 2 else strong.y.argmax(axis=1)
    theirs = [
        LogisticRegression(C=C, class_weight="balanced", max_iter=1000)
        .fit((strong.X - everything.mean(axis=0)) / scale, labels)
        .predict_proba((made.X - everything.mean(axis=0)) / scale)
        for C in STRENGTHS
    ]
    theirs = [p[:, 1:] if classes == 2 else p for p in theirs]
    assert min(np.abs(ours - p).max() for p in theirs) < OPTIMISED


@pytest.mark.parametrize("classes", [2, 3])
def test_left_out_probabilities_do_not_know_the_label_they_are_of(classes, monkeypatch):
    monkeypatch.setattr("fwl.learn.linear.STRENGTHS", (1e-1,))  # which one is chosen may depend on every label
    made = class_problem(classes=classes)
    strong = made.problem.strong
    said = fit_linear(made.problem, Chance(0)).left_out
    y = strong.y.copy()
    y[3] = 1.0 - y[3] if classes == 2 else np.roll(y[3], 1)
    changed = fit_linear(replace(made.problem, strong=StrongSet(strong.X, y)), Chance(0)).left_out
    assert said.shape == (len(strong.X), classes)
    np.testing.assert_allclose(said.sum(axis=1), 1.0)
    assert np.array_equal(said[3], changed[3])
    assert not np.allclose(said, changed)


def test_few_columns_that_tell_the_classes_apart_are_hardly_regularised():
    X = np.linspace(-1.0, 1.0, 60)[:, None]
    labels = (X > 0.1).astype(float)
    problem = Problem(WeakSet(X, labels), StrongSet(X, labels), BINARY)
    said = learned(problem).predict(X)
    assert np.array_equal(said > 0.5, labels > 0.5)
    assert (np.maximum(said, 1.0 - said)[np.abs(X - 0.1) > 0.3] > 0.9).all()


def test_with_one_class_nothing_is_left_out():
    problem = class_problem(classes=3).problem
    rows = problem.strong.y[:, 1] == 1
    alike = replace(problem, strong=StrongSet(problem.strong.X[rows], problem.strong.y[rows]))
    assert fit_linear(alike, Chance(0)).left_out is None


def test_classes_without_a_strong_label_are_never_named():
    made = class_problem(classes=3)
    strong = made.problem.strong
    rows = strong.y[:, 1] == 0
    some = Problem(made.problem.weak, StrongSet(strong.X[rows], strong.y[rows]), MULTICLASS)
    predicted = learned(some).predict(made.X)
    assert predicted[:, 1].max() < 1e-9
    np.testing.assert_allclose(predicted.sum(axis=1), 1.0)


def test_numbers_are_a_ridge_regression():
    problem = sine_problem(true=lambda x: 3.0 * x + 1.0)
    predicted = balanced_linear(problem, small_recipe(), Chance(0)).predict(np.array([[0.0], [2.0]]))
    np.testing.assert_allclose(predicted, [[1.0], [7.0]], atol=0.05)


def test_of_samples_with_parts_it_reads_the_vector():
    made = class_problem(classes=3)
    dtype = [("tokens", np.int32, (2,)), ("vector", np.float32, (4,))]

    def parts(X):
        samples = np.zeros(len(X), dtype=dtype)
        samples["vector"] = X
        return samples

    weak, strong = made.problem.weak, made.problem.strong
    problem = Problem(WeakSet(parts(weak.X), weak.y), StrongSet(parts(strong.X), strong.y), MULTICLASS)
    np.testing.assert_allclose(
        learned(problem).predict(parts(made.X)), learned(made.problem).predict(made.X), atol=OPTIMISED
    )


def test_samples_without_numbers_are_refused():
    samples = np.zeros(3, dtype=[("tokens", np.int32, (2,))])
    problem = Problem(WeakSet(samples, np.eye(3)), StrongSet(samples, np.eye(3)), MULTICLASS)
    message = "LR_S reads numbers; these samples have none (parts: tokens); choose another"
    with expect_refusal(InvalidInput, message):
        learned(problem)
