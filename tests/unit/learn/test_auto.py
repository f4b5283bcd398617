from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.problems import class_problem, class_recipe, sine_problem, small_recipe
from tests.tolerances import ALGEBRA, SINGLE
from torch import nn

from fwl.evaluate.calibration import accuracy
from fwl.learn import choose
from fwl.learn.auto import _refit, beta_errors, fidelity_weighted_auto
from fwl.learn.choose import choose_teacher
from fwl.learn.eyes import FoldStudents
from fwl.learn.pretrain import pretrain
from fwl.randomness import Chance
from fwl.records import StrongSet
from fwl.students.wrapped import WrappedStudent


def student_that_says(function):
    """A student that sees x as it is and answers with a given function."""
    return WrappedStudent(nn.Identity(), lambda _, x: x, lambda _, psi: function(psi))


def choices(function, seeds=10):
    """How often each prior mean is chosen for sin(4x), ten strong labels and a student that says `function`."""
    found = Counter()
    for seed in range(seeds):
        problem = sine_problem(n_strong=10, seed=seed, true=lambda x: np.sin(4 * x))
        teacher, _ = choose_teacher(student_that_says(function), problem, small_recipe(), Chance(0))
        found[teacher.teaching.prior_mean] += 1
    return found


def test_a_student_that_is_nearly_right_becomes_the_prior_mean():
    assert choices(lambda x: torch.sin(4 * x) + 0.1)["student"] >= 9


def test_a_student_that_knows_nothing_does_not():
    assert choices(lambda x: torch.cos(23 * x + 1))["zero"] >= 7


def test_every_candidate_has_its_score_and_the_best_is_taken():
    problem = sine_problem(n_strong=10)
    teacher, scores = choose_teacher(student_that_says(torch.sin), problem, small_recipe(), Chance(0))
    assert set(scores) == {f"{i}, {m}" for i in ("x", "psi", "both") for m in ("zero", "student")}
    assert (
        max(scores, key=lambda name: scores[name]["evidence"])
        == f"{teacher.teaching.input}, {teacher.teaching.prior_mean}"
    )


def test_every_beta_gets_its_error_and_the_least_is_taken():
    problem, recipe = sine_problem(), small_recipe()
    learned = fidelity_weighted_auto(problem, recipe, Chance(0))
    errors = {float(beta): error for beta, error in learned.choices["beta_errors"].items()}
    assert set(errors) == set(recipe.auto.betas)
    assert learned.choices["beta"] == min(errors, key=errors.get)
    assert np.allclose(learned.soft.fidelity, np.exp(-learned.choices["beta"] * learned.soft.uncertainty))


def test_cross_validation_never_shows_a_fold_its_own_labels():
    """Labels that carry no signal cannot be predicted better than their own variance."""
    problem = sine_problem(n_strong=40)
    problem.strong.y[:] = np.random.default_rng(1).normal(size=(40, 1))
    student = pretrain(problem, small_recipe(), Chance(0))
    teacher, _ = choose_teacher(student, problem, small_recipe(), Chance(0))
    recipe = small_recipe().but(uncertainty="relative")
    errors = beta_errors(student, teacher, problem, recipe, Chance(0))
    assert min(errors.values()) > 0.6 * problem.strong.y.var()


@pytest.mark.parametrize("n_strong", [2, 3])
def test_the_fewest_strong_samples_still_work(n_strong):
    learned = fidelity_weighted_auto(sine_problem(n_strong=n_strong), small_recipe(), Chance(0))
    assert np.isfinite(learned.predict(np.zeros((3, 1)))).all()


def cross_fitted_only(monkeypatch):
    """Let the cross-fitted candidates win, whatever the labels say."""
    scores = lambda fitted, _: {"evidence": float(isinstance(fitted.view.eyes, FoldStudents)), "left_out": 0.0}  # noqa: E731
    monkeypatch.setattr(choose, "_scores", scores)


def test_cross_fitted_eyes_keep_their_folds_when_labels_are_left_out(monkeypatch):
    """Labels that carry no signal cannot be predicted, even by students that were fine-tuned on some of them."""
    cross_fitted_only(monkeypatch)
    problem = sine_problem(n_strong=40)
    problem.strong.y[:] = np.random.default_rng(1).normal(size=(40, 1))
    recipe = small_recipe(uncertainty="relative")
    recipe = recipe.but(auto=replace(recipe.auto, inputs=("psi",), prior_means=("student",), crossfit=2))
    student = pretrain(problem, recipe, Chance(0))
    teacher, _ = choose_teacher(student, problem, recipe, Chance(0))
    assert isinstance(teacher.view.eyes, FoldStudents)
    errors = beta_errors(student, teacher, problem, recipe, Chance(0))
    assert min(errors.values()) > 0.6 * problem.strong.y.var()


def test_a_teacher_that_forgets_some_labels_sees_the_others_as_before(monkeypatch):
    cross_fitted_only(monkeypatch)
    problem, recipe = sine_problem(n_strong=12), small_recipe()
    recipe = recipe.but(auto=replace(recipe.auto, inputs=("psi",), prior_means=("student",), crossfit=3))
    teacher, _ = choose_teacher(pretrain(problem, recipe, Chance(0)), problem, recipe, Chance(0))
    kept = np.array([1, 4, 5, 8, 11])
    some = StrongSet(problem.strong.X[kept], problem.strong.y[kept])
    forgetful = _refit(teacher, some, kept)
    before = teacher.view.of_strong(problem.strong)[kept]
    np.testing.assert_allclose(forgetful.view.of_strong(some), before, rtol=0, atol=SINGLE)
    assert forgetful.teacher.kernel_ == teacher.teacher.kernel_
    assert forgetful.prior is teacher.prior
    assert not np.allclose(forgetful.posterior(problem.weak.X).mean, teacher.posterior(problem.weak.X).mean)


def test_a_cross_fitted_choice_is_taught_and_recorded(monkeypatch):
    cross_fitted_only(monkeypatch)
    recipe = small_recipe()
    recipe = recipe.but(auto=replace(recipe.auto, inputs=("psi",), prior_means=("zero",), crossfit=2))
    learned = fidelity_weighted_auto(sine_problem(), recipe, Chance(0))
    assert set(learned.choices["teacher_scores"]) == {"psi, zero", "psi, zero, cross-fitted"}
    assert len(learned.teacher.view.eyes.students) == 2
    assert np.isfinite(learned.predict(np.zeros((3, 1)))).all()


@pytest.mark.parametrize("criterion", ["evidence", "left_out"])
def test_what_was_decided_is_recorded_with_the_figures_behind_it(criterion):
    recipe = small_recipe()
    recipe = recipe.but(auto=replace(recipe.auto, inputs=("x",), prior_means=("zero", "student"), criterion=criterion))
    learned = fidelity_weighted_auto(sine_problem(), recipe, Chance(0))
    choices, scores = learned.choices, learned.choices["teacher_scores"]
    assert choices["criterion"] == criterion
    assert max(scores, key=lambda name: scores[name][criterion]) == f"{choices['input']}, {choices['prior_mean']}"
    assert all(set(score) == {"evidence", "left_out"} for score in scores.values())
    assert set(choices) == {
        "input", "prior_mean", "beta", "criterion", "teacher_scores", "beta_errors", "pretrain_steps",
    }  # fmt: skip
    assert learned.worth.measure == "rmse"


@pytest.mark.parametrize("classes", [2, 3])
def test_on_classes_the_student_is_better_than_the_annotator(classes):
    gains = []
    for seed in range(2):
        example = class_problem(n_weak=400, n_strong=100, classes=classes, seed=seed)
        learned = fidelity_weighted_auto(example.problem, class_recipe(1 if classes == 2 else 3), Chance(seed))
        p = learned.predict(example.X)
        gains.append(accuracy(example.y, p) - accuracy(example.y, example.weak))
        assert ((p >= 0) & (p <= 1)).all()
        if classes == 3:
            np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=ALGEBRA)
            np.testing.assert_allclose(learned.soft.label.sum(axis=1), 1.0, atol=ALGEBRA)
        names = {f"{i}, {m}" for i in ("x", "psi") for m in ("average", "student_and_weak")}
        assert set(learned.choices["teacher_scores"]) == names
    assert min(gains) > 0.03
    assert np.mean(gains) > 0.07
