import numpy as np
import pytest

from fwl.errors import InvalidInput, NotFitted, WrongShape
from fwl.teach import RBF, ClusteredGP, Divided, ExactGP, Reduced, White
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA, SINGLE


def strong(n: int = 40, d: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, d)) * np.geomspace(3.0, 0.01, d) + 5.0
    return Z, np.sin(Z[:, :1])


def elsewhere(m: int = 20, d: int = 6) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(m, d)) + 5.0


def test_all_components_are_the_teacher_behind_it():
    reduced, plain = Reduced(ExactGP, components=6).fit(*strong()), ExactGP().fit(*strong())
    np.testing.assert_allclose(
        reduced.posterior(elsewhere()).mean, plain.posterior(elsewhere()).mean, rtol=0, atol=ALGEBRA
    )
    np.testing.assert_allclose(reduced.leave_one_out().mean, plain.leave_one_out().mean, rtol=0, atol=ALGEBRA)
    assert reduced.log_evidence_ == pytest.approx(plain.log_evidence_, rel=ALGEBRA)
    assert reduced.explained_ == pytest.approx(1.0, abs=ALGEBRA)


def test_components_are_the_directions_of_most_variance():
    Z, y = strong()
    reduced = Reduced(ExactGP, components=2).fit(Z, y)
    values, vectors = np.linalg.eigh(np.cov(Z.T))
    overlap = abs(reduced.directions_ @ vectors[:, [-1, -2]])
    np.testing.assert_allclose(overlap, np.eye(2), rtol=0, atol=SINGLE)
    assert reduced.explained_ == pytest.approx(values[-2:].sum() / values.sum(), abs=ALGEBRA)
    np.testing.assert_allclose(reduced.centre_, Z.mean(axis=0), rtol=0, atol=ALGEBRA)


def test_the_teacher_behind_it_sees_projections():
    Z, y = strong()
    reduced = Reduced(ExactGP, components=2).fit(Z, y)
    by_hand = ExactGP().fit((Z - reduced.centre_) @ reduced.directions_.T, y)
    projected = (elsewhere() - reduced.centre_) @ reduced.directions_.T
    np.testing.assert_array_equal(reduced.posterior(elsewhere()).mean, by_hand.posterior(projected).mean)
    assert reduced.log_evidence_ == reduced.teacher_.log_evidence_ == by_hand.log_evidence_


def test_what_lies_across_the_components_is_not_seen():
    Z, y = strong()
    reduced = Reduced(ExactGP, components=1).fit(Z, y)
    across = np.linalg.svd(reduced.directions_)[2][1:2]
    one, other = reduced.posterior(elsewhere()), reduced.posterior(elsewhere() + 100 * across)
    np.testing.assert_allclose(one.mean, other.mean, rtol=0, atol=ALGEBRA)


@pytest.mark.parametrize(("n", "d", "expected"), [(3, 6, 3), (40, 2, 2), (1, 4, 1), (2, 1, 1)])
def test_there_are_no_more_components_than_samples_or_columns(n, d, expected):
    reduced = Reduced(ExactGP, components=20).fit(*strong(n, d))
    assert reduced.directions_.shape == (expected, d)
    assert np.isfinite(reduced.posterior(elsewhere(d=d)).mean).all()


def test_samples_that_do_not_vary_explain_nothing():
    reduced = Reduced(ExactGP).fit(np.ones((10, 3)), np.ones(10))
    assert reduced.explained_ == 0.0
    assert np.isfinite(reduced.posterior(elsewhere(d=3)).mean).all()


def test_any_teacher_may_stand_behind_it():
    Z, y = strong()
    for behind in (lambda: ClusteredGP(2), lambda: Divided(ExactGP, 2), lambda: Reduced(ExactGP, 1)):
        assert Reduced(behind, components=2).fit(Z, y).posterior(elsewhere()).mean.shape == (20, 1)


@pytest.mark.parametrize("ask", [lambda t: t.posterior(elsewhere()), lambda t: t.leave_one_out(), lambda t: t.state()])
def test_asking_before_teaching_is_refused(ask):
    with expect_refusal(NotFitted, "this teacher has not been fitted; call fit(Z, y) with strong labels first"):
        ask(Reduced())


@pytest.mark.parametrize("components", [0, -2])
def test_no_components_are_refused(components):
    with expect_refusal(InvalidInput, f"components is at least 1, got {components}"):
        Reduced(ExactGP, components).fit(*strong())


def test_inputs_of_another_width_are_counted_as_they_came():
    with expect_refusal(WrongShape, "teacher inputs: expected [M, 6], got shape (20, 2)"):
        Reduced(ExactGP, components=2).fit(*strong()).posterior(elsewhere(d=2))


def test_a_fit_that_fails_leaves_what_was_learned():
    Z, y = strong()
    reduced = Reduced(lambda: ExactGP(RBF() + White()), components=2).fit(Z, y)
    before = reduced.posterior(elsewhere()).mean
    with pytest.raises(WrongShape):
        reduced.fit(3 * Z[:, ::-1], y[:-1])
    np.testing.assert_array_equal(reduced.posterior(elsewhere()).mean, before)
