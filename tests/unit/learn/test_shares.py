import numpy as np
import pytest
from tests.problems import class_problem, small_recipe

from fwl.learn.pretrain import pretrain
from fwl.learn.recipe import Auto
from fwl.learn.shares import BELIEVED, left_out_answers, most_likely_shares
from fwl.randomness import Chance
from fwl.records import StrongSet
from fwl.students.perceptron import Perceptron
from fwl.students.training import Training

SURE, EVEN, WRONG = np.array([[0.9, 0.1]] * 8), np.full((8, 2), 0.5), np.array([[0.1, 0.9]] * 8)
TRUTH = np.array([[1.0, 0.0]] * 8)


def shares(y=TRUTH, **said):
    return most_likely_shares(said, y)


def test_sides_that_say_the_same_have_the_shares_believed_beforehand():
    found = shares(teacher=SURE, students=SURE, linear=SURE)
    assert found == pytest.approx({"teacher": 0.5, "students": 0.25, "linear": 0.25})
    assert shares(teacher=EVEN, students=EVEN) == pytest.approx({"teacher": 2 / 3, "students": 1 / 3})


@pytest.mark.parametrize("right", ["teacher", "students", "linear"])
def test_whoever_is_right_has_more(right):
    wrong = dict.fromkeys(("teacher", "students", "linear"), WRONG)
    found, some = shares(**{**wrong, right: SURE}), shares(**{**wrong, right: EVEN})
    before = shares(**wrong)
    assert before[right] < some[right] < found[right]
    assert sum(found.values()) == pytest.approx(1.0)


def test_more_may_be_believed_of_a_side():
    found = most_likely_shares({"teacher": SURE, "students": SURE}, TRUTH, {"teacher": 12.0, "students": 12.0})
    assert found == pytest.approx({"teacher": 0.5, "students": 0.5})


def test_one_label_hardly_moves_them():
    one = shares(TRUTH[:1], teacher=WRONG[:1], students=SURE[:1])
    assert 1 / 3 < one["students"] < shares(teacher=WRONG, students=SURE)["students"]


def test_a_label_that_was_called_impossible_silences_nobody():
    never = np.array([[0.0, 1.0]] * 8)
    assert shares(teacher=never, students=never) == pytest.approx({"teacher": 2 / 3, "students": 1 / 3})
    assert shares(teacher=never, students=SURE)["teacher"] > 0.3


def test_no_other_shares_make_the_labels_more_likely():
    rng = np.random.default_rng(0)
    y = np.eye(3)[rng.integers(0, 3, size=40)]
    said = {side: rng.dirichlet(np.ones(3), size=40) for side in BELIEVED}
    likelihood = np.stack([(each * y).sum(axis=1) for each in said.values()], axis=1)
    believed = np.array(list(BELIEVED.values()))

    def score(shares):
        return np.log(likelihood @ shares).sum() + believed @ np.log(shares)

    found = np.array(list(shares(y, **said).values()))
    others = rng.dirichlet(believed, size=2000)
    assert score(found) > max(score(each) for each in others)


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
