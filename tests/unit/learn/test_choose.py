from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.problems import class_problem, class_recipe, small_recipe
from tests.tolerances import ALGEBRA, EXACT
from torch import nn

from fwl.learn import choose
from fwl.learn.choose import Candidate, NewTeacher, choose_teacher
from fwl.learn.eyes import FoldStudents, OneStudent
from fwl.learn.fitted import left_out
from fwl.learn.recipe import Auto, Problem
from fwl.randomness import Chance
from fwl.records import StrongSet, WeakSet
from fwl.students.perceptron import Perceptron
from fwl.students.training import Lesson, Training, train
from fwl.students.wrapped import WrappedStudent
from fwl.teach.clustered import ClusteredGP
from fwl.teach.exact import ExactGP
from fwl.teach.kernels import RBF
from fwl.teach.selection import evidence_score, left_out_score

with_each_criterion = pytest.mark.parametrize("criterion", ["evidence", "left_out"])
with_some_seeds = pytest.mark.parametrize("seed", [0, 1])


def student_that(says=torch.zeros_like, sees=lambda x: x):
    return WrappedStudent(nn.Identity(), lambda _, x: sees(x), lambda _, psi: says(psi))


def problem(true, seed, n=30, noise=0.05):
    rng = np.random.default_rng(seed)
    X, other = rng.uniform(-2, 2, (n, 1)), rng.uniform(-2, 2, (60, 1))
    return Problem(WeakSet(other, 0 * other), StrongSet(X, true(X) + noise * rng.normal(size=(n, 1))))


def with_a_gap(true, seed):
    """Samples on both sides of zero and none around it."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.2, 2, (60, 1)) * np.where(np.arange(60) % 2, 1, -1)[:, None]
    return Problem(WeakSet(X, 0 * X), StrongSet(X, true(X) + 0.05 * rng.normal(size=X.shape)))


def with_an_informed_annotator(seed):
    """The annotator knows something that cannot be seen in x."""
    given = problem(np.zeros_like, seed)
    weak = np.random.default_rng(seed + 100).normal(size=(30, 1))
    return Problem(given.weak, StrongSet(given.strong.X, 0.8 * weak + given.strong.y, weak))


def chosen(student, given, criterion, **auto):
    """The name of the candidate that is taken."""
    auto = {"inputs": ("x",), "prior_means": ("zero",), **auto}
    recipe = small_recipe(auto=Auto(criterion=criterion, **auto))
    teacher, scores = choose_teacher(student, given, recipe, Chance(0))
    best = max(scores, key=lambda name: scores[name][criterion])
    assert best.startswith(f"{teacher.teaching.input}, {teacher.teaching.prior_mean}")
    return best


PLANTED = {
    "what the student sees": (
        student_that(sees=lambda x: torch.sin(8 * x)),
        lambda seed: problem(lambda x: np.sin(8 * x), seed),
        {"inputs": ("x", "psi")},
        "psi, zero",
    ),
    "what the student does not see": (
        student_that(sees=lambda x: torch.sin(40 * x)),
        lambda seed: problem(lambda x: np.sin(2 * x), seed),
        {"inputs": ("x", "psi")},
        "x, zero",
    ),
    "what the student says": (
        student_that(says=lambda psi: torch.sin(8 * psi) + 0.1),
        lambda seed: problem(lambda x: np.sin(8 * x), seed),
        {"prior_means": ("zero", "student")},
        "x, student",
    ),
    "what the annotator says": (
        student_that(says=lambda psi: torch.cos(23 * psi)),
        with_an_informed_annotator,
        {"prior_means": ("zero", "student", "student_and_weak")},
        "x, student_and_weak",
    ),
    "a function with corners": (
        student_that(),
        lambda seed: problem(lambda x: np.abs((1.5 * x) % 2 - 1), seed, n=60, noise=0.01),
        {"kernels": ("rbf", "matern32")},
        "x, zero, matern32",
    ),
    "a smooth function": (
        student_that(),
        lambda seed: problem(lambda x: np.sin(2 * x), seed, n=60, noise=0.01),
        {"kernels": ("rbf", "matern32")},
        "x, zero, rbf",
    ),
    "a function with a jump": (
        student_that(),
        lambda seed: with_a_gap(lambda x: 2 * np.sign(x) + 0.5 * np.sin(2 * x), seed),
        {"clusters": (1, 2)},
        "x, zero, K=2",
    ),
    "a function without one": (
        student_that(),
        lambda seed: problem(lambda x: np.sin(2 * x), seed, n=60),
        {"clusters": (1, 3)},
        "x, zero, K=1",
    ),
}


@with_each_criterion
@with_some_seeds
@pytest.mark.parametrize("plant", PLANTED)
def test_what_is_planted_is_found(plant, seed, criterion):
    student, make, auto, expected = PLANTED[plant]
    assert chosen(student, make(seed), criterion, **auto) == expected


def looking_at_the_wrong_column(seed):
    rng = np.random.default_rng(seed)
    X, other = rng.normal(size=(120, 10)), rng.normal(size=(200, 10))
    strong = StrongSet(X, np.sin(2 * X[:, 1:2]) + 0.1 * rng.normal(size=(120, 1)))
    return Problem(WeakSet(other, other[:, :1]), strong)


@with_each_criterion
def test_a_student_that_looks_at_the_wrong_column_is_cross_fitted(criterion):
    given, plan = looking_at_the_wrong_column(0), Training(steps=300, learning_rate=1e-2)
    student = Perceptron(10, 1, (6,), chance=Chance(0))
    train(student, Lesson(given.weak.X, given.weak.y), plan, Chance(0))
    auto = {"inputs": ("psi",), "prior_means": ("student",), "crossfit": 2, "finetuning": plan}
    assert chosen(student, given, criterion, **auto) == "psi, student, cross-fitted"


def scores_of(given, student=None, **auto):
    recipe = small_recipe(auto=Auto(**auto))
    return choose_teacher(student or student_that(), given, recipe, Chance(0))


def names_of(given, student=None, **auto):
    """The candidates, without fitting them."""
    student = student or student_that()
    candidates = choose._candidates(student, OneStudent(student), given, Auto(**auto), Chance(0))
    return [candidate.name(Auto(**auto)) for _, candidate in candidates]


def test_candidates_are_the_grid_of_all_choices():
    grid = {
        "inputs": ("x", "psi"),
        "prior_means": ("zero", "average"),
        "kernels": ("rbf", "rbf+linear"),
        "clusters": (1, 2),
    }
    assert names_of(problem(np.sin, 0), **grid) == [
        f"{i}, {m}, {k}, K={c}"
        for i in ("x", "psi")
        for m in ("zero", "average")
        for k in ("rbf", "rbf+linear")
        for c in (1, 2)
    ]


@pytest.mark.parametrize(
    ("auto", "name"),
    [
        ({}, "psi, zero"),
        ({"kernels": ("rbf", "matern32")}, "psi, zero, matern32"),
        ({"clusters": (None, 5)}, "psi, zero, K=auto"),
        ({"kernels": ("rbf", "matern32"), "clusters": (None, 5)}, "psi, zero, matern32, K=auto"),
    ],
)
def test_a_name_leaves_out_what_had_no_alternative(auto, name):
    candidate = Candidate("psi", "zero", "matern32", None, crossfit=False)
    assert candidate.name(Auto(**auto)) == name
    assert replace(candidate, crossfit=True).name(Auto(**auto)) == f"{name}, cross-fitted"


def test_without_a_word_on_prior_means_all_that_suit_the_task_are_compared():
    numbers = problem(np.sin, 0)
    asked = Problem(numbers.weak, StrongSet(numbers.strong.X, numbers.strong.y, numbers.strong.y))
    classes = class_problem(n_weak=50, n_strong=20).problem
    not_asked = replace(classes, strong=StrongSet(classes.strong.X, classes.strong.y))
    assert names_of(numbers, inputs=("x",)) == ["x, zero", "x, student"]
    assert names_of(asked, inputs=("x",)) == ["x, zero", "x, student", "x, student_and_weak"]
    assert names_of(not_asked, inputs=("x",)) == ["x, zero", "x, average", "x, student"]
    assert names_of(classes, inputs=("x",)) == ["x, zero", "x, average", "x, student", "x, student_and_weak"]


def test_the_annotator_is_a_candidate_only_where_it_was_asked_about_the_strong_samples():
    wanted = {"inputs": ("x",), "prior_means": ("student", "student_and_weak")}
    asked, given = with_an_informed_annotator(0), problem(np.sin, 0)
    assert names_of(asked, **wanted) == ["x, student", "x, student_and_weak"]
    assert names_of(given, **wanted) == ["x, student"]


def test_cross_fitted_are_only_candidates_that_ask_a_student():
    plan = Training(steps=2)
    student = Perceptron(1, 1, (4,), chance=Chance(0))
    auto = {"inputs": ("x", "psi"), "prior_means": ("zero", "student"), "crossfit": 2, "finetuning": plan}
    _, scores = scores_of(problem(np.sin, 0), student, **auto)
    both = ["x, student", "psi, zero", "psi, student"]
    assert list(scores) == ["x, zero", *both, *(f"{name}, cross-fitted" for name in both)]


def test_a_cross_fitted_teacher_looks_through_the_fold_students():
    student, given = Perceptron(1, 1, (4,), chance=Chance(0)), problem(np.sin, 0)
    auto = Auto(inputs=("psi",), prior_means=("zero",), crossfit=3, finetuning=Training(steps=2))
    found = list(choose._candidates(student, OneStudent(student), given, auto, Chance(0)))
    assert [type(eyes) for eyes, _ in found] == [OneStudent, FoldStudents]
    assert len(found[1][0].students) == 3


@with_each_criterion
def test_the_criterion_decides_and_both_scores_are_recorded(criterion, monkeypatch):
    planted = {"zero": {"evidence": 2.0, "left_out": -1.0}, "student": {"evidence": 1.0, "left_out": 5.0}}
    monkeypatch.setattr(choose, "_scores", lambda fitted, _: planted[fitted.teaching.prior_mean])
    teacher, scores = scores_of(problem(np.sin, 0), inputs=("x",), prior_means=("zero", "student"), criterion=criterion)
    assert teacher.teaching.prior_mean == {"evidence": "zero", "left_out": "student"}[criterion]
    assert scores == {f"x, {name}": score for name, score in planted.items()}


@with_each_criterion
def test_a_choice_named_twice_is_one_candidate(criterion):
    given = PLANTED["what the student sees"]
    auto = {"inputs": ("x", "x", "psi"), "prior_means": ("zero",), "criterion": criterion}
    teacher, scores = scores_of(given[1](0), given[0], **auto)
    assert list(scores) == ["x, zero", "psi, zero"]
    assert teacher.teaching.input == "psi"


def test_scores_are_those_of_the_fitted_teacher():
    given = problem(np.sin, 0)
    teacher, scores = scores_of(given, inputs=("x",), prior_means=("zero",))
    assert scores["x, zero"] == {
        "evidence": pytest.approx(evidence_score(teacher.teacher, 30), abs=EXACT),
        "left_out": pytest.approx(left_out_score(left_out(teacher, given.strong), given.strong.y), abs=EXACT),
    }


@pytest.mark.parametrize(
    ("clusters", "largest", "kind"),
    [(None, 1000, ExactGP), (None, 30, ExactGP), (None, 15, ClusteredGP), (1, 15, ExactGP), (2, 1000, ClusteredGP)],
)
def test_one_cluster_is_exact_and_as_many_as_needed_are_one_up_to_the_largest(clusters, largest, kind):
    teacher, _ = scores_of(
        problem(np.sin, 0), inputs=("x",), prior_means=("zero",), clusters=(clusters,), largest=largest
    )
    assert type(teacher.teacher) is kind
    if kind is ClusteredGP:
        assert teacher.teacher.partition_.clusters >= 2


def test_a_new_teacher_is_new_every_time():
    make = NewTeacher(RBF(), clusters=1, largest=10)
    assert make() is not make()
    assert make().shrink_mean
    assert replace(make, clusters=3)().shrink_mean


@pytest.mark.parametrize("classes", [2, 3])
def test_teachers_of_classes_are_calibrated(classes):
    given = class_problem(classes=classes, n_weak=50, n_strong=20)
    student = class_recipe(1 if classes == 2 else 3).new_student(Chance(0))
    teacher, _ = scores_of(given.problem, student, inputs=("x",), prior_means=("average",))
    assert teacher.calibration is not None
    p = teacher.predict(given.X)
    assert ((p > 0) & (p < 1)).all()
    if classes == 3:
        np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=ALGEBRA)
