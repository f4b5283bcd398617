import numpy as np
import pytest
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA

from fwl.errors import InvalidInput, NotFinite, WrongShape
from fwl.learn.prior import PriorMean, average_label, prior_for
from fwl.learn.recipe import PRIOR_MEANS
from fwl.learn.task import BINARY, MULTICLASS, PREFERENCE, REGRESSION
from fwl.records import StrongSet
from fwl.teach.exact import ExactGP
from fwl.teach.kernels import RBF, White

X = np.zeros((4, 2))
CLASSES = StrongSet(X, np.eye(3)[[0, 0, 0, 1]])
ONE_COLUMN = StrongSet(X, [0.0, 1.0, 1.0, 1.0])
NUMBERS = StrongSet(X, [1.0, 2.0, 3.0, 10.0])


@pytest.mark.parametrize(
    ("kind", "student", "annotator"),
    [("zero", False, False), ("average", False, False), ("student", True, False), ("student_and_weak", True, True)],
)
def test_it_says_whom_it_asks(kind, student, annotator):
    prior = PriorMean(kind, np.zeros(1))
    assert (prior.asks_student, prior.asks_annotator) == (student, annotator)


def test_every_kind_that_a_recipe_may_name_is_known():
    assert all(prior_for(kind, CLASSES, MULTICLASS).kind == kind for kind in PRIOR_MEANS)


def test_the_average_of_classes_is_their_shares_as_if_each_had_been_seen_once_more():
    assert average_label(CLASSES.y, MULTICLASS) == pytest.approx([4 / 7, 2 / 7, 1 / 7])


@pytest.mark.parametrize("task", [BINARY, PREFERENCE], ids=["binary", "preference"])
def test_one_column_is_the_second_of_two_classes(task):
    both = average_label(np.hstack([1 - ONE_COLUMN.y, ONE_COLUMN.y]), MULTICLASS)
    assert average_label(ONE_COLUMN.y, task) == pytest.approx([4 / 6])
    assert average_label(ONE_COLUMN.y, task) == pytest.approx(both[1:])


def test_the_average_of_numbers_is_their_mean():
    assert average_label(NUMBERS.y, REGRESSION).tolist() == [4.0]


def test_labels_that_are_distributions_count_by_their_shares():
    assert average_label(np.array([[0.5, 0.5], [1.0, 0.0]]), MULTICLASS) == pytest.approx([2.5 / 4, 1.5 / 4])


@pytest.mark.parametrize(
    ("kind", "strong", "task", "base"),
    [
        ("zero", CLASSES, MULTICLASS, [0, 0, 0]),
        ("average", CLASSES, MULTICLASS, [4 / 7, 2 / 7, 1 / 7]),
        ("student", CLASSES, MULTICLASS, [4 / 7, 2 / 7, 1 / 7]),
        ("student_and_weak", ONE_COLUMN, BINARY, [4 / 6]),
        ("zero", NUMBERS, REGRESSION, [0]),
        ("average", NUMBERS, REGRESSION, [4]),
        ("student", NUMBERS, REGRESSION, [0]),
        ("student_and_weak", NUMBERS, REGRESSION, [0]),
    ],
)
def test_the_base_is_the_average_where_labels_are_classes_and_zero_where_they_are_numbers(kind, strong, task, base):
    assert prior_for(kind, strong, task).base == pytest.approx(base)


@pytest.mark.parametrize("kind", ["zero", "average"])
def test_what_asks_nobody_has_no_directions(kind):
    assert PriorMean(kind, np.ones(3)).directions(None, None) is None


def test_the_student_is_one_direction_from_the_base():
    p, base = np.array([[0.2, 0.8], [0.6, 0.4]]), np.array([0.5, 0.5])
    directions = PriorMean("student", base).directions(p, None)
    assert directions.shape == (2, 2, 1)
    assert np.array_equal(directions[..., 0], p - base)
    np.testing.assert_allclose(base + directions @ [0.3], base + 0.3 * (p - base), atol=ALGEBRA)


def test_student_and_annotator_are_two_directions_from_the_base():
    p, w, base = np.array([[0.2, 0.8]]), np.array([[0.0, 1.0]]), np.array([0.5, 0.5])
    directions = PriorMean("student_and_weak", base).directions(p, w)
    assert directions.shape == (1, 2, 2)
    expected = base + 0.7 * (p - base) + 0.2 * (w - base)
    np.testing.assert_allclose(base + directions @ [0.7, 0.2], expected, atol=ALGEBRA)


def test_a_vector_of_weak_labels_is_one_column():
    p = np.array([[0.2], [0.6]])
    prior = PriorMean("student_and_weak", np.array([0.5]))
    assert np.array_equal(prior.directions(p, np.array([0.0, 1.0])), prior.directions(p, np.array([[0.0], [1.0]])))


def test_a_missing_weak_label_is_refused():
    message = (
        "this teacher reads the annotator's label of each sample and got none; give the weak labels too, or choose "
        "another prior mean"
    )
    with expect_refusal(InvalidInput, message):
        PriorMean("student_and_weak", np.zeros(1)).directions(np.zeros((2, 1)), None)


@pytest.mark.parametrize("shape", [(2, 1), (1, 3), (3, 2)])
def test_weak_labels_that_numpy_would_stretch_are_refused(shape):
    with expect_refusal(WrongShape, f"weak labels: expected shape (2, 3) like the labels, got {shape}"):
        PriorMean("student_and_weak", np.zeros(3)).directions(np.zeros((2, 3)), np.zeros(shape))


def test_broken_weak_labels_are_refused():
    with expect_refusal(NotFinite, "weak labels: NaN or infinity in 1 of 2 rows (rows 1); drop or fill them first"):
        PriorMean("student_and_weak", np.zeros(1)).directions(np.zeros((2, 1)), np.array([0.0, np.nan]))


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("task", [MULTICLASS, REGRESSION], ids=["classes", "numbers"])
def test_the_evidence_finds_the_planted_factors(task, seed):
    rng = np.random.default_rng(seed)
    p, w = rng.dirichlet([2, 2, 2], 400), rng.dirichlet([2, 2, 2], 400)
    pi = np.full(3, 1 / 3) if task.has_classes else np.zeros(3)
    y = pi + 0.7 * (p - pi) + 0.2 * (w - pi) + 0.05 * rng.normal(size=(400, 3))
    strong = StrongSet(rng.normal(size=(400, 2)), y)
    prior = prior_for("student_and_weak", strong, task)
    teacher = ExactGP(RBF(1.0, 0.01) + White(0.0025), shrink_mean=True)
    teacher.fit(strong.X, y - prior.base, prior.directions(p, w))
    assert teacher.shrinkage_ == pytest.approx((0.7, 0.2), abs=0.04)
