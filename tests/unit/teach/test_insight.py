import numpy as np
import pytest

from fwl.errors import NoClosedForm
from fwl.teach import RBF, ClusteredGP, ExactGP, Reduced, White
from fwl.teach.insight import far_reaching, insight
from tests.tolerances import ALGEBRA

RNG = np.random.default_rng(0)
Z, Y, A = RNG.normal(size=(40, 3)), RNG.normal(size=(40, 2)), RNG.normal(size=(12, 3))
KERNEL = RBF(1.2, 0.7) + White(0.1)
MEAN = 0.3 * RNG.normal(size=(40, 2))
TEACHERS = {
    "exact": lambda: ExactGP(KERNEL),
    "shrunk": lambda: ExactGP(KERNEL, shrink_mean=True),
    "clustered": lambda: ClusteredGP(3, kernel=KERNEL, precision="double", smallest=3),
    "reduced": lambda: Reduced(lambda: ExactGP(KERNEL), components=2),
}
EVERY = pytest.mark.parametrize("make", TEACHERS.values(), ids=TEACHERS.keys())


@EVERY
def test_the_variance_is_the_posteriors_without_noise(make):
    teacher = make().fit(Z, Y)
    posterior = teacher.posterior(A)
    np.testing.assert_allclose(insight(teacher).variance(A), posterior.variance[:, 0] - 0.1, atol=ALGEBRA)
    assert insight(teacher).noise == 0.1


@EVERY
def test_the_covariance_has_the_variance_on_its_diagonal_and_is_symmetric(make):
    inside = insight(make().fit(Z, Y))
    covariance = inside.covariance(A, A)
    np.testing.assert_allclose(np.diagonal(covariance), inside.variance(A), atol=ALGEBRA)
    np.testing.assert_allclose(covariance, covariance.T, atol=ALGEBRA)
    assert np.linalg.eigvalsh(covariance).min() > -ALGEBRA


@EVERY
def test_the_mean_is_the_prior_mean_and_the_weights_times_the_residual(make):
    teacher = make().fit(Z, Y, MEAN)
    inside = insight(teacher)
    at_zero = np.zeros((len(A), 2))
    np.testing.assert_allclose(inside.weights(A) @ inside.residual(), teacher.posterior(A, at_zero).mean, atol=1e-8)


def test_the_covariance_is_what_a_label_would_remove():
    inside = insight(ExactGP(KERNEL).fit(Z, Y))
    more = insight(ExactGP(KERNEL).fit(np.concatenate([Z, A[:1]]), np.concatenate([Y, Y[:1]])))
    removed = inside.covariance(A, A[:1])[:, 0] ** 2 / (inside.variance(A[:1])[0] + 0.1)
    np.testing.assert_allclose(inside.variance(A) - more.variance(A), removed, atol=ALGEBRA)


def test_samples_in_different_clusters_do_not_hang_together():
    teacher = TEACHERS["clustered"]().fit(Z, Y)
    inside = insight(teacher)
    where = inside.route(A)
    apart = where[:, None] != where[None, :]
    assert apart.any()
    assert (inside.covariance(A, A)[apart] == 0).all()


def test_other_teachers_are_refused():
    class Other:
        pass

    with pytest.raises(NoClosedForm, match="a Other has no closed form for how samples hang together"):
        insight(Other())


@EVERY
def test_far_reaching_it_is_the_teacher_with_that_kernel(make):
    expected = RBF(5.0, 0.7) + White(2.1)  # three quarters of a label's variance
    inside = far_reaching(insight(make().fit(Z, Y)), 5.0, 0.75)
    for region in inside.regions:
        assert region.kernel.parameters() == pytest.approx(expected.parameters(), abs=ALGEBRA)
    wide = insight(ExactGP(expected).fit(Z, Y))
    exact = far_reaching(insight(ExactGP(KERNEL).fit(Z, Y)), 5.0, 0.75)
    np.testing.assert_allclose(exact.covariance(A, A), wide.covariance(A, A), atol=ALGEBRA)


def test_what_reaches_far_and_is_noisy_enough_stays():
    inside = insight(ExactGP(RBF(3.0, 0.1) + White(0.2)).fit(Z, Y))
    np.testing.assert_allclose(far_reaching(inside, 2.0, 0.6).covariance(A, A), inside.covariance(A, A), atol=ALGEBRA)
