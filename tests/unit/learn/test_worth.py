import json
import math
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.problems import class_problem, class_recipe, sine_problem, small_recipe
from tests.properties import PROPERTY
from tests.tolerances import ALGEBRA, SINGLE
from torch import nn

from fwl.errors import TeacherWarning
from fwl.learn.fidelity_weighted import fidelity_weighted
from fwl.learn.fitted import FittedTeacher
from fwl.learn.prior import PriorMean
from fwl.learn.recipe import Teaching
from fwl.learn.task import BINARY, MULTICLASS, REGRESSION
from fwl.learn.worth import Marks, effective_share, judge
from fwl.randomness import Chance
from fwl.records import Posterior, SoftSet, StrongSet
from fwl.students.wrapped import WrappedStudent

SPREAD = np.array([0.1, 0.5, 1.0])  # fidelities that differ
NEAR = Posterior(np.zeros((3, 1)), np.full((3, 1), 0.2), np.ones((3, 1)))  # beliefs well inside the data


class Saying:
    """As much of a teacher as is judged: what it says of each strong sample without its label."""

    def __init__(self, mean, variance):
        self.belief = Posterior(mean, variance, np.ones_like(mean))

    def leave_one_out(self):
        return self.belief


def student_that_says(outputs):
    """A student that answers sample i with row i."""
    table = torch.tensor(np.asarray(outputs, dtype=np.float32))
    return WrappedStudent(nn.Identity(), lambda _, x: x, lambda _, psi: table[psi[:, 0].long()])


def judged(y, said, student, *, task=REGRESSION, variance=1.0, fidelity=SPREAD, posterior=NEAR):
    """The report on planted answers of teacher and student to strong labels y."""
    y, said, student = (np.asarray(rows, dtype=float).reshape(len(rows), -1) for rows in (y, said, student))
    columns = y.shape[1]
    teacher = Saying(said, np.full_like(said, variance))
    prior = PriorMean("zero", np.zeros(columns))
    fitted = FittedTeacher(teacher, None, prior, Teaching(), task, np.zeros(columns))
    strong = StrongSet(np.arange(len(y), dtype=float)[:, None], y)
    n = len(fidelity)
    soft = SoftSet(np.zeros((n, 1)), np.zeros((n, columns)), np.ones(n), fidelity)
    return judge(fitted, strong, student_that_says(student), soft, posterior)


def silently(*arguments, **options):
    """The same, where a warning would be a mistake."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", TeacherWarning)
        return judged(*arguments, **options)


def same(marks: Marks, **expected):
    for name, value in expected.items():
        assert getattr(marks, name) == pytest.approx(value, abs=SINGLE), name


def test_marks_of_numbers_by_hand():
    worth = silently([0, 0, 0, 0], said=[1, -1, 1, -1], student=[1.5, 1.5, 1.5, 1.5])
    assert worth.measure == "rmse"
    # One standard deviation off: inside the intervals of 70, 80 and 90 %, outside the others.
    off = (sum(level / 10 for level in range(1, 7)) + 0.3 + 0.2 + 0.1) / 9
    same(worth.teacher, error=1.0, nll=0.5 * math.log(2 * math.pi) + 0.5, calibration_error=off, coverage=1.0)
    # The student states no variance: it is given its own mean squared error.
    nll = 0.5 * math.log(2 * math.pi * 1.5**2) + 0.5
    same(worth.student, error=1.5, nll=nll, calibration_error=off, coverage=1.0)


def test_marks_of_classes_by_hand():
    y = np.eye(2)[[0, 1, 1, 0]]
    said = np.array([[0.8, 0.2], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    own = np.array([[0.95, 0.05], [0.95, 0.05], [0.95, 0.05], [0.95, 0.05]])
    worth = silently(y, np.log(said), np.log(own), task=MULTICLASS)
    assert worth.measure == "error rate"
    nll = -(math.log(0.8) + math.log(0.2) + math.log(0.7) + math.log(0.6)) / 4
    same(worth.teacher, error=0.25, nll=nll, calibration_error=(0.6 + 0.3 + 0.4) / 4, coverage=1.0)
    same(worth.student, error=0.5, nll=-math.log(0.95 * 0.05) / 2, calibration_error=0.45, coverage=0.5)


def test_one_column_is_judged_like_two():
    y, said, own = (
        np.array([[0.0], [1.0], [1.0]]),
        np.array([[0.2], [0.2], [0.7]]),
        np.array([[0.4], [0.6], [0.7]]),
    )
    logit = lambda p: np.log(p) - np.log1p(-p)  # noqa: E731
    both = lambda p: np.hstack([1 - p, p])  # noqa: E731
    one = silently(y, 0.5 + 0.5 * logit(said), logit(own), task=BINARY)
    two = silently(both(y), np.log(both(said)), np.log(both(own)), task=MULTICLASS)
    for name in ("error", "nll", "calibration_error", "coverage"):
        assert getattr(one.teacher, name) == pytest.approx(getattr(two.teacher, name), abs=ALGEBRA)
        assert getattr(one.student, name) == pytest.approx(getattr(two.student, name), abs=SINGLE)


WORSE = (
    "the teacher is worse than the student it should teach: its {measure} on left-out strong labels is {teacher}, the "
    "student's {student}; more strong labels, another input or the student as prior mean may help"
)
FLAT = (
    "the uncertainty is nearly the same everywhere: the fidelities count for 100.0 % of the samples, so weighting by "
    "them changes nothing; a larger beta or another lengthscale may help"
)
FAR = (
    "{share} % of the pool lies out of the teacher's reach, where its label is the prior mean; strong labels there, or "
    "a longer lengthscale, would help"
)


def warned(*arguments, **options):
    """The report, and the sentences that were issued with it."""
    with pytest.warns(TeacherWarning) as caught:
        worth = judged(*arguments, **options)
    assert tuple(str(warning.message) for warning in caught) == worth.warnings
    return worth.warnings


def test_a_teacher_of_numbers_that_is_worse_than_the_student_says_so():
    said = warned(np.zeros(10), np.linspace(1, 2, 10), np.full(10, 0.5))
    assert said == (WORSE.format(measure="rmse", teacher="1.534", student="0.500"),)


def test_it_says_so_too_where_it_is_worse_by_the_same_amount_everywhere():
    assert warned([0, 0, 0], [2, 2, 2], [0.5, 0.5, 0.5]) == (
        WORSE.format(measure="rmse", teacher="2.000", student="0.500"),
    )


def test_a_teacher_that_is_better_or_worse_by_chance_is_silent():
    rng = np.random.default_rng(0)
    assert silently(np.zeros(10), np.full(10, 0.5), np.linspace(1, 2, 10)).warnings == ()
    assert silently(np.zeros(10), [*np.full(9, 0.5), 1.1], np.full(10, 0.6)).warnings == ()
    y = rng.normal(size=20)
    assert silently(y, y + rng.normal(size=20), y + rng.normal(size=20)).warnings == ()


def classes_with(lost, won, columns):
    """Twenty labels of the second class; the teacher errs where the student does not, and the other way round."""
    right = np.ones((2, 20), dtype=bool)
    right[0, :lost], right[1, lost : lost + won] = False, False
    said, own = np.where(right, 2.0, -2.0)[..., None]
    if columns == 2:
        said, own = np.hstack([0 * said, said]), np.hstack([0 * own, own])
    return np.tile([[0.0, 1.0]], (20, 1))[:, 2 - columns :], said, own


@pytest.mark.parametrize(("columns", "task"), [(1, BINARY), (2, MULTICLASS)])
def test_a_teacher_of_classes_that_is_worse_beyond_chance_says_so(columns, task):
    assert warned(*classes_with(5, 0, columns), task=task) == (
        WORSE.format(measure="error rate", teacher="0.250", student="0.000"),
    )
    assert warned(*classes_with(9, 2, columns), task=task)[0].startswith("the teacher is worse")


@pytest.mark.parametrize(("columns", "task"), [(1, BINARY), (2, MULTICLASS)])
@pytest.mark.parametrize(("lost", "won"), [(0, 0), (4, 0), (8, 2), (3, 3), (0, 9)])
def test_and_is_silent_where_a_coin_might_have_done_it(columns, task, lost, won):
    assert silently(*classes_with(lost, won, columns), task=task).warnings == ()


def test_fidelities_that_are_all_the_same_are_told():
    assert warned([0, 1], [0.1, 0.9], [0, 0], fidelity=np.full(50, 0.3)) == (FLAT,)
    assert warned([0, 1], [0.1, 0.9], [0, 0], fidelity=np.linspace(0.3, 0.31, 50)) == (FLAT,)


def test_those_that_differ_are_not_nor_is_a_single_one():
    silently([0, 1], [0.1, 0.9], [0, 0], fidelity=np.linspace(0.3, 0.4, 50))
    silently([0, 1], [0.1, 0.9], [0, 0], fidelity=np.array([0.5]))


def test_weights_that_are_all_one_because_beta_is_zero_are_as_asked_for():
    silently([0, 1], [0.1, 0.9], [0, 0], fidelity=np.ones(50))


def reaching(share, n=100):
    """Beliefs of which a share is back at the prior."""
    variance = np.where(np.arange(n) < share * n, 1.0, 0.5)[:, None]
    return Posterior(np.zeros((n, 1)), variance, np.ones((n, 1)))


def test_a_pool_out_of_reach_is_told_with_its_share():
    assert warned([0, 1], [0.1, 0.9], [0, 0], posterior=reaching(0.35)) == (FAR.format(share=35),)
    assert warned([0, 1], [0.1, 0.9], [0, 0], posterior=reaching(1.0)) == (FAR.format(share=100),)


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_a_pool_within_reach_is_not(share):
    assert silently([0, 1], [0.1, 0.9], [0, 0], posterior=reaching(share)).out_of_reach == share


def test_reach_is_measured_without_the_noise_that_no_label_removes():
    ones = np.ones((4, 1))
    noisy = Posterior(0 * ones, 9.3 * ones, 10 * ones, noise=9.0)  # of a signal of 1, 0.3 are left
    assert silently([0, 1], [0.1, 0.9], [0, 0], posterior=noisy).out_of_reach == 0.0


def test_all_that_is_wrong_is_said_in_one_order():
    said = warned(
        np.zeros(10), np.linspace(1, 2, 10), np.full(10, 0.5), fidelity=np.full(5, 0.9), posterior=reaching(1.0)
    )
    assert [sentence.split()[0] for sentence in said] == ["the", "the", "100"]


@PROPERTY
@given(st.floats(1e-300, 1.0), st.integers(1, 1000))
def test_equal_weights_count_whole(weight, n):
    assert effective_share(np.full(n, weight)) == pytest.approx(1.0)


def test_one_weight_that_outweighs_all_others_counts_alone():
    assert effective_share(np.array([1.0, *np.full(99, 1e-12)])) == pytest.approx(0.01)


@pytest.mark.parametrize("weight", [1e-200, np.finfo(np.float64).tiny])
def test_tiny_fidelities_have_a_share_all_the_same(weight):
    assert effective_share(np.full(7, weight)) == pytest.approx(1.0)
    assert effective_share(np.array([1.0, weight, weight, weight])) == pytest.approx(0.25)


@PROPERTY
@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=20))
def test_the_share_lies_between_one_sample_and_all(weights):
    weight = np.array(weights)
    share = effective_share(weight)
    assert 1 / len(weight) - ALGEBRA <= share <= 1 + ALGEBRA
    assert share == pytest.approx(weight.sum() ** 2 / (weight**2).sum() / len(weight))


def test_a_report_can_be_stored():
    stored = json.loads(json.dumps(silently([0, 1], [0.1, 0.9], [0, 0]).as_dict()))
    assert set(stored) == {"measure", "teacher", "student", "effective_share", "out_of_reach", "warnings"}
    assert set(stored["teacher"]) == {"error", "nll", "calibration_error", "coverage"}


def test_warnings_point_at_whoever_asked_for_learning():
    with pytest.warns(TeacherWarning) as caught:
        learned = fidelity_weighted(sine_problem(), small_recipe(beta=1e-3), Chance(0))
    assert FLAT in learned.worth.warnings
    assert {warning.filename for warning in caught} == {__file__}


def test_every_method_with_a_teacher_reports_its_worth():
    example = class_problem()
    worth = fidelity_weighted(example.problem, class_recipe(), Chance(0)).worth
    assert worth.measure == "error rate"
    assert 0.0 < worth.teacher.error < 0.6
    assert 0.0 < worth.effective_share <= 1.0
