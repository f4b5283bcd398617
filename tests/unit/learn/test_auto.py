from collections import Counter

import numpy as np
import pytest
import torch
from tests.problems import sine_problem, small_recipe
from torch import nn

from fwl.learn.auto import beta_errors, fidelity_weighted_auto
from fwl.learn.choose import choose_teacher
from fwl.learn.pretrain import pretrain
from fwl.randomness import Chance
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
