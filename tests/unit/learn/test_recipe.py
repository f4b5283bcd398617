import re

import numpy as np
import pytest
from tests.problems import small_recipe
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput, UnknownName, WrongShape
from fwl.learn.recipe import Auto, Problem, Recipe, Teaching
from fwl.learn.task import BINARY, MULTICLASS
from fwl.records import StrongSet, WeakSet
from fwl.students.training import Training


def weak(n=5, columns=1, outputs=1):
    return WeakSet(np.zeros((n, columns)), np.zeros((n, outputs)))


def strong(n=3, columns=1, outputs=1):
    return StrongSet(np.zeros((n, columns)), np.zeros((n, outputs)))


def says(text):
    return f"^{re.escape(text)}$"


def test_all_samples_are_the_weak_ones_then_the_strong_ones():
    problem = Problem(WeakSet([[1.0], [2.0]], [0, 0]), StrongSet([[3.0], [4.0]], [0, 0]))
    assert problem.all_samples[:, 0].tolist() == [1, 2, 3, 4]


def test_all_weak_labels_stand_in_the_order_of_all_samples():
    problem = Problem(WeakSet([[1.0], [2.0]], [5, 6]), StrongSet([[3.0], [4.0]], [0, 0], [7, 8]))
    assert problem.all_weak_labels[:, 0].tolist() == [5, 6, 7, 8]


def test_where_the_annotator_was_not_asked_about_the_strong_samples_there_are_none():
    assert Problem(weak(), strong()).all_weak_labels is None


def test_one_strong_sample_is_refused():
    message = (
        "got 1 sample with a strong label, expected at least 2: from one sample nobody can tell signal from noise; "
        "check a second one by hand, or train on the weak labels alone"
    )
    with pytest.raises(InvalidInput, match=says(message)):
        Problem(weak(), strong(1))


def test_samples_with_other_columns_are_refused():
    message = "weak samples have shape (5, 2) and strong samples (3, 1); expected the same columns in both"
    with pytest.raises(WrongShape, match=says(message)):
        Problem(weak(columns=2), strong())


def test_labels_with_other_columns_are_refused():
    message = "weak labels have shape (5, 3) and strong labels (3, 1); expected the same columns in both"
    with pytest.raises(WrongShape, match=says(message)):
        Problem(weak(outputs=3), strong())


@pytest.mark.parametrize("beta", [-1.0, float("nan"), float("inf")])
def test_a_beta_that_is_no_number_from_zero_up_is_refused(beta):
    message = (
        f"beta={beta}: expected a number from 0 up; 0 trusts the teacher everywhere, "
        "larger values stay closer to the weak labels"
    )
    with pytest.raises(InvalidInput, match=says(message)):
        small_recipe(beta=beta)


@pytest.mark.parametrize("rebalance", [-0.1, 1.5, float("nan")])
def test_classes_cannot_be_rebalanced_further_than_to_equal_ones(rebalance):
    message = f"rebalance={rebalance}: expected 0 (as they are) to 1 (equal classes)"
    with pytest.raises(InvalidInput, match=says(message)):
        Teaching(calibrate=True, rebalance=rebalance)


def test_only_calibrated_classes_can_be_rebalanced():
    message = "rebalance moves calibrated probabilities; set calibrate=True as well, or leave it at 0"
    with pytest.raises(InvalidInput, match=says(message)):
        Teaching(rebalance=0.5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"inputs": ()}, "auto: inputs is empty; name at least one to choose from"),
        ({"betas": ()}, "auto: betas is empty; name at least one to choose from"),
        ({"betas": (-1.0,)}, "auto: betas=(-1.0,): expected numbers from 0 up"),
        ({"prior_means": ()}, "auto: prior_means is empty; name at least one, or None for all that suit the task"),
        ({"held_out_share": 1.0}, "auto: held_out_share=1.0: expected a share between 0 and 1"),
        ({"folds": 1}, "auto: folds=1, crossfit=0: expected at least 2 folds, or crossfit=0 for none"),
        ({"share_folds": 1}, "auto: share_folds=1: expected at least 2 folds, or 0 for equal shares"),
        (
            {"share_folds": 2, "guest": lambda problem: None},
            "auto: with share_folds a linear model is the guest; leave guest at None, or folds at 0",
        ),
        ({"believed_rows": -1.0}, "auto: believed_rows=-1.0: expected a number of rows, 0 for none"),
        ({"crossfit": 1}, "auto: folds=3, crossfit=1: expected at least 2 folds, or crossfit=0 for none"),
    ],
)
def test_choices_that_cannot_be_made_are_refused_at_once(changes, message):
    with pytest.raises(InvalidInput, match=says(message)):
        Auto(**changes)


@pytest.mark.parametrize(
    ("y", "task", "message"),
    [
        (
            [[1.0, 0.0], [0.5, 0.6]],
            MULTICLASS,
            "weak labels of a multiclass task: expected a distribution over 2 classes, one-hot for a single one "
            "in each row, got [0.5, 0.6] in row 1",
        ),
        (
            [[0.0], [-1.0]],
            BINARY,
            "weak labels of a binary task: expected a probability in each row, got [-1.0] in row 1",
        ),
    ],
)
def test_labels_of_classes_are_probabilities(y, task, message):
    good = np.full_like(np.array(y), 0.5)
    with pytest.raises(InvalidInput, match=says(message)):
        Problem(WeakSet(np.zeros((2, 1)), y), StrongSet(np.zeros((2, 1)), good), task)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Teaching(input="pis"), "unknown teacher input 'pis'; did you mean 'psi'? known: x, psi, both"),
        (
            lambda: Teaching(prior_mean="zeros"),
            "unknown prior mean 'zeros'; did you mean 'zero'? known: zero, average, weak, student, student_and_weak",
        ),
        (
            lambda: small_recipe(uncertainty="rwa"),
            "unknown uncertainty 'rwa'; did you mean 'raw'? known: raw, relative",
        ),
        (
            lambda: small_recipe(fidelity_as="steps"),
            "unknown use of fidelity 'steps'; did you mean 'step'? known: step, sampling, nothing",
        ),
        (lambda: Auto(inputs=("x", "pis")), "unknown teacher input 'pis'; did you mean 'psi'? known: x, psi, both"),
        (
            lambda: Auto(prior_means=("studnet",)),
            "unknown prior mean 'studnet'; did you mean 'student'? "
            "known: zero, average, weak, student, student_and_weak",
        ),
        (
            lambda: Auto(kernels=("rfb",)),
            "unknown kernel 'rfb'; did you mean 'rbf'? known: rbf, matern32, rbf+linear, matern32+linear",
        ),
        (
            lambda: Auto(criterion="leftout"),
            "unknown criterion 'leftout'; did you mean 'left_out'? known: evidence, left_out",
        ),
    ],
)
def test_a_misspelt_choice_is_answered_with_the_nearest(make, message):
    with pytest.raises(UnknownName, match=says(message)):
        make()


@pytest.mark.parametrize(
    ("passes", "strong", "steps"), [(None, 40, 500), (40, 40, 50), (40, 300, 375), (40, 5000, 500), (1, 3, 50)]
)
def test_few_strong_samples_are_not_gone_over_hundreds_of_times(passes, strong, steps):
    recipe = Recipe(lambda chance: None, finetuning=Training(steps=500, batch_size=32), strong_passes=passes)
    assert recipe.on_strong(strong).steps == steps


def test_a_limit_of_no_passes_is_refused():
    with expect_refusal(InvalidInput, "strong_passes=0: expected at least 1, or None for no limit"):
        Recipe(lambda chance: None, strong_passes=0)
