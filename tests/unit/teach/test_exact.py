import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fwl.teach import RBF, ExactGP, Linear, Matern32, White, exact
from fwl.teach.given import HYPERPARAMETERS
from tests.properties import PROPERTY
from tests.tolerances import ALGEBRA, OPTIMISED, SINGLE

COORDINATE = st.floats(-20, 20, allow_nan=False, width=32)


def strong(n: int = 12) -> tuple[np.ndarray, np.ndarray]:
    Z = np.random.default_rng(0).uniform(-2, 2, size=(n, 2))
    return Z, np.sin(Z.sum(axis=1))


def elsewhere(m: int = 30) -> np.ndarray:
    return np.random.default_rng(1).uniform(-3, 3, size=(m, 2))


@PROPERTY
@given(
    Z=arrays(np.float64, st.tuples(st.integers(1, 8), st.just(2)), elements=COORDINATE),
    new=arrays(np.float64, (4, 2), elements=COORDINATE),
    kernel=st.sampled_from([RBF(), RBF(5.0, 3.0), Matern32(0.2), Linear(1.0, 0.1)]),
    noise=st.sampled_from([1e-4, 0.01, 1.0]),
)
def test_the_variance_lies_between_the_noise_and_the_prior(Z, new, kernel, noise):
    posterior = ExactGP(kernel + White(noise)).fit(Z, np.zeros(len(Z))).posterior(new)
    assert (posterior.variance >= noise).all()
    assert (posterior.variance <= posterior.prior + ALGEBRA).all()
    assert posterior.noise == noise


@PROPERTY
@given(data=st.data(), n=st.integers(2, 8))
def test_another_label_never_makes_it_less_sure(data, n):
    Z = data.draw(arrays(np.float64, (n, 2), elements=COORDINATE))
    with_all = ExactGP().fit(Z, np.zeros(n)).posterior(elsewhere(5))
    with_fewer = ExactGP().fit(Z[:-1], np.zeros(n - 1)).posterior(elsewhere(5))
    assert (with_all.variance <= with_fewer.variance + ALGEBRA).all()


def test_one_strong_sample():
    posterior = ExactGP(RBF() + White(0.25)).fit([[0.0]], [2.0]).posterior([[0.0], [1e6]])
    np.testing.assert_allclose(posterior.mean, [[2.0 / 1.25], [0.0]], rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(posterior.variance, [[1.25 - 1 / 1.25], [1.25]], rtol=0, atol=ALGEBRA)


def test_one_strong_sample_left_out_is_the_prior():
    left_out = ExactGP(RBF() + White(0.25)).fit([[0.0]], [2.0]).leave_one_out()
    np.testing.assert_allclose(left_out.mean, [[0.0]], rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(left_out.variance, left_out.prior, rtol=0, atol=ALGEBRA)


@pytest.mark.parametrize("hyperparameters", HYPERPARAMETERS)
@pytest.mark.parametrize("constant", [0.0, 1.0, -3.0])
def test_constant_labels(hyperparameters, constant):
    Z, _ = strong()
    teacher = ExactGP(hyperparameters=hyperparameters).fit(Z, np.full(len(Z), constant))
    assert np.isfinite(teacher.log_evidence_)
    np.testing.assert_allclose(teacher.posterior(Z).mean, constant, rtol=0, atol=0.1)


@pytest.mark.parametrize("hyperparameters", HYPERPARAMETERS)
def test_one_strong_sample_can_be_fitted(hyperparameters):
    teacher = ExactGP(hyperparameters=hyperparameters).fit([[0.0]], [2.0])
    assert np.isfinite(teacher.posterior([[0.0]]).mean).all()


def test_far_from_every_sample_it_falls_back_to_its_prior():
    posterior = ExactGP().fit(*strong()).posterior([[1e3, 1e3]])
    np.testing.assert_array_equal(posterior.mean, [[0.0]])
    np.testing.assert_array_equal(posterior.variance, posterior.prior)


def test_without_noise_it_goes_through_its_labels():
    Z, y = strong()
    posterior = ExactGP(RBF()).fit(Z, y).posterior(Z)
    np.testing.assert_allclose(posterior.mean[:, 0], y, rtol=0, atol=SINGLE)
    np.testing.assert_allclose(posterior.variance, 0.0, rtol=0, atol=SINGLE)


def test_duplicated_rows_without_noise():
    Z, y = (np.repeat(a, 3, axis=0) for a in strong())
    posterior = ExactGP(RBF()).fit(Z, y).posterior(Z)
    np.testing.assert_allclose(posterior.mean[:, 0], y, rtol=0, atol=OPTIMISED)
    assert (posterior.variance >= 0.0).all()


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1e3, 1e8])
def test_the_scale_of_the_inputs_is_the_lengthscales(scale):
    Z, y = strong()
    plain = ExactGP(RBF(1.0) + White()).fit(Z, y).posterior(elsewhere())
    scaled = ExactGP(RBF(scale) + White()).fit(scale * Z, y).posterior(scale * elsewhere())
    np.testing.assert_allclose(scaled.mean, plain.mean, rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(scaled.variance, plain.variance, rtol=0, atol=ALGEBRA)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_the_scale_of_the_labels_carries_over(scale):
    Z, y = strong()
    plain = ExactGP().fit(Z, y).posterior(elsewhere())
    scaled = ExactGP().fit(Z, scale * y).posterior(elsewhere())
    np.testing.assert_allclose(scaled.mean, scale * plain.mean, rtol=ALGEBRA, atol=ALGEBRA * scale)


def test_inputs_moved_far_away_give_the_same_answers():
    Z, y = strong()
    plain, moved = ExactGP().fit(Z, y).posterior(elsewhere()), ExactGP().fit(Z + 1e6, y).posterior(elsewhere() + 1e6)
    np.testing.assert_allclose(moved.mean, plain.mean, rtol=0, atol=SINGLE)


LAYOUTS = {
    "columns first": np.asfortranarray,
    "reversed view": lambda a: a[::-1][::-1],
    "every other": lambda a: np.repeat(a, 2, axis=0)[::2],
    "a list": np.ndarray.tolist,
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_layout_changes_nothing(layout):
    Z, y = strong()
    plain = ExactGP().fit(Z, y).posterior(elsewhere())
    other = ExactGP().fit(layout(Z), layout(y)).posterior(layout(elsewhere()))
    np.testing.assert_array_equal(other.mean, plain.mean)
    np.testing.assert_array_equal(other.variance, plain.variance)


def test_single_precision_comes_in_and_double_goes_out():
    Z, y = (a.astype(np.float32) for a in strong())
    posterior = ExactGP().fit(Z, y).posterior(elsewhere().astype(np.float32))
    assert posterior.mean.dtype == posterior.variance.dtype == np.float64
    plain = ExactGP().fit(*strong()).posterior(elsewhere())
    np.testing.assert_allclose(posterior.mean, plain.mean, rtol=0, atol=1e-4)


def test_a_vector_of_inputs_is_one_column():
    x, y = np.linspace(0, 1, 5), np.ones(5)
    np.testing.assert_array_equal(
        ExactGP().fit(x, y).posterior(x).mean, ExactGP().fit(x[:, None], y).posterior(x[:, None]).mean
    )


def test_chunks_give_what_the_whole_gives(monkeypatch):
    teacher = ExactGP().fit(*strong())
    whole = teacher.posterior(elsewhere())
    monkeypatch.setattr(exact, "CHUNK", 7)
    chunked = teacher.posterior(elsewhere())
    np.testing.assert_allclose(chunked.mean, whole.mean, rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(chunked.variance, whole.variance, rtol=0, atol=ALGEBRA)


@pytest.mark.parametrize("hyperparameters", HYPERPARAMETERS)
def test_fitting_twice_is_fitting_once(hyperparameters):
    once, twice = ExactGP(hyperparameters=hyperparameters), ExactGP(hyperparameters=hyperparameters)
    once.fit(*strong())
    twice.fit(elsewhere(), np.ones(30)).fit(*strong())
    assert once.kernel_ == twice.kernel_
    assert once.log_evidence_ == twice.log_evidence_


def test_fitting_leaves_what_the_user_gave():
    kernel = RBF(3.0) + White(0.5)
    teacher = ExactGP(kernel, "evidence").fit(*strong())
    assert teacher.kernel == kernel
    assert teacher.kernel_ != kernel


def test_fixed_takes_the_kernel_as_it_is():
    assert ExactGP().fit(*strong()).kernel_ == RBF() + White()
    assert ExactGP(Matern32(2.0)).fit(*strong()).kernel_ == Matern32(2.0)


def test_every_label_column_shares_the_variance():
    Z, y = strong()
    posterior = ExactGP().fit(Z, np.stack([y, -y, y**2], axis=1)).posterior(elsewhere())
    assert posterior.mean.shape == posterior.variance.shape == (30, 3)
    np.testing.assert_array_equal(posterior.variance[:, 0], posterior.variance[:, 2])
    np.testing.assert_allclose(posterior.mean[:, 0], -posterior.mean[:, 1], rtol=0, atol=ALGEBRA)
