from collections import OrderedDict
from dataclasses import replace

import numpy as np
import pytest
from tests.problems import class_problem, sine_problem, small_recipe
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput
from fwl.evaluate.calibration import accuracy
from fwl.learn.auto import fidelity_weighted_auto
from fwl.learn.baselines import weak_only, weak_then_strong_averaged
from fwl.learn.eyes import SeveralStudents
from fwl.learn.linear import balanced_linear
from fwl.learn.members import member_chance, sharing
from fwl.learn.recipe import Auto
from fwl.learn.saving import learned_state, revive_learned
from fwl.learn.task import MULTICLASS
from fwl.randomness import Chance
from fwl.records import StrongSet, WeakSet
from fwl.students.inference import predict
from fwl.students.perceptron import Perceptron
from fwl.students.training import Lesson, Training, train
from fwl.teach.calibration import rebalanced

DATA = class_problem()


def recipe(**changes):
    auto = Auto(inputs=("x",), prior_means=("average", "student_and_weak"), committee=2, **changes)
    return small_recipe(
        new_student=lambda chance: Perceptron(4, 3, (8,), "relu", chance=chance),
        pretraining=Training(steps=60, batch_size=32),
        finetuning=Training(steps=30, batch_size=32),
        auto=auto,
    )


def learned(**changes):
    return fidelity_weighted_auto(DATA.problem, recipe(**changes), Chance(0))


def test_it_is_half_the_students_and_half_the_teacher():
    committee = learned()
    students = replace(committee, with_teacher=False)
    mean = (students.predict(DATA.X) + committee.teacher.predict(DATA.X, DATA.weak)) / 2
    assert np.allclose(committee.predict(DATA.X, DATA.weak), mean)


def test_its_students_are_those_of_the_averaged_control_draw_for_draw():
    control = weak_then_strong_averaged(DATA.problem, recipe(), Chance(0), members=2)
    students = replace(learned(), with_teacher=False)
    assert np.array_equal(students.predict(DATA.X), control.predict(DATA.X))


def test_its_probabilities_are_rebalanced_at_the_end():
    plain, moved = learned(), learned(rebalance=0.5)
    expected = rebalanced(plain.predict(DATA.X, DATA.weak), plain.teacher.shares, 0.5)
    assert np.allclose(moved.predict(DATA.X, DATA.weak), expected)
    assert np.allclose(expected.sum(axis=1), 1.0)


def test_it_beats_chance_and_records_what_it_compared():
    committee = learned()
    assert accuracy(DATA.y, committee.predict(DATA.X, DATA.weak)) > 0.5
    assert set(committee.choices["teacher_scores"]) == {"x, average", "x, student_and_weak"}


def test_a_kernel_fitted_on_some_rows_still_teaches_all_strong_labels():
    some = learned(kernel_rows=30)
    assert len(some.teacher.teacher.leave_one_out().mean) == len(DATA.problem.strong.X)
    assert some.teacher.teaching.new_teacher.hyperparameters == "fixed"


def test_each_side_has_the_share_that_left_out_labels_speak_for():
    committee = learned(share_folds=3)
    shares = committee.choices["shares"]
    assert sum(shares.values()) == pytest.approx(1.0)
    sides = {
        "teacher": committee.teacher.predict(DATA.X, DATA.weak),
        "students": replace(committee, with_teacher=False).predict(DATA.X),
        "linear": balanced_linear(DATA.problem, recipe(), Chance(0)).predict(DATA.X),
    }
    expected = sum(shares[side] * said for side, said in sides.items())
    assert np.allclose(committee.predict(DATA.X, DATA.weak), expected)


def test_without_numbers_there_is_no_linear_model_to_ask():
    def as_parts(X):
        samples = np.zeros(len(X), dtype=[("cells", np.float32, (4,))])
        samples["cells"] = X
        return samples

    def reading_parts(chance):
        student = Perceptron(4, 3, (8,), "relu", chance=chance)
        student.reads = "cells"
        return student

    weak, strong = DATA.problem.weak, DATA.problem.strong
    problem = replace(
        DATA.problem,
        weak=WeakSet(as_parts(weak.X), weak.y),
        strong=StrongSet(as_parts(strong.X), strong.y, strong.weak),
    )
    setting = recipe(share_folds=3)
    setting = setting.but(new_student=reading_parts, auto=replace(setting.auto, inputs=("psi",)))
    committee = fidelity_weighted_auto(problem, setting, Chance(0))
    assert committee.guest is None
    assert set(committee.choices["shares"]) == {"teacher", "students"}


def test_with_many_eyes_the_teacher_looks_through_the_students_that_are_fine_tuned():
    committee = learned(many_eyes=True)
    eyes = committee.teacher.view.eyes
    assert isinstance(eyes, SeveralStudents)
    assert len(eyes.students) == 2
    untuned = [weak_only(DATA.problem, recipe(), member_chance(Chance(0), i)).predict(DATA.X) for i in range(2)]
    for student, expected in zip(eyes.students, untuned, strict=True):
        assert np.array_equal(MULTICLASS.link(predict(student, DATA.X)), expected)
    students = replace(committee, with_teacher=False)
    assert np.array_equal(students.predict(DATA.X), replace(learned(), with_teacher=False).predict(DATA.X))


def test_all_its_sides_and_shares_are_saved_with_the_committee():
    committee = learned(share_folds=3)
    revived = revive_learned(learned_state(committee), committee.teacher)
    assert committee.guest is not None
    assert np.array_equal(revived.predict(DATA.X, DATA.weak), committee.predict(DATA.X, DATA.weak))


def wide_recipe():
    others = {"second_kind": lambda chance: Perceptron(4, 3, (3,), "tanh", chance=chance), "of_second_kind": 3}
    return recipe(share_folds=3, **others)


def wide():
    return fidelity_weighted_auto(DATA.problem, wide_recipe(), Chance(0))


def test_students_of_a_second_kind_count_as_much_as_those_of_the_first():
    committee = wide()
    assert (len(committee.students), len(committee.second_kind)) == (2, 3)
    kinds = [
        replace(committee, with_teacher=False, students=each, second_kind=()).predict(DATA.X)
        for each in (committee.students, committee.second_kind)
    ]
    shares = committee.choices["shares"]
    sides = {
        "teacher": committee.teacher.predict(DATA.X, DATA.weak),
        "students": (kinds[0] + kinds[1]) / 2,
        "linear": committee.task.link(predict(committee.guest, DATA.X)),
    }
    expected = sum(shares[side] * said for side, said in sides.items())
    assert np.allclose(committee.predict(DATA.X, DATA.weak), expected)


def test_the_first_kind_is_as_it_would_be_alone():
    alone, both = (replace(each, with_teacher=False, second_kind=()) for each in (learned(share_folds=3), wide()))
    assert np.array_equal(alone.predict(DATA.X), both.predict(DATA.X))


def test_step_1_of_a_second_kind_is_shared_and_stops_where_it_suits_them():
    starts, same = OrderedDict(), wide_recipe()
    with sharing(starts):
        first, second = (fidelity_weighted_auto(DATA.problem, same, Chance(0)) for _ in range(2))
    plans = {new: [key[3] for key in starts if key[2] is new] for new in (same.new_student, same.auto.second_kind)}
    steps = [steps for key, (_, _, steps) in starts.items() if key[3] == same.auto.pretraining]
    assert [len(found) for found in plans.values()] == [1, 3]  # one of the first kind was given
    assert [plan.steps for plan in plans[same.auto.second_kind][1:]] == 2 * steps
    assert np.array_equal(first.predict(DATA.X, DATA.weak), second.predict(DATA.X, DATA.weak))


def test_a_committee_of_two_kinds_is_saved():
    committee = wide()
    revived = revive_learned(learned_state(committee), committee.teacher)
    assert np.array_equal(revived.predict(DATA.X, DATA.weak), committee.predict(DATA.X, DATA.weak))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"share_folds": 0}, "auto: students of a second kind belong to chosen shares; give share_folds from 2"),
        (
            {"share_folds": 3, "of_second_kind": 0},
            "auto: of_second_kind=0: expected a number of students from 1",
        ),
    ],
)
def test_a_second_kind_needs_chosen_shares_and_a_student(given, message):
    with expect_refusal(InvalidInput, message):
        Auto(second_kind=recipe().new_student, **given)


VALIDATED = replace(DATA.problem, validation=StrongSet(DATA.X[:100], DATA.y[:100], DATA.weak[:100]))


def guest(width, steps):
    def trained(problem):
        student = Perceptron(4, 3, (width,), "relu", chance=Chance(0))
        plan = Training(steps=steps, batch_size=16, learning_rate=1e-2)
        train(student, Lesson(problem.strong.X, problem.strong.y), plan, Chance(0), loss=MULTICLASS.loss)
        return student

    return {"guest": trained}


def with_a(guest, problem=VALIDATED):
    return fidelity_weighted_auto(problem, recipe(rebalance=0.5, **guest), Chance(0))


def test_a_guest_has_the_share_that_suits_the_validation_set_best():
    committee = with_a(guest(32, 200))
    share, losses = committee.choices["guest_share"], committee.choices["guest_losses"]
    assert losses[f"{share:.2f}"] == min(losses.values())
    assert set(losses) == {"0.00", "0.33", "0.50"}
    alone = replace(committee, guest=None, rebalance=0.0).predict(DATA.X, DATA.weak)
    if committee.guest is not None:
        said = committee.task.link(predict(committee.guest, DATA.X))
        alone = (1 - share) * alone + share * said
    assert np.allclose(committee.predict(DATA.X, DATA.weak), rebalanced(alone, committee.teacher.shares, 0.5))
    assert (committee.guest is None) == (share == 0.0)


def test_a_guest_that_knows_nothing_is_not_kept():
    untrained = with_a(guest(4, 0))
    assert untrained.guest is None
    assert untrained.choices["guest_share"] == 0.0
    plain = fidelity_weighted_auto(VALIDATED, recipe(rebalance=0.5), Chance(0))
    assert np.array_equal(untrained.predict(DATA.X, DATA.weak), plain.predict(DATA.X, DATA.weak))


def test_what_the_task_watches_decides_on_the_guest():
    watched = replace(MULTICLASS, watch=lambda said, y: -float(np.mean(said.argmax(1) == y.argmax(1))))
    committee = with_a(guest(32, 200), replace(VALIDATED, task=watched))
    assert all(-1.0 <= loss <= 0.0 for loss in committee.choices["guest_losses"].values())


def test_a_guest_without_a_validation_set_is_refused():
    with expect_refusal(
        InvalidInput, "auto: a guest's share is chosen on a validation set; give Problem(..., validation=...)"
    ):
        with_a(guest(4, 5), DATA.problem)


def test_a_guest_that_cannot_be_made_again_is_not_saved():
    class Unknown(Perceptron):
        pass

    student = Unknown(4, 3, (4,), "relu", chance=Chance(0))
    message = "a committee with a guest of your own cannot be saved; leave auto.guest at None"
    with expect_refusal(InvalidInput, message):
        learned_state(replace(learned(), guest=student, guest_share=0.5))


def test_numbers_are_refused():
    numbers = small_recipe(auto=Auto(committee=2))
    with pytest.raises(InvalidInput, match="leave committee at 0 for numbers"):
        fidelity_weighted_auto(sine_problem(), numbers, Chance(0))


def test_the_task_stays_the_problems():
    assert learned().task is MULTICLASS
