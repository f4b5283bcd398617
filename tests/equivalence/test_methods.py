"""The ends of every dial: where two methods must be one."""

from dataclasses import replace

import numpy as np
import pytest

from fwl.learn import members
from fwl.learn.baselines import fidelity_ignored, mean_fidelity, weak_at_fixed_weight_then_strong, weak_then_strong
from fwl.learn.fidelity_weighted import fidelity_weighted
from fwl.learn.methods import METHODS
from fwl.learn.pretrain import pretrain
from fwl.randomness import Chance
from fwl.records import StrongSet
from fwl.students.inference import predict
from fwl.students.training import Training
from tests.problems import sine_problem, small_recipe

X = np.linspace(-3, 3, 50)[:, None]


def test_beta_zero_is_fwl_without_sigma_to_the_bit():
    problem, recipe = sine_problem(), small_recipe(beta=0.0)
    weighted = fidelity_weighted(problem, recipe, Chance(1)).predict(X)
    ignored = fidelity_ignored(problem, recipe.but(beta=3.0), Chance(1)).predict(X)
    assert np.array_equal(weighted, ignored)


def test_a_huge_beta_leaves_the_pretrained_student_to_the_bit():
    problem, recipe = sine_problem(), small_recipe(beta=1e6)
    taught = fidelity_weighted(problem, recipe, Chance(1)).predict(X)
    assert np.array_equal(taught, predict(pretrain(problem, recipe, Chance(1)), X))


def test_some_beta_between_is_neither():
    problem = sine_problem()
    predictions = [fidelity_weighted(problem, small_recipe(beta=b), Chance(1)).predict(X) for b in (0.0, 2.0)]
    assert np.abs(predictions[0] - predictions[1]).max() > 1e-4


@pytest.mark.parametrize("method", METHODS)
def test_one_seed_gives_one_student_and_another_gives_another(method):
    problem, recipe = sine_problem(), small_recipe()
    first, again, other = (METHODS[method](problem, recipe, Chance(s), None).predict(X) for s in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"FWL_auto"}))
def test_a_student_pretrained_beforehand_changes_nothing(method):
    problem, recipe = sine_problem(), small_recipe()
    student = pretrain(problem, recipe, Chance(3))
    before = predict(student, X)
    alone = METHODS[method](problem, recipe, Chance(3), None).predict(X)
    handed_in = METHODS[method](problem, recipe, Chance(3), student).predict(X)
    assert np.array_equal(alone, handed_in)
    assert np.array_equal(before, predict(student, X)), "the student handed in must stay as it was"


def test_omega_is_the_mean_of_fwls_fidelity():
    problem, recipe = sine_problem(), small_recipe()
    learned = weak_at_fixed_weight_then_strong(problem, recipe, Chance(2))
    soft = fidelity_weighted(problem, recipe, Chance(2)).soft
    assert learned.choices["omega"] == soft.fidelity.mean()
    assert 0.0 < mean_fidelity(problem, recipe, Chance(2)) <= 1.0


def test_omega_scales_the_weak_steps_under_sgd():
    sgd = Training(steps=20, batch_size=16, optimiser="sgd", learning_rate=0.05)
    problem, recipe = sine_problem(), small_recipe(pretraining=sgd)
    omega = mean_fidelity(problem, recipe, Chance(2))
    slower = Training(**{**vars(sgd), "learning_rate": 0.05 * omega})
    weighted = predict(pretrain(problem, recipe, Chance(2), weight=omega), X)
    scaled = predict(pretrain(problem, recipe.but(pretraining=slower), Chance(2)), X)
    np.testing.assert_allclose(weighted, scaled, atol=1e-5)
    assert not np.array_equal(weighted, predict(pretrain(problem, recipe, Chance(2)), X))


def test_an_annotator_that_is_always_right_leaves_nothing_to_correct():
    """With perfect weak labels and the student as prior mean, the teacher hardly moves the student."""
    problem = sine_problem(n_weak=200, weak=np.sin)
    long = Training(steps=1500, batch_size=32, learning_rate=3e-3)
    recipe = small_recipe(pretraining=long)
    recipe = recipe.but(teaching=type(recipe.teaching)(recipe.teaching.new_teacher, "x", False, "student"))
    student = predict(pretrain(problem, recipe, Chance(0)), X)
    taught = fidelity_weighted(problem, recipe, Chance(0)).predict(X)
    assert np.sqrt(np.mean((student - np.sin(X)) ** 2)) < 0.1
    assert np.sqrt(np.mean((taught - np.sin(X)) ** 2)) < 0.1


def test_an_annotator_that_is_always_wrong_is_corrected():
    problem = sine_problem(n_weak=100, n_strong=20, weak=lambda x: -np.sin(x))
    long = Training(steps=600, batch_size=32, learning_rate=3e-3)
    recipe = small_recipe(pretraining=long, finetuning=long)
    recipe = recipe.but(teaching=type(recipe.teaching)(recipe.teaching.new_teacher, "x"))
    weak = predict(pretrain(problem, recipe, Chance(0)), X)
    taught = fidelity_weighted(problem, recipe, Chance(0)).predict(X)
    error = [np.sqrt(np.mean((p - np.sin(X)) ** 2)) for p in (weak, taught)]
    assert error[0] > 1.0
    assert error[1] < 0.25


def test_the_first_of_four_averaged_students_is_weak_then_strong():
    problem, recipe = sine_problem(), small_recipe()
    four = METHODS["NN_W->Sx4"](problem, recipe, Chance(5), None)
    one = weak_then_strong(problem, recipe, Chance(5))
    assert len(four.students) == 4
    assert np.array_equal(predict(four.students[0], X), one.predict(X))
    mean = np.mean([predict(student, X) for student in four.students], axis=0)
    np.testing.assert_allclose(four.predict(X), mean, atol=1e-12)


def test_methods_that_want_the_same_student_get_it_trained_once(monkeypatch):
    problem, recipe = sine_problem(), small_recipe()
    pretrained = pretrain(problem, recipe, Chance(5))
    trained = []
    finetune = members.finetune_on_strong

    def counted(*arguments):
        trained.append(finetune(*arguments))
        return trained[-1]

    monkeypatch.setattr(members, "finetune_on_strong", counted)
    one = METHODS["NN_W->S"](problem, recipe, Chance(5), pretrained)
    four = METHODS["NN_W->Sx4"](problem, recipe, Chance(5), pretrained)
    assert len(trained) == 4
    assert four.students[0] is one.students[0]
    apart = METHODS["NN_W->Sx4"](problem, recipe, Chance(5), None)
    for shared, own in zip(four.students, apart.students, strict=True):
        assert np.array_equal(predict(shared, X), predict(own, X))
    other = METHODS["NN_W->S"](problem, recipe, Chance(6), pretrained)
    assert other.students[0] is not one.students[0]


def test_step_1_is_shared_by_problems_that_differ_in_their_strong_labels_alone(monkeypatch):
    problem, recipe, calls = sine_problem(), small_recipe(), []
    fewer = replace(problem, strong=StrongSet(problem.strong.X[:5], problem.strong.y[:5]))
    pretrain_ = members.pretrain

    def counted(*args):
        calls.append(args)
        return pretrain_(*args)

    alone = [METHODS["NN_W->Sx4"](p, recipe, Chance(1), None).predict(X) for p in (problem, fewer)]
    monkeypatch.setattr(members, "pretrain", counted)
    with members.sharing(members.Starts()):
        shared = [METHODS["NN_W->Sx4"](p, recipe, Chance(1), None).predict(X) for p in (problem, fewer)]
    assert len(calls) == 4
    assert np.array_equal(alone, shared)
