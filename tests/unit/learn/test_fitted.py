import warnings
from dataclasses import replace

import numpy as np
import pytest
from tests.problems import class_problem, class_recipe, new_class_teacher
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA, SINGLE

from fwl.errors import InvalidInput, NoClosedForm
from fwl.evaluate.folds import folds
from fwl.learn.eyes import OneStudent
from fwl.learn.fitted import FOLDS, fit_teacher, fit_through, left_out, strong_directions
from fwl.learn.prior import average_label
from fwl.learn.recipe import PRIOR_MEANS, Teaching
from fwl.learn.task import BINARY, MULTICLASS, REGRESSION
from fwl.randomness import Chance
from fwl.records import StrongSet
from fwl.students.inference import predict
from fwl.students.perceptron import Perceptron
from fwl.teach.exact import ExactGP
from fwl.teach.kernels import RBF, White

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(20, 4)), RNG.normal(size=(30, 4))
NUMBERS = StrongSet(X, np.sin(X[:, :1]), np.sin(X[:, :1]) + 0.3)
CLASSES = StrongSet(X, np.eye(3)[RNG.integers(3, size=20)], np.eye(3)[RNG.integers(3, size=20)])
ONE_COLUMN = StrongSet(X, (X[:, :1] > 0).astype(float), (X[:, :1] > 0.5).astype(float))
WEAK = np.eye(3)[RNG.integers(3, size=30)]
CASES = {"numbers": (NUMBERS, REGRESSION), "classes": (CLASSES, MULTICLASS), "one column": (ONE_COLUMN, BINARY)}
of_every_kind = pytest.mark.parametrize(("strong", "task"), CASES.values(), ids=CASES)
with_every_prior = pytest.mark.parametrize("prior_mean", PRIOR_MEANS)


class Unsolvable(ExactGP):
    """Has no closed form for leaving one out."""

    def leave_one_out(self):
        raise NoClosedForm("no closed form")


def new_teacher():
    return ExactGP(RBF(1.5, 0.5) + White(0.1))


def eyes(task):
    return OneStudent(Perceptron(4, 3 if task is MULTICLASS else 1, (6, 5), chance=Chance(0)))


def teach(strong, task, new=new_teacher, **teaching):
    return fit_teacher(eyes(task), strong, np.concatenate([NEW, X]), Teaching(new, "x", **teaching), task)


def near(prior_mean):
    """A student asked about fewer samples at a time answers the same in single precision only."""
    return SINGLE if prior_mean.startswith("student") else ALGEBRA


def weak_of_new(strong):
    return WEAK[:, : strong.y.shape[1]]


@of_every_kind
def test_without_a_prior_mean_the_belief_is_the_gaussian_processs_own(strong, task):
    belief = teach(strong, task).posterior(NEW)
    plain = new_teacher().fit(X, strong.y - task.indifferent).posterior(NEW)
    assert np.array_equal(belief.mean, plain.mean + task.indifferent)
    assert np.array_equal(belief.variance, plain.variance)
    assert belief.noise == plain.noise == 0.1


@of_every_kind
@with_every_prior
def test_far_from_all_strong_samples_the_belief_is_the_prior_mean(strong, task, prior_mean):
    far, weak = NEW + 1e4, weak_of_new(strong)
    said = task.link(eyes(task).respond(far))
    average = average_label(strong.y, task)
    base = average if task.has_classes else np.zeros(1)
    expected = {
        "zero": np.full_like(said, task.indifferent),
        "average": np.broadcast_to(average, said.shape),
        "weak": weak,
        "student": said,
        "student_and_weak": base + (said - base) + (weak - base),
    }[prior_mean]
    got = teach(strong, task, prior_mean=prior_mean).posterior(far, weak).mean
    np.testing.assert_allclose(got, expected, atol=ALGEBRA)


def test_a_student_of_classes_is_read_through_the_link():
    """Its prediction, not its logits, is what labels are compared with."""
    fitted = teach(CLASSES, MULTICLASS, prior_mean="student")
    directions = strong_directions(fitted.view, CLASSES, fitted.prior, MULTICLASS)
    probabilities = MULTICLASS.link(predict(eyes(MULTICLASS).student, X))
    np.testing.assert_allclose(directions[..., 0], probabilities - fitted.prior.base, atol=ALGEBRA)


@of_every_kind
@with_every_prior
def test_a_prediction_is_the_label_of_the_belief(strong, task, prior_mean):
    fitted, weak = teach(strong, task, prior_mean=prior_mean, calibrate=True), weak_of_new(strong)
    assert np.array_equal(fitted.predict(NEW, weak), fitted.label(fitted.posterior(NEW, weak)))


@of_every_kind
def test_without_calibration_the_link_makes_the_labels(strong, task):
    fitted = teach(strong, task)
    assert fitted.calibration is None
    mean = fitted.posterior(NEW).mean
    seen_as_signs = 2 * mean - 1 if task is BINARY else mean
    assert np.array_equal(fitted.predict(NEW), task.link(seen_as_signs))


def test_two_classes_in_one_column_are_not_all_called_positive():
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(200, 4))
    y = (samples[:, :1] > 0).astype(float)
    teaching = Teaching(new_class_teacher, "x")
    fitted = fit_teacher(eyes(BINARY), StrongSet(samples[:100], y[:100]), samples, teaching, BINARY)
    said = fitted.predict(samples[100:])
    assert 0.3 < (said > 0.5).mean() < 0.7
    assert ((said > 0.5) == y[100:]).mean() > 0.8


def test_numbers_are_never_calibrated():
    assert teach(NUMBERS, REGRESSION, calibrate=True).calibration is None


@pytest.mark.parametrize("prior_mean", ["zero", "average", "student"])
def test_weak_labels_are_not_read_where_nobody_asked_for_them(prior_mean):
    fitted = teach(CLASSES, MULTICLASS, prior_mean=prior_mean)
    assert np.array_equal(fitted.predict(NEW), fitted.predict(NEW, WEAK))


def test_weak_labels_are_read_where_they_are_part_of_the_prior_mean():
    fitted = teach(CLASSES, MULTICLASS, prior_mean="student_and_weak", calibrate=True)
    assert not np.allclose(fitted.predict(NEW, WEAK), fitted.predict(NEW, WEAK[::-1]))
    message = (
        "this teacher reads the annotator's label of each sample and got none; give the weak labels too, or choose "
        "another prior mean"
    )
    with expect_refusal(InvalidInput, message):
        fitted.predict(NEW)
    with expect_refusal(InvalidInput, message):
        teach(StrongSet(X, CLASSES.y), MULTICLASS, prior_mean="student_and_weak")


@of_every_kind
@with_every_prior
def test_leaving_one_out_is_fitting_without_it(strong, task, prior_mean):
    fitted = teach(strong, task, prior_mean=prior_mean)
    belief = left_out(fitted, strong)
    for i in range(len(X)):
        rest = np.delete(np.arange(len(X)), i)
        some = StrongSet(X[rest], strong.y[rest], strong.weak[rest])
        again = fit_through(fitted.view, new_teacher(), some, fitted.prior, fitted.teaching, task)
        expected = again.posterior(X[[i]], strong.weak[[i]])
        np.testing.assert_allclose(belief.mean[i], expected.mean[0], rtol=0, atol=near(prior_mean))
        np.testing.assert_allclose(belief.variance[i], expected.variance[0], rtol=0, atol=ALGEBRA)


@with_every_prior
def test_a_teacher_without_a_closed_form_is_fitted_fold_by_fold(prior_mean):
    fitted = teach(CLASSES, MULTICLASS, lambda: Unsolvable(RBF(1.5, 0.5) + White(0.1)), prior_mean=prior_mean)
    belief = left_out(fitted, CLASSES)
    for kept, rows in folds(len(X), FOLDS, Chance(0).child("left-out folds")):
        some = StrongSet(X[kept], CLASSES.y[kept], CLASSES.weak[kept])
        again = fit_through(fitted.view, new_teacher(), some, fitted.prior, fitted.teaching, MULTICLASS)
        expected = again.posterior(X[rows], CLASSES.weak[rows])
        np.testing.assert_allclose(belief.mean[rows], expected.mean, rtol=0, atol=near(prior_mean))
        np.testing.assert_allclose(belief.variance[rows], expected.variance, atol=ALGEBRA)
        np.testing.assert_allclose(belief.prior[rows], expected.prior, atol=ALGEBRA)


@pytest.mark.parametrize("kind", [ExactGP, Unsolvable])
def test_what_is_left_out_is_not_seen(kind):
    """Under "zero" nothing of the label is left: not even its part in the classes' shares."""
    turned = CLASSES.y.copy()
    turned[3] = np.roll(turned[3], 1)
    other = StrongSet(X, turned)
    before, after = (
        left_out(teach(strong, MULTICLASS, lambda: kind(RBF() + White(0.1))), strong) for strong in (CLASSES, other)
    )
    np.testing.assert_allclose(before.mean[3], after.mean[3], atol=ALGEBRA)
    assert not np.allclose(before.mean, after.mean)


def test_two_strong_samples_can_be_left_out_too():
    two = StrongSet(X[:2], CLASSES.y[:2])
    for kind in (ExactGP, Unsolvable):
        assert left_out(teach(two, MULTICLASS, kind, calibrate=True), two).mean.shape == (2, 3)


def test_a_sparse_classifier_is_calibrated_on_folds():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # its own, on import
        pytest.importorskip("gpytorch")
    from fwl.teach.sparse_classes import SparseClassifierGP

    example = class_problem()
    fitted = fit_teacher(
        eyes(MULTICLASS),
        example.problem.strong,
        example.problem.all_samples,
        Teaching(lambda: SparseClassifierGP(RBF(2.0, 4.0) + White(0.1), 10, steps=30), "x", calibrate=True),
        MULTICLASS,
    )
    p = fitted.predict(example.X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=ALGEBRA)
    assert (p.argmax(axis=1) == example.y.argmax(axis=1)).mean() > 0.5  # of three classes


def rare():
    """Two classes in one column and three in three, the last one rare; where it lies is easy to tell."""
    rng = np.random.default_rng(1)
    which = np.repeat([0, 1, 2], [60, 50, 6])
    return 1.5 * np.eye(4)[which] + 0.7 * rng.normal(size=(116, 4)), which


def teach_rare(one_column, rebalance):
    samples, which = rare()
    y = (which == 2).astype(float)[:, None] if one_column else np.eye(3)[which]
    task = BINARY if one_column else MULTICLASS
    teaching = Teaching(new_class_teacher, "x", prior_mean="average", calibrate=True, rebalance=rebalance)
    return fit_teacher(eyes(task), StrongSet(samples, y), samples, teaching, task), samples


@pytest.mark.parametrize("one_column", [False, True])
def test_rebalancing_lifts_a_rare_class(one_column):
    (plain, samples), (lifted, _) = teach_rare(one_column, 0.0), teach_rare(one_column, 1.0)
    before, after = plain.predict(samples)[:, -1], lifted.predict(samples)[:, -1]
    assert (after > before).all()
    assert after.sum() > 1.5 * before.sum()
    assert (np.argsort(before) == np.argsort(after)).all() or not one_column  # of two classes, the order stays


@pytest.mark.parametrize("one_column", [False, True])
def test_half_way_is_the_root_of_the_shares(one_column):
    (plain, samples), (half, _) = teach_rare(one_column, 0.0), teach_rare(one_column, 0.5)
    shares = np.array([1 - plain.shares[0], plain.shares[0]]) if one_column else plain.shares
    p = plain.predict(samples)
    weighted = (np.hstack([1 - p, p]) if one_column else p) / np.sqrt(shares)
    expected = weighted / weighted.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(half.predict(samples), expected[:, 1:] if one_column else expected, atol=ALGEBRA)


def test_rebalancing_leaves_labels_on_the_simplex():
    fitted, samples = teach_rare(False, 0.5)
    np.testing.assert_allclose(fitted.predict(samples).sum(axis=1), 1.0, atol=ALGEBRA)


def test_standardised_inputs_are_those_of_all_samples():
    example = class_problem()
    teaching = replace(class_recipe().teaching, prior_mean="zero")
    fitted = fit_teacher(eyes(MULTICLASS), example.problem.strong, example.problem.all_samples, teaching, MULTICLASS)
    Z = fitted.view(example.problem.all_samples)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=ALGEBRA)
    np.testing.assert_allclose(Z.std(axis=0), 1.0, atol=ALGEBRA)
