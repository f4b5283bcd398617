import numpy as np
import pytest
from tests import examples
from tests.problems import new_teacher
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput
from fwl.learn.eyes import FoldStudents, OneStudent
from fwl.learn.fitted import fit_teacher
from fwl.learn.recipe import Teaching
from fwl.learn.task import REGRESSION
from fwl.learn.view import make_view
from fwl.randomness import Chance
from fwl.records import StrongSet
from fwl.students.inference import predict, represent
from fwl.students.perceptron import Perceptron

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3)) * [1.0, 10.0, 100.0]
STUDENT = Perceptron(3, 1, (5, 4), chance=Chance(0))


def view(input_, standardise=False):
    return make_view(OneStudent(STUDENT), X, input_, standardise)


def test_x_shows_the_sample_itself():
    assert np.array_equal(view("x")(X), X)


def test_psi_shows_the_students_representation():
    assert np.array_equal(view("psi")(X), represent(STUDENT, X))


def test_both_shows_one_beside_the_other():
    assert np.array_equal(view("both")(X), np.hstack([X, represent(STUDENT, X)]))


@pytest.mark.parametrize("input_", ["x", "psi"])
def test_standardised_columns_have_mean_zero_and_deviation_one(input_):
    Z = view(input_, standardise=True)(X)
    assert Z.mean(axis=0) == pytest.approx(np.zeros(Z.shape[1]), abs=1e-9)
    assert Z.std(axis=0) == pytest.approx(np.ones(Z.shape[1]))


def test_in_both_each_block_counts_as_much_as_the_other():
    Z = view("both", standardise=True)(X)
    spread = Z.var(axis=0)
    assert spread[:3].sum() == pytest.approx(1.0)
    assert spread[3:].sum() == pytest.approx(1.0)


def test_a_constant_column_becomes_zero_not_noise():
    constant = np.hstack([X[:, :2], np.full((30, 1), 0.1)])
    Z = make_view(OneStudent(STUDENT), constant, "x", True)(constant)
    assert np.array_equal(Z[:, 2], np.zeros(30))
    assert np.isfinite(Z).all()


def test_a_teacher_with_the_student_as_prior_mean_returns_to_it_far_away():
    strong = StrongSet(X[:5], np.full(5, 7.0))
    fitted = fit_teacher(OneStudent(STUDENT), strong, X, Teaching(new_teacher, "x", False, "student"), REGRESSION)
    far = X + 1e6
    np.testing.assert_allclose(fitted.posterior(far).mean, predict(STUDENT, far), atol=1e-9)


class Blind:
    """Eyes that must not be used."""


def other_eyes():
    students = (STUDENT, Perceptron(3, 1, (5, 4), chance=Chance(1)))
    return FoldStudents(students, np.arange(30) % 2)


@pytest.mark.parametrize("standardise", [False, True])
@pytest.mark.parametrize("input_", ["x", "psi", "both"])
def test_one_student_sees_strong_samples_like_any_others(input_, standardise):
    seen = view(input_, standardise)
    assert np.array_equal(seen.of_strong(StrongSet(X[:7], np.zeros(7))), seen(X[:7]))


def test_x_asks_no_student():
    seen = make_view(Blind(), X, "x", standardise=True)
    assert np.array_equal(seen.of_strong(StrongSet(X, np.zeros(30))), seen(X))


@pytest.mark.parametrize("standardise", [False, True])
def test_fold_students_see_strong_samples_each_by_its_own(standardise):
    eyes, strong = other_eyes(), StrongSet(X, np.zeros(30))
    seen = make_view(eyes, X, "psi", standardise)
    assert np.array_equal(seen.of_strong(strong), (eyes.represent_strong(strong) - seen.centre) / seen.scale)
    assert np.array_equal(seen(X), (eyes.represent(X) - seen.centre) / seen.scale)
    assert not np.allclose(seen.of_strong(strong), seen(X))


def test_in_both_x_stands_beside_the_psi_of_a_samples_own_student():
    eyes, strong = other_eyes(), StrongSet(X, np.zeros(30))
    Z = make_view(eyes, X, "both", standardise=False).of_strong(strong)
    assert np.array_equal(Z, np.hstack([X, eyes.represent_strong(strong)]))


def test_samples_of_any_dimension_are_flattened():
    images = X.reshape(30, 3, 1)
    assert np.array_equal(make_view(Blind(), images, "x", False)(images), X)
    assert np.array_equal(make_view(Blind(), X[:, 0], "x", False)(X[:, 0]), X[:, :1])


TEXTS = examples.text_lesson().X
READER = examples.text_cnn()


def test_x_of_samples_with_named_parts_is_their_vector():
    assert np.array_equal(make_view(Blind(), TEXTS, "x", False)(TEXTS), TEXTS["vector"])


@pytest.mark.parametrize("standardise", [False, True])
def test_samples_with_named_parts_are_seen_like_their_vector_and_psi(standardise):
    seen = make_view(OneStudent(READER), TEXTS, "both", standardise)
    Z = np.hstack([TEXTS["vector"], represent(READER, TEXTS)])
    np.testing.assert_array_equal(seen(TEXTS), (Z - seen.centre) / seen.scale)
    np.testing.assert_array_equal(seen.of_strong(StrongSet(TEXTS, np.zeros(30))), seen(TEXTS))


@pytest.mark.parametrize("standardise", [False, True])
@pytest.mark.parametrize("input_", ["x", "both"])
def test_samples_without_numbers_of_their_own_are_refused(input_, standardise):
    message = (
        "these samples have no numbers of their own (parts: tokens; expected one named 'vector'); choose input 'psi'"
    )
    with expect_refusal(InvalidInput, message):
        make_view(OneStudent(READER), TEXTS[["tokens"]], input_, standardise)


@pytest.mark.parametrize("standardise", [False, True])
def test_psi_needs_no_numbers_of_the_samples_own(standardise):
    seen = make_view(OneStudent(READER), TEXTS[["tokens"]], "psi", standardise)
    assert np.array_equal(seen(TEXTS[["tokens"]]), seen(TEXTS))
