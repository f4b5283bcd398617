import pickle
import warnings

import numpy as np
import pytest
import torch

from fwl.teach import RBF, ExactGP, Linear, Matern32, Sum, White, sparse
from fwl.teach.sparse import SparseGP
from fwl.teach.sparse_classes import SparseClassifierGP
from tests.tolerances import ALGEBRA, OPTIMISED

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # its own, on import
    pytest.importorskip("gpytorch")


def strong(n: int = 30) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    Z = rng.uniform(-2, 2, size=(n, 2))
    return Z, np.sin(Z.sum(axis=1)) + 0.1 * rng.normal(size=n)


def classes(n: int = 30) -> tuple[np.ndarray, np.ndarray]:
    Z, y = strong(n)
    return Z, np.eye(2)[(y > 0).astype(int)]


def elsewhere(m: int = 25) -> np.ndarray:
    return np.random.default_rng(1).uniform(-3, 3, size=(m, 2))


def regression(**settings) -> SparseGP:
    return SparseGP(**{"inducing": 6, "steps": 10, **settings})


def classification(**settings) -> SparseClassifierGP:
    return SparseClassifierGP(**{"inducing": 6, "steps": 10, "batch_size": 12, **settings})


BOTH = pytest.mark.parametrize(("new", "taught"), [(regression, strong), (classification, classes)])
WAYS = pytest.mark.parametrize("hyperparameters", sparse.HYPERPARAMETERS)


@BOTH
@WAYS
def test_the_same_chance_gives_the_same_bits(new, taught, hyperparameters):
    one, other = (new(hyperparameters=hyperparameters, random_state=3).fit(*taught()) for _ in range(2))
    assert one.log_evidence_ == other.log_evidence_
    assert one.kernel_ == other.kernel_
    np.testing.assert_array_equal(one.inducing_points_, other.inducing_points_)
    np.testing.assert_array_equal(one.posterior(elsewhere()).mean, other.posterior(elsewhere()).mean)
    np.testing.assert_array_equal(one.posterior(elsewhere()).variance, other.posterior(elsewhere()).variance)


@BOTH
def test_other_chance_gives_other_inducing_points(new, taught):
    one, other = (new(random_state=seed).fit(*taught()) for seed in (0, 1))
    assert not np.array_equal(one.inducing_points_, other.inducing_points_)


@BOTH
def test_nothing_is_drawn_from_global_generators(new, taught):
    before = np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()  # noqa: NPY002
    new(hyperparameters="evidence").fit(*taught()).posterior(elsewhere())
    assert before == (np.random.get_state()[1].tolist(), torch.get_rng_state().tolist())  # noqa: NPY002


@BOTH
@WAYS
def test_fitting_twice_is_fitting_once(new, taught, hyperparameters):
    once, twice = new(hyperparameters=hyperparameters), new(hyperparameters=hyperparameters)
    once.fit(*taught())
    twice.fit(*taught(20)).fit(*taught())
    assert once.kernel_ == twice.kernel_
    assert once.log_evidence_ == twice.log_evidence_


@BOTH
def test_fitting_leaves_what_the_user_gave(new, taught):
    kernel = RBF(3.0) + White(0.5)
    teacher = new(kernel=kernel, hyperparameters="evidence").fit(*taught())
    assert teacher.kernel == kernel
    assert teacher.kernel_ != kernel


@BOTH
def test_fixed_takes_the_kernel_as_it_is(new, taught):
    assert new().fit(*taught()).kernel_ == RBF() + White()
    kernel = Matern32(0.3) + White(0.07)
    assert new(kernel=kernel).fit(*taught()).kernel_ is kernel


@BOTH
def test_inducing_points_start_from_clusters_and_move(new, taught):
    staying, moving = (new(learn_inducing=moving).fit(*taught()) for moving in (False, True))
    assert staying.inducing_points_.shape == moving.inducing_points_.shape == (6, 2)
    assert not np.array_equal(staying.inducing_points_, moving.inducing_points_)
    assert abs(staying.inducing_points_).max() <= 2.0


@BOTH
@pytest.mark.parametrize("inducing", [30, 500])
def test_enough_inducing_points_are_the_samples(new, taught, inducing):
    Z, y = taught()
    np.testing.assert_array_equal(new(inducing=inducing).fit(Z, y).inducing_points_, Z)


@BOTH
@WAYS
def test_one_strong_sample(new, taught, hyperparameters):
    teacher = new(hyperparameters=hyperparameters).fit(*taught(1))
    posterior = teacher.posterior([*taught(1)[0], [1e6, 0.0]])
    assert np.isfinite(teacher.log_evidence_)
    assert posterior.variance[0, 0] < posterior.prior[0, 0]
    np.testing.assert_allclose(posterior.variance[1], posterior.prior[1], rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(posterior.mean[1], 0.0, rtol=0, atol=ALGEBRA)


@BOTH
@WAYS
@pytest.mark.parametrize("inducing", [3, 500])
def test_duplicated_rows(new, taught, hyperparameters, inducing):
    Z, y = (np.repeat(a, 4, axis=0) for a in taught(5))
    teacher = new(inducing=inducing, hyperparameters=hyperparameters).fit(Z, y)
    assert len(teacher.inducing_points_) == min(inducing, 5)
    assert np.isfinite(teacher.posterior(Z).mean).all()


@BOTH
@WAYS
def test_constant_columns(new, taught, hyperparameters):
    Z, y = taught()
    Z = np.hstack([Z, np.full((len(Z), 1), 7.0)])
    assert np.isfinite(new(hyperparameters=hyperparameters).fit(Z, y).posterior(Z).mean).all()
    nowhere = new(hyperparameters=hyperparameters).fit(np.zeros_like(Z), y)
    assert nowhere.inducing_points_.shape == (1, 3)
    assert np.isfinite(nowhere.posterior(Z).mean).all()


@BOTH
@pytest.mark.parametrize("kernel", [RBF(), Matern32(2.0, 3.0), Linear(1.0, 0.5), RBF() + Matern32() + Linear()])
def test_the_variance_lies_between_the_noise_and_the_prior(new, taught, kernel):
    posterior = new(kernel=kernel + White(0.2)).fit(*taught()).posterior(elsewhere())
    assert (posterior.variance >= 0.2).all()
    assert (posterior.variance <= posterior.prior).all()
    assert posterior.noise == 0.2


@BOTH
def test_chunks_give_what_the_whole_gives(new, taught, monkeypatch):
    teacher = new().fit(*taught())
    whole = teacher.posterior(elsewhere())
    monkeypatch.setattr(sparse, "CHUNK", 7)
    chunked = teacher.posterior(elsewhere())
    np.testing.assert_allclose(chunked.mean, whole.mean, rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(chunked.variance, whole.variance, rtol=0, atol=ALGEBRA)


@BOTH
def test_it_survives_a_pickle(new, taught):
    teacher = new().fit(*taught())
    again = pickle.loads(pickle.dumps(teacher))
    np.testing.assert_array_equal(again.posterior(elsewhere()).mean, teacher.posterior(elsewhere()).mean)


@BOTH
def test_a_fit_that_fails_leaves_what_was_learned(new, taught):
    teacher = new().fit(*taught())
    before = teacher.posterior(elsewhere()).mean
    teacher.kernel = White()
    with pytest.raises(ValueError, match="noise alone"):
        teacher.fit(*taught(10))
    np.testing.assert_array_equal(teacher.posterior(elsewhere()).mean, before)


def test_the_bound_stays_below_the_evidence_and_rises_towards_it():
    evidence = ExactGP().fit(*strong()).log_evidence_
    bounds = [SparseGP(inducing=m, learn_inducing=False).fit(*strong()).log_evidence_ for m in (2, 5, 10, 20, 30)]
    assert bounds == sorted(bounds)
    assert bounds[-2] < evidence
    assert bounds[-1] == pytest.approx(evidence, abs=ALGEBRA)


def test_each_freedom_raises_the_bound():
    nothing = SparseGP(inducing=6, learn_inducing=False).fit(*strong())
    points = SparseGP(inducing=6).fit(*strong())
    everything = SparseGP(inducing=6, hyperparameters="evidence").fit(*strong())
    assert nothing.log_evidence_ < points.log_evidence_ < everything.log_evidence_


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_inducing_points_move_in_units_of_the_inputs(scale):
    Z, y = strong()
    plain = SparseGP(inducing=6, steps=30).fit(Z, y)
    scaled = SparseGP(RBF(scale) + White(), inducing=6, steps=30).fit(scale * Z, y)
    assert scaled.log_evidence_ == pytest.approx(plain.log_evidence_, abs=OPTIMISED)


@pytest.mark.parametrize("constant", [0.0, 1.0, -3.0])
@WAYS
def test_constant_labels(hyperparameters, constant):
    Z, _ = strong()
    teacher = SparseGP(inducing=15, hyperparameters=hyperparameters).fit(Z, np.full(len(Z), constant))
    assert np.isfinite(teacher.log_evidence_)
    np.testing.assert_allclose(teacher.posterior(Z).mean, constant, rtol=0, atol=0.2)


def test_parameters_stay_within_their_bounds():
    teacher = SparseGP(Linear(0.01, 0.01) + White(), 4, "evidence", learning_rate=1.0).fit(*(0 * a for a in strong()))
    assert teacher.kernel_.parts[1].constant == pytest.approx(1e-6)


def test_every_white_part_keeps_its_share():
    kernel = SparseGP(White(0.3) + RBF() + White(0.1), 6, "evidence").fit(*strong()).kernel_
    assert kernel.parts[0].constant == pytest.approx(3 * kernel.parts[2].constant)
    assert kernel.noise != pytest.approx(0.4)


def test_a_part_that_is_switched_off_stays_so():
    kernel = RBF(2.0, 0.0) + Linear(0.0, 0.0) + Sum((Matern32(), White(0.2)))
    fitted = SparseGP(kernel, 6, "evidence").fit(*strong()).kernel_
    assert fitted.parts[:2] == kernel.parts[:2]
    assert fitted.parts[2] != kernel.parts[2]


def test_columns_share_the_variance_and_nothing_else():
    Z, y = strong()
    both = regression(learn_inducing=False).fit(Z, np.stack([y, y**2], axis=1))
    alone = regression(learn_inducing=False).fit(Z, y), regression(learn_inducing=False).fit(Z, y**2)
    assert both.log_evidence_ == pytest.approx(sum(teacher.log_evidence_ for teacher in alone), rel=ALGEBRA)
    for c, teacher in enumerate(alone):
        posterior = teacher.posterior(elsewhere())
        np.testing.assert_allclose(both.posterior(elsewhere()).mean[:, [c]], posterior.mean, rtol=0, atol=ALGEBRA)
        np.testing.assert_allclose(both.posterior(elsewhere()).variance[:, [c]], posterior.variance, atol=ALGEBRA)


def test_a_prior_mean_is_a_process_on_the_residuals():
    Z, y = strong()
    m, m_elsewhere = np.cos(y), np.ones(25)
    taught, residual = regression().fit(Z, y, m), regression().fit(Z, y - m)
    np.testing.assert_allclose(
        taught.posterior(elsewhere(), m_elsewhere).mean, residual.posterior(elsewhere()).mean + 1.0, atol=ALGEBRA
    )
    np.testing.assert_allclose(
        taught.leave_one_out().mean, residual.leave_one_out().mean + m[:, None], rtol=0, atol=ALGEBRA
    )
    assert taught.log_evidence_ == residual.log_evidence_


def test_almost_no_noise():
    Z, y = strong()
    teacher = SparseGP(RBF() + White(1e-10), inducing=500).fit(Z, y)
    np.testing.assert_allclose(teacher.posterior(Z).mean[:, 0], y, rtol=0, atol=OPTIMISED)
    left_out = teacher.leave_one_out()
    assert (left_out.variance <= left_out.prior + ALGEBRA).all()
