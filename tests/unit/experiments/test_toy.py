import re
from dataclasses import replace

import numpy as np
import pytest

from fwl.errors import FWLError
from fwl.experiments.toy import ToySettings, draw_problem, measure_toy, recipe_of
from fwl.experiments.toy import test_points as points

SMALL = ToySettings(hidden=(8,), pretrain_steps=5, finetune_steps=5)


def test_the_defaults_are_the_papers_where_it_gives_them():
    s = ToySettings()
    assert (s.true, s.weak, s.n_weak, s.n_strong) == ("sin(x)", "2*sinc(x)", 100, 10)
    assert (s.hidden, s.activation, s.optimiser, s.learning_rate) == ((128, 128, 128), "tanh", "adam", 0.001)
    assert (s.beta, s.lengthscale, s.prior_mean, s.hyperparameters) == (1.0, 1.0, "zero", "fixed")


def test_samples_lie_in_the_range_and_strong_labels_carry_little_noise():
    problem = draw_problem(ToySettings(n_strong=500), seed=3)
    assert problem.weak.X.shape == (100, 1)
    assert np.abs(problem.all_samples).max() <= 6.5
    np.testing.assert_allclose(problem.weak.y, 2 * np.sinc(problem.weak.X))
    residual = problem.strong.y - np.sin(problem.strong.X)
    assert 0.04 < residual.std() < 0.06


def test_more_strong_points_do_not_move_the_weak_ones():
    few, many = draw_problem(ToySettings(), 0), draw_problem(ToySettings(n_strong=50), 0)
    assert np.array_equal(few.weak.X, many.weak.X)


def test_test_points_span_the_range():
    x = points(ToySettings())
    assert (x[0, 0], x[-1, 0], len(x)) == (-6.5, 6.5, 200)


def test_one_seed_gives_one_outcome_and_curves_only_when_asked():
    methods = ("WA", "NN_W", "NN_W->S", "FWL")
    first = measure_toy(SMALL, "toy", methods, 1, True)
    again = measure_toy(SMALL, "toy", methods, 1, False)
    assert first.scores == again.scores
    assert first.data_sha256 == again.data_sha256
    assert [score.method for score in first.scores] == list(methods)
    assert {"teacher_sd", "method:FWL", "weak_x"} <= set(first.curves)
    assert again.curves == {}


def test_a_methods_score_does_not_depend_on_its_company():
    alone = measure_toy(SMALL, "toy", ("FWL",), 1, False).scores[0]
    together = measure_toy(SMALL, "toy", ("WA", "NN_W", "NN_S", "FWL"), 1, False).scores[3]
    assert alone == together


def test_the_annotators_row_is_the_weak_function_itself():
    (score,) = measure_toy(SMALL, "toy", ("WA",), 0, False).scores
    x = np.linspace(-6.5, 6.5, 200)
    assert score.value == pytest.approx(np.sqrt(np.mean((2 * np.sinc(x) - np.sin(x)) ** 2)))


def test_settings_reach_the_recipe():
    recipe = recipe_of(ToySettings(l2=0.1, beta=2.0, teacher_input="psi", auto_folds=4))
    assert recipe.pretraining.l2 == recipe.finetuning.l2 == recipe.auto.finetuning.l2 == 0.1
    assert (recipe.beta, recipe.teaching.input, recipe.auto.folds) == (2.0, "psi", 4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_weak": 0}, "setting n_weak=0: expected at least 1"),
        ({"n_strong": 0}, "setting n_strong=0: expected at least 1"),
        (
            {"n_strong": 1},
            "setting n_strong=1: expected at least 2; from one strong sample nobody can tell signal from noise",
        ),
        ({"x_range": float("nan")}, "setting x_range=nan: expected a number above 0"),
        ({"x_range": -1.0}, "setting x_range=-1.0: expected a number above 0"),
        ({"strong_noise": float("inf")}, "setting strong_noise=inf: expected a number from 0 up"),
        ({"learning_rate": 0.0}, "learning_rate is above 0, got 0.0"),
        ({"seed": -1}, "a seed is a whole number from 0 up, got -1"),
        ({"hidden": (0,)}, "a perceptron needs hidden layers and widths of at least 1, got [1, 0], 1"),
        ({"lengthscale": -1.0}, "RBF(lengthscale=-1.0): expected a number from 0 up"),
        (
            {"activation": "tan"},
            "unknown activation 'tan'; did you mean 'tanh'? known: tanh, relu, sigmoid, gelu, identity",
        ),
    ],
)
def test_settings_that_cannot_be_are_refused_before_any_work(changes, message):
    with pytest.raises(FWLError, match=f"^{re.escape(message)}$"):
        ToySettings(**changes)


def test_the_skew_of_the_fidelities_is_told_when_asked():
    skewed = measure_toy(SMALL, "toy", ("WA", "NN_W", "FWL", "FWL_s"), 0, False, with_skew=True)
    plain = measure_toy(SMALL, "toy", ("WA", "NN_W", "FWL", "FWL_s"), 0, False)
    assert skewed.scores[: len(plain.scores)] == plain.scores
    found = {score.method: score.value for score in skewed.scores[len(plain.scores) :]}
    assert set(found) == {"FWL", "FWL_s"}
    assert found["FWL"] == found["FWL_s"] < 1.0
    even = measure_toy(replace(SMALL, beta=0.0), "toy", ("FWL",), 0, False, with_skew=True)
    assert even.scores[-1].value == pytest.approx(1.0)
