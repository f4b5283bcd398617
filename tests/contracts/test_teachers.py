"""What every teacher promises, asked of each of them."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from fwl.errors import InvalidInput, NotFinite, NotFitted, WrongShape
from fwl.teach import (
    RBF,
    ClusteredGP,
    Divided,
    ExactGP,
    Linear,
    Matern32,
    Reduced,
    SparseClassifierGP,
    SparseGP,
    Teacher,
    White,
    load_teacher,
    save_teacher,
)
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA, EXACT, SINGLE

N, M = 45, 30
CENTRES = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])


def inputs(n: int = N, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return CENTRES[np.arange(n) % 3] + rng.normal(size=(n, 2))


def numbers(n: int = N) -> np.ndarray:
    Z = inputs(n)
    noise = 0.1 * np.random.default_rng(1).normal(size=(n, 2))
    return np.stack([np.sin(Z.sum(axis=1)), Z[:, 0] / 3], axis=1) + noise


def classes(n: int = N) -> np.ndarray:
    return np.eye(2)[(numbers(n)[:, 0] > 0).astype(int)]


@dataclass(frozen=True)
class Case:
    """How to make a teacher, what to teach it, and how near its arithmetic comes."""

    make: Callable[[], Teacher]
    labels: Callable[..., np.ndarray] = numbers
    near: float = ALGEBRA


def sparse() -> SparseGP:
    return SparseGP(inducing=6, steps=2)


CASES = {
    "exact": Case(ExactGP),
    "exact, fitted": Case(lambda: ExactGP(hyperparameters="evidence_with_prior", starts=1)),
    "clustered": Case(lambda: ClusteredGP(3), near=SINGLE),
    "clustered, double": Case(lambda: ClusteredGP(3, precision="double")),
    "clustered, by size": Case(lambda: ClusteredGP(largest=20, smallest=5), near=SINGLE),
    "clustered, smooth edges": Case(lambda: ClusteredGP(3, smooth_edges=True), near=SINGLE),
    "clustered, fitted": Case(lambda: ClusteredGP(3, hyperparameters="evidence_with_prior"), near=SINGLE),
    "clustered, own kernels": Case(
        lambda: ClusteredGP(3, hyperparameters="evidence_with_prior", shared=False), near=SINGLE
    ),
    "divided": Case(lambda: Divided(ExactGP, 3)),
    "reduced": Case(lambda: Reduced(ExactGP, components=2)),
    "reduced, clustered": Case(lambda: Reduced(lambda: ClusteredGP(3), components=2), near=SINGLE),
}
if importlib.util.find_spec("gpytorch") is not None:
    CASES |= {
        "sparse": Case(sparse),
        "divided, sparse": Case(lambda: Divided(sparse, 3)),
        "sparse classes": Case(lambda: SparseClassifierGP(inducing=6, steps=10), classes),
    }

EVERY = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
REGRESSION = pytest.mark.parametrize(
    "case", [c for c in CASES.values() if c.labels is numbers], ids=[n for n, c in CASES.items() if c.labels is numbers]
)


def elsewhere() -> np.ndarray:
    return inputs(M, seed=2)


def fitted(case: Case, *prior_mean: np.ndarray) -> Teacher:
    return case.make().fit(inputs(), case.labels(), *prior_mean)


@cache
def taught(case: Case, with_mean: bool = False) -> Teacher:
    """Fitted once, to be asked and not to be taught anew."""
    return fitted(case, *([0.5 * case.labels()] if with_mean else []))


def assert_same(one, other, near: float = EXACT) -> None:
    for name in ("mean", "variance", "prior"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=near, atol=near)
    assert one.noise == other.noise


@EVERY
def test_fitting_returns_the_teacher(case):
    teacher = case.make()
    assert teacher.fit(inputs(), case.labels()) is teacher
    assert isinstance(teacher.log_evidence_, float)
    assert np.isfinite(teacher.log_evidence_)


@EVERY
def test_fitting_twice_is_fitting_once(case):
    once, twice = taught(case), case.make().fit(inputs(33, seed=5), case.labels(33)).fit(inputs(), case.labels())
    assert once.log_evidence_ == twice.log_evidence_
    assert_same(once.posterior(elsewhere()), twice.posterior(elsewhere()))


@EVERY
def test_the_same_chance_gives_the_same_bits(case):
    one, other = taught(case), fitted(case)
    assert one.log_evidence_ == other.log_evidence_
    assert_same(one.posterior(elsewhere()), other.posterior(elsewhere()))


@EVERY
def test_asking_twice_gives_the_same_bits(case):
    teacher = taught(case)
    assert_same(teacher.posterior(elsewhere()), teacher.posterior(elsewhere()))


@EVERY
def test_the_posterior_has_a_row_per_sample_and_a_column_per_label(case):
    posterior = taught(case).posterior(elsewhere())
    for array in (posterior.mean, posterior.variance, posterior.prior):
        assert array.shape == (M, 2)
        assert array.dtype == np.float64
    assert isinstance(posterior.noise, float)


@EVERY
def test_one_sample_is_judged_as_it_is_among_others(case):
    teacher = taught(case)
    among, alone = teacher.posterior(elsewhere()), teacher.posterior(elsewhere()[[7]])
    np.testing.assert_allclose(alone.mean[0], among.mean[7], rtol=0, atol=case.near)
    np.testing.assert_allclose(alone.variance[0], among.variance[7], rtol=0, atol=case.near)


@EVERY
def test_the_variance_lies_between_the_noise_and_the_prior(case):
    teacher = taught(case)
    for asked in (inputs(), elsewhere(), 10 * elsewhere()):
        posterior = teacher.posterior(asked)
        assert posterior.noise > 0
        assert (posterior.variance >= posterior.noise * (1 - case.near)).all()
        assert (posterior.variance <= posterior.prior * (1 + case.near)).all()


@EVERY
def test_at_its_samples_it_is_surer_than_it_was(case):
    posterior = taught(case).posterior(inputs())
    assert posterior.variance.mean() < 0.9 * posterior.prior.mean()


@EVERY
@pytest.mark.parametrize("where", [[1e3, 1e3], [-1e4, 0.0]])
def test_far_from_every_sample_it_falls_back_to_its_prior(case, where):
    posterior = taught(case).posterior([where])
    np.testing.assert_allclose(posterior.mean, 0.0, rtol=0, atol=case.near)
    np.testing.assert_allclose(posterior.variance, posterior.prior, rtol=case.near, atol=0)


@REGRESSION
def test_far_from_every_sample_a_prior_mean_is_the_answer(case):
    posterior = taught(case, with_mean=True).posterior([[1e3, 1e3]], [[7.0, -3.0]])
    np.testing.assert_allclose(posterior.mean, [[7.0, -3.0]], rtol=0, atol=case.near)


@REGRESSION
def test_a_prior_mean_is_a_process_on_the_residuals(case):
    y, m, of_new = numbers(), np.cos(numbers()), np.random.default_rng(3).normal(size=(M, 2))
    taught, residual = case.make().fit(inputs(), y, m), case.make().fit(inputs(), y - m)
    one, other = taught.posterior(elsewhere(), of_new), residual.posterior(elsewhere())
    np.testing.assert_allclose(one.mean, other.mean + of_new, rtol=0, atol=case.near)
    np.testing.assert_allclose(one.variance, other.variance, rtol=0, atol=case.near)
    assert taught.log_evidence_ == pytest.approx(residual.log_evidence_, rel=case.near)
    np.testing.assert_allclose(taught.leave_one_out().mean, residual.leave_one_out().mean + m, rtol=0, atol=case.near)


@REGRESSION
def test_directions_of_a_prior_mean_add_up(case):
    y, of_new = numbers(), np.random.default_rng(3).normal(size=(M, 2, 2))
    m = np.stack([np.cos(y), 0.3 * y], axis=-1)
    several = case.make().fit(inputs(), y, m).posterior(elsewhere(), of_new)
    one = case.make().fit(inputs(), y, m.sum(axis=-1)).posterior(elsewhere(), of_new.sum(axis=-1))
    assert_same(several, one, case.near)


@REGRESSION
def test_refitting_without_a_prior_mean_forgets_it(case):
    teacher = fitted(case, numbers()).fit(inputs(), numbers())
    assert_same(teacher.posterior(elsewhere()), taught(case).posterior(elsewhere()))


@REGRESSION
def test_leaving_one_out_gives_a_row_per_strong_sample(case):
    left_out = taught(case).leave_one_out()
    assert left_out.mean.shape == left_out.variance.shape == left_out.prior.shape == (N, 2)
    assert (left_out.variance >= left_out.noise).all()
    assert (left_out.variance <= left_out.prior * (1 + ALGEBRA)).all()


ON_THE_SAME_PARTITION = {
    "clustered": lambda kernel: ClusteredGP(3, kernel=kernel),
    "clustered, own kernels": lambda kernel: ClusteredGP(
        3, kernel=kernel, hyperparameters="evidence_with_prior", shared=False
    ),
    "divided": lambda kernel: Divided(lambda: ExactGP(kernel), 3),
}
if "sparse" in CASES:
    ON_THE_SAME_PARTITION["divided, sparse"] = lambda kernel: Divided(lambda: SparseGP(kernel, inducing=100), 3)


@pytest.mark.parametrize("make", ON_THE_SAME_PARTITION.values(), ids=ON_THE_SAME_PARTITION)
@pytest.mark.parametrize("kernel", [RBF(2.0) + White(0.1), Matern32() + Linear(0.3, 0.1) + White()], ids=str)
@pytest.mark.parametrize("with_mean", [True, False])
def test_leaving_one_out_is_refitting_its_cluster_without_it(make, kernel, with_mean):
    Z, y = inputs(), numbers()
    m = np.cos(y) if with_mean else None
    teacher = make(kernel).fit(Z, y, m)
    left_out = teacher.leave_one_out()
    for i in range(0, N, 7):
        k = teacher.cluster_[i]
        rest = np.setdiff1d(np.flatnonzero(teacher.cluster_ == k), [i])
        process = ExactGP(teacher.kernels_[k] if isinstance(teacher, ClusteredGP) else kernel)
        expected = process.fit(Z[rest], y[rest], m[rest] if with_mean else None).posterior(
            Z[[i]], m[[i]] if with_mean else None
        )
        np.testing.assert_allclose(left_out.mean[[i]], expected.mean, rtol=0, atol=ALGEBRA)
        np.testing.assert_allclose(left_out.variance[[i]], expected.variance, rtol=0, atol=ALGEBRA)
        np.testing.assert_allclose(left_out.prior[[i]], expected.prior, rtol=0, atol=ALGEBRA)


@EVERY
def test_asking_before_teaching_is_refused(case):
    with expect_refusal(NotFitted, "this teacher has not been fitted; call fit(Z, y) with strong labels first"):
        case.make().posterior(elsewhere())
    assert not hasattr(case.make(), "log_evidence_")


@REGRESSION
def test_leaving_one_out_before_teaching_is_refused(case):
    with expect_refusal(NotFitted, "this teacher has not been fitted; call fit(Z, y) with strong labels first"):
        case.make().leave_one_out()


@EVERY
def test_inputs_of_another_width_than_taught_are_refused(case):
    teacher = taught(case)
    for asked in (np.zeros((4, 3)), np.zeros((4, 1)), np.zeros(4)):
        shape = asked.shape if asked.ndim == 2 else (4, 1)
        with expect_refusal(WrongShape, f"teacher inputs: expected [M, 2], got shape {shape}"):
            teacher.posterior(asked)


@EVERY
def test_inputs_that_are_no_matrix_are_refused(case):
    teacher = taught(case)
    message = "teacher inputs: expected a vector or a matrix [N, C], got shape (4, 2, 1)"
    with expect_refusal(WrongShape, message):
        teacher.posterior(np.zeros((4, 2, 1)))
    with expect_refusal(WrongShape, message):
        case.make().fit(np.zeros((4, 2, 1)), case.labels()[:4])
    with expect_refusal(InvalidInput, "teacher inputs: expected numbers, got [['a', 'b']]"):
        teacher.posterior([["a", "b"]])


@EVERY
@pytest.mark.parametrize("broken", [np.nan, -np.inf])
def test_broken_numbers_are_refused(case, broken):
    at = np.zeros((N, 2))
    at[[3, 8], 1] = broken
    rest = f"NaN or infinity in 2 of {N} rows (rows 3, 8); drop or fill them first"
    with expect_refusal(NotFinite, f"teacher inputs: {rest}"):
        case.make().fit(inputs() + at, case.labels())
    with expect_refusal(NotFinite, f"strong labels: {rest}"):
        case.make().fit(inputs(), case.labels() + at)
    with expect_refusal(NotFinite, f"prior mean: {rest}"):
        case.make().fit(inputs(), case.labels(), case.labels() + at)
    teacher = taught(case)
    with expect_refusal(NotFinite, f"teacher inputs: {rest}"):
        teacher.posterior(inputs() + at)
    with expect_refusal(NotFinite, f"teacher inputs: {rest}"):
        teacher.posterior((inputs() + at).astype(np.float32))


@EVERY
def test_no_samples_are_refused(case):
    with expect_refusal(InvalidInput, "teacher inputs: the set is empty, expected at least one row"):
        case.make().fit(np.zeros((0, 2)), np.zeros((0, 2)))
    with expect_refusal(InvalidInput, "teacher inputs: the set is empty, expected at least one row"):
        taught(case).posterior(np.zeros((0, 2)))


@EVERY
def test_labels_of_another_length_are_refused(case):
    with expect_refusal(
        WrongShape, f"teacher inputs has {N} rows and strong labels has {N - 1}; they describe the same samples"
    ):
        case.make().fit(inputs(), case.labels()[:-1])


@EVERY
def test_a_prior_mean_is_given_to_both_or_to_neither(case):
    with expect_refusal(
        InvalidInput, "this teacher was fitted with a prior mean; give the prior mean of these samples too"
    ):
        taught(case, with_mean=True).posterior(elsewhere())
    with expect_refusal(InvalidInput, "this teacher was fitted without a prior mean; fit it with one or ask without"):
        taught(case).posterior(elsewhere(), np.zeros((M, 2)))


@EVERY
@pytest.mark.parametrize("change", [-1, 1])
def test_a_prior_mean_of_another_length_is_refused(case, change):
    with expect_refusal(WrongShape, f"prior mean: expected shape ({N}, 2) like the labels, got ({N + change}, 2)"):
        fitted(case, np.zeros((N + change, 2)))
    with expect_refusal(WrongShape, f"prior mean: expected shape ({M}, 2) like the labels, got ({M + change}, 2)"):
        taught(case, with_mean=True).posterior(elsewhere(), np.zeros((M + change, 2)))


@EVERY
def test_a_prior_mean_of_other_directions_is_refused(case):
    with expect_refusal(WrongShape, "prior mean: expected 1 directions as in fit, got 2"):
        taught(case, with_mean=True).posterior(elsewhere(), np.zeros((M, 2, 2)))


@EVERY
def test_what_is_given_stays_as_it_was(case):
    given = [inputs(), case.labels(), 0.5 * case.labels(), elsewhere(), np.ones((M, 2))]
    before = [array.copy() for array in given]
    Z, y, m, new, of_new = given
    case.make().fit(Z, y, m).posterior(new, of_new)
    for array, copy in zip(given, before, strict=True):
        np.testing.assert_array_equal(array, copy)


@EVERY
def test_what_was_given_can_be_changed_afterwards(case):
    Z, y = inputs(), case.labels()
    teacher = case.make().fit(Z, y)
    Z[:], y[:] = 0.0, 0.0
    assert_same(teacher.posterior(elsewhere()), taught(case).posterior(elsewhere()))


@EVERY
def test_what_was_answered_can_be_changed_afterwards(case):
    teacher = fitted(case)
    teacher.posterior(elsewhere()).mean[:] = 0.0
    assert_same(teacher.posterior(elsewhere()), taught(case).posterior(elsewhere()))


@REGRESSION
def test_what_was_left_out_can_be_changed_afterwards(case):
    teacher = fitted(case)
    teacher.leave_one_out().mean[:] = 0.0
    assert_same(teacher.leave_one_out(), taught(case).leave_one_out())


@EVERY
def test_arrays_that_cannot_be_written_to_are_read(case):
    given = [inputs(), case.labels(), elsewhere()]
    for array in given:
        array.flags.writeable = False
    Z, y, new = given
    assert_same(case.make().fit(Z, y).posterior(new), taught(case).posterior(elsewhere()))


@EVERY
def test_a_fit_that_is_refused_leaves_what_was_learned(case):
    teacher = fitted(case)
    with pytest.raises(NotFinite):
        teacher.fit(inputs() + np.nan, case.labels())
    with pytest.raises(WrongShape):
        teacher.fit(inputs(), case.labels()[:-1])
    assert_same(teacher.posterior(elsewhere()), taught(case).posterior(elsewhere()))


@EVERY
@pytest.mark.parametrize("with_mean", [True, False])
def test_a_saved_teacher_gives_the_same_bits(case, with_mean, tmp_path):
    teacher = taught(case, with_mean)
    save_teacher(teacher, tmp_path / "teacher")
    again = load_teacher(tmp_path / "teacher")
    of_new = [np.ones((M, 2))] if with_mean else []
    assert type(again) is type(teacher)
    assert again.log_evidence_ == teacher.log_evidence_
    assert_same(again.posterior(elsewhere(), *of_new), teacher.posterior(elsewhere(), *of_new))
    if case.labels is numbers:
        assert_same(again.leave_one_out(), teacher.leave_one_out())


@EVERY
def test_a_teacher_that_was_loaded_can_be_saved_again(case, tmp_path):
    teacher = taught(case)
    save_teacher(load_teacher(save_teacher(teacher, tmp_path / "first")), tmp_path / "second")
    for name in ("manifest.json", "arrays.safetensors"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


@EVERY
def test_an_unfitted_teacher_cannot_be_saved(case, tmp_path):
    with expect_refusal(NotFitted, "this teacher has not been fitted; call fit(Z, y) with strong labels first"):
        save_teacher(case.make(), tmp_path / "teacher")
    assert not any(tmp_path.iterdir())
