import numpy as np
from tests.problems import sine_problem, small_recipe

from fwl.learn.pretrain import pretrain, pretrain_until_it_generalises
from fwl.learn.recipe import Auto, Problem
from fwl.randomness import Chance
from fwl.records import StrongSet, WeakSet
from fwl.students.inference import predict
from fwl.students.training import Training


def test_step_one_never_sees_a_strong_label():
    problem = sine_problem()
    lying = Problem(problem.weak, StrongSet(problem.strong.X, problem.strong.y + 100))
    X = problem.weak.X
    honest, lied = (predict(pretrain(p, small_recipe(), Chance(0)), X) for p in (problem, lying))
    assert np.array_equal(honest, lied)


def test_early_stopping_stops_where_held_out_weak_labels_stop_improving():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    noise = Problem(WeakSet(X, rng.normal(size=60)), StrongSet(X[:2], [0.0, 1.0]))
    patient = Training(steps=3000, batch_size=16, learning_rate=3e-3, patience=3, check_every=5)
    recipe = small_recipe(auto=Auto(pretraining=patient))
    _, best_step = pretrain_until_it_generalises(noise, recipe, Chance(0))
    assert best_step < 1500  # labels of pure noise have nothing to teach


def test_a_single_weak_label_is_learned_all_the_same():
    problem = Problem(WeakSet([[0.0]], [1.0]), StrongSet([[0.0], [1.0]], [0.0, 1.0]))
    student, _ = pretrain_until_it_generalises(problem, small_recipe(), Chance(0))
    assert np.isfinite(predict(student, np.zeros((1, 1)))).all()
