from dataclasses import replace

import numpy as np
import pytest
from tests.examples import Listener
from tests.problems import class_problem, class_recipe, sine_problem, small_recipe
from tests.refusals import expect_refusal
from tests.tolerances import SINGLE

from fwl.errors import InvalidInput
from fwl.learn.own_data import (
    OWN_METHODS,
    OwnData,
    first_step,
    learn,
    learn_as_planned,
    problem_of,
    rows_to_learn_from,
    weak_or_student,
)
from fwl.randomness import Chance


def own_data(asked=1.0, classes=3):
    problem = class_problem(classes=classes).problem
    strong_weak = problem.strong.weak.copy()
    strong_weak[int(asked * len(strong_weak)) :] = np.nan
    rows = np.arange(len(problem.weak.X))
    return OwnData(problem.weak.X, problem.weak.y, problem.strong.X, problem.strong.y, strong_weak, rows, problem.task)


def test_rows_without_a_label_and_strong_ones_take_no_part():
    weak = np.array([[0.0], [np.nan], [1.0], [1.0]])
    in_both = np.array([False, False, True, False])
    assert rows_to_learn_from(weak, in_both, None, Chance(0)).tolist() == [0, 3]


def test_of_too_many_rows_some_are_drawn():
    rows = rows_to_learn_from(np.zeros((100, 1)), np.zeros(100, dtype=bool), 10, Chance(0))
    assert len(set(rows.tolist())) == 10
    assert rows.tolist() == sorted(rows.tolist())


def test_nothing_to_learn_from_is_refused():
    message = (
        "no sample of the weak set can be learned from: the annotator abstains everywhere, or labels strong samples "
        "only; give weak labels for others too"
    )
    with expect_refusal(InvalidInput, message):
        rows_to_learn_from(np.full((3, 1), np.nan), np.zeros(3, dtype=bool), None, Chance(0))


def test_the_student_stands_in_where_the_annotator_was_silent():
    data, recipe = own_data(asked=0.7), class_recipe()
    first = first_step(data, recipe, Chance(0))
    filled = problem_of(data, first.student).strong.weak
    asked = data.asked
    assert np.array_equal(filled[asked], data.strong_weak[asked])
    np.testing.assert_allclose(filled[~asked].sum(axis=1), 1.0)


@pytest.mark.parametrize(("asked", "reads"), [(1.0, True), (0.6, True), (0.4, False)])
def test_the_teacher_reads_weak_labels_if_enough_strong_samples_have_one(asked, reads):
    taught = learn(own_data(asked), "NN_W->S", class_recipe(), Chance(0))
    assert (taught.problem.strong.weak is not None) == reads


def test_the_prior_mean_that_holds_the_others_is_the_only_one_compared():
    read, unread = (learn(own_data(asked), "FWL_auto", class_recipe(), Chance(0)) for asked in (1.0, 0.0))
    assert list(read.learned.choices["teacher_scores"]) == ["x, student_and_weak", "psi, student_and_weak"]
    assert list(unread.learned.choices["teacher_scores"]) == ["x, average", "psi, average"]


@pytest.mark.parametrize("method", OWN_METHODS)
def test_every_method_has_a_teacher(method):
    taught = learn(own_data(), method, class_recipe(), Chance(0))
    posterior = taught.teacher.posterior(
        class_problem().X[:5], weak_or_student(taught.teacher, class_problem().X[:5], None)
    )
    assert posterior.mean.shape == (5, 3)


def test_a_first_step_that_is_handed_in_changes_nothing():
    data, recipe = own_data(), class_recipe()
    first = first_step(data, recipe, Chance(0))
    alone, handed = (learn(data, "NN_W->S", recipe, Chance(0), given) for given in (None, first))
    X = class_problem().X
    assert np.array_equal(alone.learned.predict(X), handed.learned.predict(X))
    assert alone.steps == handed.steps == first.steps


def test_some_strong_samples_keep_the_pool():
    some = own_data().with_strong(np.array([3, 1]))
    assert len(some.strong) == len(some.y) == len(some.strong_weak) == 2
    assert some.pool is own_data().pool or np.array_equal(some.pool, own_data().pool)


def test_step_1_can_leave_rows_out_but_not_all():
    data = own_data()
    gone = data.learned_from[:5]
    fewer = data.learning_without(gone)
    assert set(fewer.learned_from) == set(data.learned_from) - set(gone)
    assert len(fewer.weak.X) == len(fewer.learned_from)
    assert len(fewer.pool) == len(data.pool)
    assert data.learning_without(np.empty(0, dtype=np.int64)) is data
    assert data.learning_without(data.learned_from) is data


def test_weak_labels_that_are_missing_are_the_students():
    taught = learn(own_data(), "NN_W->S", class_recipe(), Chance(0))
    made = class_problem()
    weak = made.weak[:4].copy()
    weak[2] = np.nan
    read = weak_or_student(taught.teacher, made.X[:4], weak)
    everything = weak_or_student(taught.teacher, made.X[:4], None)
    assert np.array_equal(read[[0, 1, 3]], weak[[0, 1, 3]])
    np.testing.assert_allclose(read[2], everything[2], rtol=SINGLE)


def test_students_are_not_asked_where_the_annotator_spoke():
    taught = learn(own_data(), "NN_W->S", class_recipe(), Chance(0))
    made = class_problem()
    deaf = replace(taught.teacher, view=replace(taught.teacher.view, eyes=None))
    assert np.array_equal(weak_or_student(deaf, made.X[:4], made.weak[:4]), made.weak[:4])


@pytest.mark.parametrize("method", ["FWL_auto", "FWL", "LR_S"])
def test_as_planned_step_1_is_as_long_as_the_recipe_says(method):
    problem = sine_problem()
    data = OwnData(
        problem.weak.X, problem.weak.y, problem.strong.X, problem.strong.y, None, np.arange(40), problem.task
    )
    taught = learn_as_planned(data, method, small_recipe(), Chance(0))
    X = np.linspace(-3, 3, 7)[:, None]
    same = OWN_METHODS[method](problem, small_recipe(), Chance(0), None)
    assert np.array_equal(taught.learned.predict(X), same.predict(X))
    if method != "FWL_auto":
        assert taught.steps == 20


class Heard(Listener):
    """Remembers every piece of work, with how much of it was done."""

    def __init__(self):
        super().__init__()
        self.pieces = []

    def start(self, total, what):
        self.pieces.append([what, total, 0])

    def advance(self, amount=1):
        self.pieces[-1][2] += amount


def test_every_update_of_step_1_is_heard_and_then_the_rest():
    heard = Heard()
    taught = learn(own_data(), "NN_W->S", class_recipe(), Chance(0), progress=heard)
    (before, _, _), (weak, most, done), (rest, unknown, _) = heard.pieces
    assert (before, weak, rest) == ("learning", "learning from weak labels, at most", "learning from strong labels")
    assert taught.steps <= done <= most == class_recipe().auto.pretraining.steps
    assert unknown == 0
    assert heard.finished
    again = Heard()
    learn_as_planned(own_data(), "NN_W->S", class_recipe(), Chance(0), progress=again)
    steps = class_recipe().pretraining.steps
    assert again.pieces[1] == ["learning from weak labels", steps, steps]
