"""A prior mean is given to both fit and posterior, or to neither."""

import numpy as np
import pytest

from fwl.errors import InvalidInput, NotFinite, WrongShape
from fwl.teach import ExactGP
from fwl.teach.evidence import Believed
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA, SINGLE

Z = np.linspace(-1, 1, 6)[:, None]
Y = np.sin(3 * Z)


def test_far_away_it_is_the_answer():
    posterior = ExactGP().fit(Z, Y, Y + 1).posterior([[1e3]], [[7.0]])
    np.testing.assert_allclose(posterior.mean, [[7.0]], rtol=0, atol=ALGEBRA)


def test_one_that_is_right_is_kept():
    posterior = ExactGP().fit(Z, Y, Y).posterior(Z, 2 * Y)
    np.testing.assert_allclose(posterior.mean, 2 * Y, rtol=0, atol=ALGEBRA)


def test_none_is_zero():
    plain, zero = ExactGP().fit(Z, Y), ExactGP().fit(Z, Y, 0 * Y)
    np.testing.assert_array_equal(plain.posterior(Z).mean, zero.posterior(Z, 0 * Y).mean)
    assert plain.log_evidence_ == zero.log_evidence_


def test_the_factor_tells_how_it_was_used():
    assert ExactGP().fit(Z, Y).shrinkage_ == ()
    assert ExactGP().fit(Z, Y, Y).shrinkage_ == (1.0,)
    assert ExactGP(shrink_mean=True).fit(Z, Y).shrinkage_ == ()


@pytest.mark.parametrize(("factor", "expected"), [(1.0, 1.0), (2.0, 0.5), (0.5, 1.0), (-1.0, 0.0)])
def test_shrinking_finds_the_factor_between_nothing_and_all(factor, expected):
    teacher = ExactGP(shrink_mean=True).fit(Z, Y, factor * Y)
    assert teacher.shrinkage_ == pytest.approx((expected,), abs=ALGEBRA)


def test_a_shrunk_mean_is_shrunk_everywhere():
    posterior = ExactGP(shrink_mean=True).fit(Z, Y, 2 * Y).posterior([[1e3]], [[8.0]])
    np.testing.assert_allclose(posterior.mean, [[4.0]], rtol=0, atol=ALGEBRA)


def test_shrinking_a_mean_of_zero_is_harmless():
    assert np.isfinite(ExactGP(shrink_mean=True).fit(Z, Y, 0 * Y).log_evidence_)


@pytest.mark.parametrize("taught", [Y, 0 * Y])
def test_one_taught_and_not_asked_is_refused(taught):
    message = "this teacher was fitted with a prior mean; give the prior mean of these samples too"
    with expect_refusal(InvalidInput, message):
        ExactGP().fit(Z, Y, taught).posterior(Z)


def test_one_asked_and_not_taught_is_refused():
    message = "this teacher was fitted without a prior mean; fit it with one or ask without"
    with expect_refusal(InvalidInput, message):
        ExactGP().fit(Z, Y).posterior(Z, Y)


def test_one_of_another_shape_than_the_labels_is_refused():
    with expect_refusal(WrongShape, "prior mean: expected shape (6, 1) like the labels, got (5, 1)"):
        ExactGP().fit(Z, Y, Y[:5])
    with expect_refusal(WrongShape, "prior mean: expected shape (6, 1) like the labels, got (6, 2)"):
        ExactGP().fit(Z, Y, np.zeros((6, 2)))


def test_one_of_another_shape_than_asked_is_refused():
    teacher = ExactGP().fit(Z, Y, Y)
    with expect_refusal(WrongShape, "prior mean: expected shape (4, 1) like the labels, got (6, 1)"):
        teacher.posterior(Z[:4], Y)
    with expect_refusal(WrongShape, "prior mean: expected shape (6, 1) like the labels, got (6, 2)"):
        teacher.posterior(Z, np.zeros((6, 2)))


def test_a_broken_one_is_refused():
    with expect_refusal(
        NotFinite, "prior mean: NaN or infinity in 6 of 6 rows (rows 0, 1, 2, 3, 4, ...); drop or fill them first"
    ):
        ExactGP().fit(Z, Y, Y + np.nan)


def test_refitting_without_one_forgets_it():
    teacher = ExactGP().fit(Z, Y, Y).fit(Z, Y)
    np.testing.assert_array_equal(teacher.posterior(Z).mean, ExactGP().fit(Z, Y).posterior(Z).mean)


TWO = np.stack([Y, np.cos(5 * Z)], axis=-1)  # [N, 1, 2]: the labels themselves, and something else


def test_nobody_believed_is_nobody_heard():
    free, unheard = ExactGP(shrink_mean=True), ExactGP(shrink_mean=True, believed=Believed((0.2, 0.8), rows=0.0))
    assert unheard.fit(Z, Y, TWO).shrinkage_ == pytest.approx(free.fit(Z, Y, TWO).shrinkage_, abs=ALGEBRA)


def test_what_is_firmly_believed_of_the_factors_stays():
    teacher = ExactGP(shrink_mean=True, believed=Believed((0.2, 0.8), rows=1e12)).fit(Z, Y, TWO)
    assert teacher.shrinkage_ == pytest.approx((0.2, 0.8), abs=SINGLE)


def test_more_believed_rows_draw_the_factors_nearer():
    firm = [ExactGP(shrink_mean=True, believed=Believed((0.2, 0.8), rows)).fit(Z, Y, TWO) for rows in (1, 10, 100)]
    away = [abs(teacher.shrinkage_[0] - 0.2) for teacher in firm]
    assert away[0] > away[1] > away[2] > 0


def test_a_belief_that_agrees_with_the_labels_changes_nothing():
    teacher = ExactGP(shrink_mean=True, believed=Believed((1.0,), rows=50.0)).fit(Z, Y, Y)
    assert teacher.shrinkage_ == pytest.approx((1.0,), abs=ALGEBRA)


def test_labels_of_nothing_but_zero_leave_what_is_believed():
    teacher = ExactGP(shrink_mean=True, believed=Believed((0.4,), rows=10.0)).fit(Z, 0 * Y, 0 * Y + 1e-9)
    assert np.isfinite(teacher.shrinkage_).all()
