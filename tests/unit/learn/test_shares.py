import numpy as np
from tests.problems import class_problem, small_recipe

from fwl.learn.pretrain import pretrain
from fwl.learn.recipe import Auto
from fwl.learn.shares import SHARES, left_out_answers, log_likelihoods
from fwl.randomness import Chance
from fwl.records import StrongSet
from fwl.students.perceptron import Perceptron
from fwl.students.training import Training

SURE, EVEN, WRONG = np.array([[0.9, 0.1]] * 8), np.full((8, 2), 0.5), np.array([[0.1, 0.9]] * 8)
TRUTH = np.array([[1.0, 0.0]] * 8)


def share(teacher, students, y=TRUTH):
    return SHARES[log_likelihoods(teacher, students, y).argmax()]


def test_two_that_say_the_same_share_alike():
    assert share(SURE, SURE) == 0.5


def test_whoever_is_right_has_more():
    assert share(SURE, WRONG) > 0.8
    assert share(WRONG, SURE) < 0.2
    assert 0.5 < share(SURE, EVEN) < share(SURE, WRONG)


def test_one_label_hardly_moves_it():
    assert abs(share(SURE[:1], WRONG[:1], TRUTH[:1]) - 0.5) < abs(share(SURE, WRONG) - 0.5)


def test_a_label_that_was_called_impossible_is_not_infinitely_unlikely():
    never = np.array([[0.0, 1.0]] * 8)
    assert np.isfinite(log_likelihoods(never, never, TRUTH)).all()


def test_mixing_is_written_out():
    scores = log_likelihoods(SURE, EVEN, TRUTH)
    for at, s in enumerate(SHARES):
        assert np.isclose(scores[at], 8 * np.log(s * 0.9 + (1 - s) * 0.5) + np.log(s * (1 - s)))


def test_a_student_answers_for_rows_whose_labels_it_has_not_seen():
    data = class_problem()
    recipe = small_recipe(
        new_student=lambda chance: Perceptron(4, 3, (8,), "relu", chance=chance),
        pretraining=Training(steps=20, batch_size=32),
        finetuning=Training(steps=10, batch_size=32),
        auto=Auto(share_folds=len(data.problem.strong.X)),  # each label is left out by itself
    )
    student = pretrain(data.problem, recipe, Chance(0))
    answers = left_out_answers(student, data.problem, recipe, Chance(0))
    strong = data.problem.strong
    y = strong.y.copy()
    y[3] = np.roll(y[3], 1)
    other = data.problem.__class__(data.problem.weak, StrongSet(strong.X, y, strong.weak), data.problem.task)
    changed = left_out_answers(student, other, recipe, Chance(0))
    assert np.array_equal(answers[3], changed[3])
    assert not np.array_equal(answers, changed)
