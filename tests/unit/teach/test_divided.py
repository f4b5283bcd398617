import warnings

import numpy as np
import pytest
import torch

from fwl.errors import InvalidInput, NotFinite, NotFitted, NumericalTrouble, WrongShape
from fwl.teach import RBF, ClusteredGP, Divided, ExactGP, Reduced, SparseClassifierGP, White
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA

CENTRES = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])


def strong(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    Z = CENTRES[np.arange(n) % 3] + rng.normal(size=(n, 2))
    return Z, np.sin(Z.sum(axis=1, keepdims=True))


def elsewhere(m: int = 40) -> np.ndarray:
    return np.random.default_rng(1).uniform(-3, 11, size=(m, 2))


def test_every_cluster_has_a_teacher_of_its_own():
    Z, y = strong()
    divided = Divided(ExactGP, 3).fit(Z, y)
    assert len(divided.teachers_) == len(set(map(id, divided.teachers_))) == divided.partition_.clusters == 3
    for k, teacher in enumerate(divided.teachers_):
        here = divided.cluster_ == k
        assert teacher.log_evidence_ == ExactGP().fit(Z[here], y[here]).log_evidence_


def test_each_sample_is_judged_by_the_teacher_of_its_cluster():
    divided = Divided(ExactGP, 3).fit(*strong())
    posterior = divided.posterior(elsewhere())
    distance = ((elsewhere()[:, None] - divided.partition_.centroids) ** 2).sum(axis=-1)
    for i, cell in enumerate(distance.argmin(axis=1)):
        teacher = divided.teachers_[divided.partition_.cluster_of[cell]]
        expected = teacher.posterior(elsewhere()[[i]])
        np.testing.assert_allclose(posterior.mean[[i]], expected.mean, rtol=0, atol=ALGEBRA)
        np.testing.assert_allclose(posterior.variance[[i]], expected.variance, rtol=0, atol=ALGEBRA)


def test_one_cluster_is_the_teacher_itself():
    whole, alone = Divided(ExactGP, 1).fit(*strong()), ExactGP().fit(*strong())
    np.testing.assert_array_equal(whole.posterior(elsewhere()).mean, alone.posterior(elsewhere()).mean)
    np.testing.assert_array_equal(whole.leave_one_out().mean, alone.leave_one_out().mean)
    assert whole.log_evidence_ == alone.log_evidence_


def test_the_evidence_is_the_sum_of_the_teachers():
    divided = Divided(ExactGP, 3).fit(*strong())
    assert divided.log_evidence_ == sum(teacher.log_evidence_ for teacher in divided.teachers_)


def test_left_out_samples_come_back_in_their_order():
    Z, y = strong()
    divided = Divided(ExactGP, 3).fit(Z, y)
    left_out = divided.leave_one_out()
    for k, teacher in enumerate(divided.teachers_):
        np.testing.assert_array_equal(left_out.mean[divided.cluster_ == k], teacher.leave_one_out().mean)


@pytest.mark.parametrize("jobs", [1, 2, -1])
def test_workers_change_nothing(jobs):
    before = torch.get_num_threads()
    divided = Divided(lambda: ExactGP(hyperparameters="evidence", starts=1), 3, jobs=jobs).fit(*strong())
    plain = Divided(lambda: ExactGP(hyperparameters="evidence", starts=1), 3, jobs=1).fit(*strong())
    np.testing.assert_array_equal(divided.posterior(elsewhere()).mean, plain.posterior(elsewhere()).mean)
    assert torch.get_num_threads() == before


def test_sparse_teachers_take_turns():
    """GPyTorch's settings, torch's generator and the filter of warnings are one for all threads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # its own, on import
        gpytorch = pytest.importorskip("gpytorch")
    Z, y = strong()
    classes = np.eye(2)[(y[:, 0] > 0).astype(int)]
    before = gpytorch.settings.cholesky_jitter.value(torch.float64), len(warnings.filters)
    one_by_one, side_by_side = (
        Divided(lambda: SparseClassifierGP(inducing=5, steps=10), 3, jobs=jobs).fit(Z, classes) for jobs in (1, 3)
    )
    assert one_by_one.log_evidence_ == side_by_side.log_evidence_
    np.testing.assert_array_equal(one_by_one.posterior(Z).mean, side_by_side.posterior(Z).mean)
    assert before == (gpytorch.settings.cholesky_jitter.value(torch.float64), len(warnings.filters))


def test_clusters_by_the_largest():
    divided = Divided(ExactGP, largest=25, smallest=1).fit(*strong())
    assert np.bincount(divided.cluster_).max() <= 25


def test_the_noise_is_the_least_of_those_asked():
    noises = iter([0.5, 0.1, 0.3])
    divided = Divided(lambda: ExactGP(RBF() + White(next(noises))), 3, jobs=1).fit(*strong())
    assert divided.posterior(elsewhere()).noise == divided.leave_one_out().noise == 0.1
    (first,) = np.flatnonzero([teacher.kernel_.noise == 0.5 for teacher in divided.teachers_])
    alone = divided.posterior(strong()[0][divided.cluster_ == first][:1])
    assert alone.noise == 0.5


def test_teachers_may_stand_on_each_other():
    Z, y = strong()
    nested = Divided(lambda: Reduced(lambda: ClusteredGP(2, smallest=2, precision="double"), components=1), 3).fit(Z, y)
    assert nested.posterior(Z).mean.shape == (60, 1)


@pytest.mark.parametrize("ask", [lambda t: t.posterior(CENTRES), lambda t: t.leave_one_out(), lambda t: t.state()])
def test_asking_before_teaching_is_refused(ask):
    with expect_refusal(NotFitted, "this teacher has not been fitted; call fit(Z, y) with strong labels first"):
        ask(Divided(ExactGP))


@pytest.mark.parametrize("name", ["clusters", "largest", "smallest"])
def test_counts_start_at_one(name):
    with expect_refusal(InvalidInput, f"{name} is at least 1, got 0"):
        Divided(ExactGP, **{name: 0}).fit(*strong())


def test_a_prior_mean_is_checked_as_a_whole():
    Z, y = strong()
    with expect_refusal(WrongShape, "prior mean: expected shape (60, 1) like the labels, got (59, 1)"):
        Divided(ExactGP, 3).fit(Z, y, y[:-1])
    with expect_refusal(WrongShape, "prior mean: expected shape (60, 1) like the labels, got (61, 1)"):
        Divided(ExactGP, 3).fit(Z, y, np.zeros((61, 1)))
    broken = np.where(np.arange(60)[:, None] == 50, np.nan, y)
    with expect_refusal(NotFinite, "prior mean: NaN or infinity in 1 of 60 rows (rows 50); drop or fill them first"):
        Divided(ExactGP, 3).fit(Z, y, broken)
    with expect_refusal(NotFinite, "prior mean: NaN or infinity in 1 of 60 rows (rows 50); drop or fill them first"):
        Divided(ExactGP, 3).fit(Z, y, y).posterior(Z, broken)


def test_a_prior_mean_may_come_as_a_vector():
    Z, y = strong()
    by_vector = Divided(ExactGP, 3).fit(Z, y[:, 0], y[:, 0] / 2).posterior(Z, y[:, 0])
    by_matrix = Divided(ExactGP, 3).fit(Z, y, y / 2).posterior(Z, y)
    np.testing.assert_array_equal(by_vector.mean, by_matrix.mean)


def test_what_the_teachers_refuse_is_refused():
    message = (
        "a kernel matrix of 60 samples is not positive definite even with 0.0001 of its diagonal added; "
        "give the kernel some White noise, or look for NaN and huge values among its inputs"
    )
    Z, y = strong()
    with expect_refusal(NumericalTrouble, message):
        Divided(ExactGP, 1).fit(1e200 * Z, y)


def test_a_fit_that_fails_leaves_what_was_learned():
    Z, y = strong()
    divided = Divided(ExactGP, 3).fit(Z, y)
    before = divided.posterior(elsewhere()).mean
    divided.clusters, divided.new_teacher = 2, lambda: ExactGP(starts=0)
    with pytest.raises(InvalidInput, match="starts is at least 1"):
        divided.fit(Z + 3, y)
    np.testing.assert_array_equal(divided.posterior(elsewhere()).mean, before)
