import numpy as np
import pytest
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput
from fwl.learn.crossfit import cross_fit
from fwl.learn.recipe import Problem
from fwl.learn.view import make_view
from fwl.randomness import Chance
from fwl.records import StrongSet, WeakSet
from fwl.students.inference import predict
from fwl.students.perceptron import Perceptron
from fwl.students.training import Training

RNG = np.random.default_rng(0)
X, NOISE = RNG.normal(size=(12, 3)), RNG.normal(size=(12, 1))
STUDENT = Perceptron(3, 1, (8, 5), chance=Chance(0))
PLAN = Training(steps=20, batch_size=4, learning_rate=1e-2)


def problem(X=X, y=NOISE):
    return Problem(WeakSet(X, np.zeros(len(X))), StrongSet(X, y))


def fitted(y=NOISE, k=3, chance=Chance(1)):  # noqa: B008
    return cross_fit(STUDENT, problem(y=y), PLAN, k, chance)


def test_every_strong_sample_has_one_fold_and_every_fold_its_student():
    eyes = fitted()
    assert len(eyes.students) == 3
    assert np.bincount(eyes.fold).tolist() == [4, 4, 4]


def test_there_are_no_more_folds_than_samples():
    eyes = fitted(k=50)
    assert len(eyes.students) == 12
    assert sorted(eyes.fold) == list(range(12))


def test_one_chance_gives_one_outcome_and_another_another():
    first, again, other = fitted(), fitted(), fitted(chance=Chance(2))
    assert np.array_equal(first.represent(X), again.represent(X))
    assert np.array_equal(first.fold, again.fold)
    assert not np.array_equal(first.fold, other.fold)


def test_the_student_handed_in_stays_as_it_was():
    before = predict(STUDENT, X)
    eyes = fitted()
    assert np.array_equal(predict(STUDENT, X), before)
    assert all(not np.allclose(predict(student, X), before) for student in eyes.students)


@pytest.mark.parametrize("i", [0, 5, 11])
def test_a_strong_samples_psi_does_not_depend_on_its_own_label(i):
    strong, other = problem().strong, NOISE.copy()
    other[i] += 5.0
    before, after = fitted(), fitted(y=other)
    same_fold = before.fold == before.fold[i]
    for look in ("represent_strong", "respond_to_strong"):
        one, two = getattr(before, look)(strong), getattr(after, look)(strong)
        assert np.array_equal(one[same_fold], two[same_fold]), "its own student never saw the label"
        assert (one[~same_fold] != two[~same_fold]).any(axis=1).all(), "the others learned from it"


def test_nor_does_what_the_teacher_sees_of_it():
    """Where inputs are not standardised: the view's scale is that of all samples, seen by all students."""
    other = NOISE.copy()
    other[0] += 5.0
    seen = []
    for y in (NOISE, other):
        view = make_view(fitted(y=y), X, "psi", standardise=False)
        seen.append(view.of_strong(StrongSet(X, y)))
    assert np.array_equal(seen[0][0], seen[1][0])
    assert not np.array_equal(seen[0], seen[1])


def test_labels_of_noise_are_learned_by_heart_and_not_foreseen():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(80, 5)), rng.normal(size=(80, 1))
    student = Perceptron(5, 1, (32,), chance=Chance(0))
    noise = problem(X, y)
    eyes = cross_fit(student, noise, Training(steps=400, batch_size=32, learning_rate=1e-2), 4, Chance(0))
    by_heart = np.corrcoef(eyes.respond(X)[:, 0], y[:, 0])[0, 1]
    foreseen = np.corrcoef(eyes.respond_to_strong(noise.strong)[:, 0], y[:, 0])[0, 1]
    assert by_heart > 0.7
    assert abs(foreseen) < 0.3  # three standard deviations of a correlation of 80 samples that has no reason


def test_a_single_fold_is_refused():
    with expect_refusal(InvalidInput, "cross-validation needs at least 2 samples and 2 folds, got 12 and 1"):
        fitted(k=1)
