"""Data that break things: each teacher either gives the right answer or says clearly what is wrong."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fwl.errors import InvalidInput, NotFinite
from fwl.teach import RBF, ClusteredGP, Divided, ExactGP, Linear, Matern32, Reduced, White
from fwl.teach.selection import starting_kernel
from tests.properties import PROPERTY
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA, EXACT, OPTIMISED, SINGLE

PLAIN = RBF() + White()
TEACHERS = {
    "exact": lambda kernel=PLAIN, how="fixed": ExactGP(kernel, how, starts=1),
    "clustered": lambda kernel=PLAIN, how="fixed": ClusteredGP(3, kernel=kernel, hyperparameters=how, smallest=2),
    "clustered, by size": lambda kernel=PLAIN, how="fixed": ClusteredGP(
        largest=12, kernel=kernel, hyperparameters=how, smallest=2
    ),
    "clustered, smooth edges": lambda kernel=PLAIN, how="fixed": ClusteredGP(
        3, kernel=kernel, hyperparameters=how, smallest=2, smooth_edges=True
    ),
    "divided": lambda kernel=PLAIN, how="fixed": Divided(lambda: ExactGP(kernel, how, starts=1), 3, smallest=2),
    "reduced": lambda kernel=PLAIN, how="fixed": Reduced(lambda: ExactGP(kernel, how, starts=1)),
}
EVERY = pytest.mark.parametrize("new", TEACHERS.values(), ids=TEACHERS)
ALONE = [name for name in TEACHERS if name != "clustered, smooth edges"]  # each sample is judged by one cluster alone


def strong(n: int = 30, d: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, d))
    return Z, np.sin(2 * Z[:, :1]) + 0.1 * rng.normal(size=(n, 1))


def elsewhere(m: int = 20, d: int = 2) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(m, d))


@cache
def plain_belief(new):
    """What it believes elsewhere of what is not hostile."""
    return new().fit(*strong()).posterior(elsewhere())


def assert_alike(one, other, near: float = SINGLE) -> None:
    np.testing.assert_allclose(one.mean, other.mean, rtol=0, atol=near)
    np.testing.assert_allclose(one.variance, other.variance, rtol=0, atol=near)


@pytest.mark.parametrize("new", [TEACHERS[name] for name in ALONE], ids=ALONE)
def test_rows_that_repeat_count_as_often_as_they_do(new):
    """Eight labels with noise s at one place are one label, their mean, with noise s/8; places here are far apart."""
    places = 100.0 * np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [3.0, 3.0]])
    Z, y = np.repeat(places, 8, axis=0), np.random.default_rng(0).normal(size=(40, 1))
    posterior = new().fit(Z, y).posterior(places)
    average = y.reshape(5, 8).mean(axis=1, keepdims=True)
    np.testing.assert_allclose(posterior.mean, average * 8 / 8.01, rtol=0, atol=SINGLE)
    np.testing.assert_allclose(posterior.variance, 1.01 - 8 / 8.01, rtol=0, atol=SINGLE)


@EVERY
@pytest.mark.parametrize("how", ["fixed", "evidence", "evidence_with_prior"])
def test_rows_that_are_all_the_same_are_judged_by_their_mean(new, how):
    Z, y = np.full((40, 3), 2.0), np.random.default_rng(0).normal(size=(40, 1)) + 1.0
    teacher = new(how=how).fit(Z, y)
    posterior = teacher.posterior(Z)
    assert np.isfinite(teacher.log_evidence_)
    np.testing.assert_allclose(posterior.mean, y.mean(), rtol=0, atol=0.1)
    if how == "fixed":
        np.testing.assert_allclose(posterior.mean, y.mean() * 40 / 40.01, rtol=0, atol=SINGLE)
    left_out = teacher.leave_one_out()
    assert np.isfinite(left_out.mean).all()


@EVERY
def test_rows_that_repeat_without_noise_keep_their_labels(new):
    Z, y = (np.repeat(a, 4, axis=0) for a in strong(10))
    posterior = new(RBF(0.5)).fit(Z, y).posterior(Z)
    np.testing.assert_allclose(posterior.mean, y, rtol=0, atol=OPTIMISED)
    assert (posterior.variance >= 0).all()


@EVERY
@pytest.mark.parametrize("constant", [0.0, 7.0, -1e6])
def test_a_constant_column_changes_nothing(new, constant):
    Z, y = strong()
    with_column = [np.hstack([a, np.full((len(a), 1), constant)]) for a in (Z, elsewhere())]
    assert_alike(new().fit(with_column[0], y).posterior(with_column[1]), plain_belief(new))


@EVERY
def test_a_column_that_comes_twice_counts_twice(new):
    Z, y = strong()
    plain = new(RBF(1.0) + White()).fit(Z, y).posterior(elsewhere())
    doubled = new(RBF(np.sqrt(2.0)) + White()).fit(np.hstack([Z, Z]), y).posterior(np.hstack([elsewhere()] * 2))
    assert_alike(doubled, plain)


@EVERY
@pytest.mark.parametrize("how", ["fixed", "evidence", "evidence_with_prior"])
def test_collinear_columns_can_be_fitted(new, how):
    Z, y = strong(d=1)
    Z = Z @ np.array([[1.0, -2.0, 0.5]]) + 3.0
    posterior = new(how=how).fit(Z, y).posterior(Z)
    assert np.isfinite(posterior.mean).all()
    assert np.corrcoef(posterior.mean[:, 0], y[:, 0])[0, 1] > 0.8


@EVERY
@pytest.mark.parametrize("how", ["fixed", "evidence", "evidence_with_prior"])
def test_one_sample_is_enough(new, how):
    teacher = new(how=how).fit([[1.0, 2.0]], [[3.0]])
    assert np.isfinite(teacher.log_evidence_)
    assert np.isfinite(teacher.posterior([[1.0, 2.0], [0.0, 0.0]]).mean).all()
    if how == "fixed":
        posterior = teacher.posterior([[1.0, 2.0]])
        np.testing.assert_allclose(posterior.mean, 3.0 / 1.01, rtol=0, atol=SINGLE)
        np.testing.assert_allclose(posterior.variance, 1.01 - 1 / 1.01, rtol=0, atol=SINGLE)
        left_out = teacher.leave_one_out()
        np.testing.assert_allclose(left_out.mean, 0.0, rtol=0, atol=ALGEBRA)
        np.testing.assert_allclose(left_out.variance, left_out.prior, rtol=0, atol=ALGEBRA)


@EVERY
@pytest.mark.parametrize("how", ["fixed", "evidence", "evidence_with_prior"])
def test_one_class_only_is_what_it_says(new, how):
    Z, _ = strong()
    posterior = new(RBF(2.0) + White(), how).fit(Z, np.eye(3)[np.ones(30, dtype=int)]).posterior(Z)
    np.testing.assert_allclose(posterior.mean[:, 1], 1.0, rtol=0, atol=0.1)
    np.testing.assert_allclose(posterior.mean[:, [0, 2]], 0.0, rtol=0, atol=SINGLE)


@pytest.mark.parametrize("make", [ClusteredGP, lambda k: Divided(ExactGP, k)], ids=["clustered", "divided"])
def test_two_samples_per_class_and_fifty_clusters_are_one_cluster(make):
    Z, y = strong(6)[0], np.eye(3)[np.arange(6) % 3]
    teacher = make(50).fit(Z, y)
    assert teacher.partition_.clusters == 1
    assert_alike(teacher.posterior(elsewhere()), ExactGP().fit(Z, y).posterior(elsewhere()))


@pytest.mark.parametrize(
    "make",
    [lambda k: ClusteredGP(k, smallest=1), lambda k: Divided(ExactGP, k, smallest=1)],
    ids=["clustered", "divided"],
)
def test_a_cluster_for_every_sample_is_a_process_for_every_sample(make):
    Z, y = strong(8)
    teacher = make(50).fit(Z, y)
    assert teacher.partition_.clusters == 8
    np.testing.assert_allclose(teacher.posterior(Z).mean, y / 1.01, rtol=0, atol=SINGLE)


@EVERY
@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("kernel", ["rbf", "matern32"])
def test_features_of_any_scale_are_fitted_alike(new, scale, kernel):
    Z, y = strong(18)
    plain, scaled = (
        new(starting_kernel(a * Z, y, kernel), "evidence_with_prior").fit(a * Z, y).posterior(a * elsewhere())
        for a in (1.0, scale)
    )
    assert_alike(scaled, plain, OPTIMISED)


@EVERY
@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("signal", [RBF, Matern32])
def test_features_of_any_scale_are_judged_alike_by_a_kernel_of_their_scale(new, scale, signal):
    Z, y = strong()
    plain, scaled = (new(signal(a) + White()).fit(a * Z, y).posterior(a * elsewhere()) for a in (1.0, scale))
    assert_alike(scaled, plain)


@EVERY
@pytest.mark.parametrize("offset", [1e6, -1e7])
@pytest.mark.parametrize("spread", [1.0, 1e-2])
def test_a_large_offset_drowns_nothing(new, offset, spread):
    Z, y = strong()
    kernel = RBF(spread) + White()
    plain = new(kernel).fit(spread * Z, y).posterior(spread * elsewhere())
    moved = new(kernel).fit(spread * Z + offset, y).posterior(spread * elsewhere() + offset)
    assert_alike(moved, plain, SINGLE)


@EVERY
@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_labels_of_any_scale_carry_over(new, scale):
    Z, y = strong()
    scaled = new().fit(Z, scale * y).posterior(elsewhere())
    np.testing.assert_allclose(scaled.mean / scale, plain_belief(new).mean, rtol=0, atol=SINGLE)


LAYOUTS = {
    "columns first": np.asfortranarray,
    "every other": lambda a: np.repeat(a, 2, axis=0)[::2],
    "some columns": lambda a: np.hstack([a, a])[:, : a.shape[1]],
    "a list": np.ndarray.tolist,
    "other bytes first": lambda a: a.astype(">f8"),
    "objects": lambda a: a.astype(object),
    "more digits": lambda a: a.astype(np.longdouble),
}


@EVERY
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_the_layout_changes_no_bit(new, layout):
    Z, y = strong()
    assert_alike(new().fit(layout(Z), layout(y)).posterior(layout(elsewhere())), plain_belief(new), EXACT)


@EVERY
def test_single_precision_is_as_near_as_it_can_be(new):
    (Z, y), asked = strong(), elsewhere()
    single = new().fit(Z.astype(np.float32), y.astype(np.float32)).posterior(asked.astype(np.float32))
    assert_alike(
        single, plain_belief(new), 1e-4
    )  # labels and inputs are rounded, and the process multiplies what it is given


@EVERY
@pytest.mark.parametrize("kind", [np.int64, np.uint8, bool, np.float16])
def test_whole_numbers_are_numbers(new, kind):
    rng = np.random.default_rng(0)
    Z, y = rng.integers(0, 2, size=(30, 3)).astype(kind), rng.integers(0, 2, size=(30, 1)).astype(kind)
    plain = new().fit(Z.astype(float), y.astype(float)).posterior(Z.astype(float))
    assert_alike(new().fit(Z, y).posterior(Z), plain, SINGLE)


@EVERY
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_files_mapped_to_memory_are_read(new, kind, tmp_path):
    Z, y = (a.astype(kind) for a in strong())
    mapped = []
    for name, array in (("Z", Z), ("y", y), ("asked", elsewhere().astype(kind))):
        np.save(tmp_path / f"{name}.npy", array)
        mapped.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    expected = new().fit(Z, y).posterior(elsewhere().astype(kind))
    assert_alike(new().fit(*mapped[:2]).posterior(mapped[2]), expected, EXACT)


@EVERY
@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
def test_one_broken_number_is_found(new, broken):
    Z, y = strong()
    at = np.where(np.arange(30)[:, None] == [[17, -1]], broken, 0.0)
    message = "teacher inputs: NaN or infinity in 1 of 30 rows (rows 17); drop or fill them first"
    with expect_refusal(NotFinite, message):
        new().fit(Z + at, y)
    with expect_refusal(NotFinite, message):
        new().fit(Z, y).posterior(Z + at)
    with expect_refusal(NotFinite, message.replace("teacher inputs", "strong labels")):
        new().fit(Z, y + at[:, :1])


@EVERY
def test_no_samples_are_refused(new):
    Z, y = strong()
    message = "teacher inputs: the set is empty, expected at least one row"
    with expect_refusal(InvalidInput, message):
        new().fit(Z[:0], y[:0])
    with expect_refusal(InvalidInput, message):
        new().fit(Z, y).posterior(Z[:0])
    with expect_refusal(InvalidInput, "strong labels: the set is empty, expected at least one row"):
        new().fit(Z, y[:0])


VALUE = st.floats(-1e3, 1e3, allow_nan=False, width=32)
KERNELS = [PLAIN, RBF(100.0, 5.0) + White(1.0), Matern32(10.0) + White(0.1), RBF(10.0) + Linear(1.0, 0.01) + White(0.1)]


@st.composite
def lessons(draw):
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    Z, y = (draw(arrays(np.float64, (n, columns), elements=VALUE)) for columns in (d, 1))
    return Z, y, draw(arrays(np.float64, (4, d), elements=VALUE))


def assert_sound(teacher, asked: np.ndarray) -> None:
    posterior = teacher.posterior(asked)
    assert np.isfinite(posterior.mean).all()
    assert (posterior.variance >= 0).all()
    assert (posterior.variance <= posterior.prior * (1 + SINGLE)).all()
    assert np.isfinite(teacher.log_evidence_)


@PROPERTY
@given(lesson=lessons(), clusters=st.integers(1, 4), kernel=st.sampled_from(KERNELS), smooth=st.booleans())
def test_clusters_of_anything_give_sound_beliefs(lesson, clusters, kernel, smooth):
    Z, y, asked = lesson
    teacher = ClusteredGP(clusters, kernel=kernel, smallest=1, smooth_edges=smooth).fit(Z, y)
    assert_sound(teacher, np.concatenate([Z, asked]))


@PROPERTY
@given(lesson=lessons(), largest=st.integers(1, 6), smooth=st.booleans())
def test_clusters_of_any_size_give_sound_beliefs(lesson, largest, smooth):
    Z, y, asked = lesson
    teacher = ClusteredGP(largest=largest, smallest=1, smooth_edges=smooth, precision="double").fit(Z, y)
    assert_sound(teacher, np.concatenate([Z, asked]))


@PROPERTY
@given(lesson=lessons(), kernel=st.sampled_from(KERNELS), components=st.integers(1, 5))
def test_an_exact_process_behind_components_of_anything_gives_sound_beliefs(lesson, kernel, components):
    Z, y, asked = lesson
    assert_sound(Reduced(lambda: ExactGP(kernel), components).fit(Z, y), np.concatenate([Z, asked]))


@PROPERTY
@given(lesson=lessons(), clusters=st.integers(1, 4), kernel=st.sampled_from(KERNELS))
def test_a_process_in_every_cluster_of_anything_gives_sound_beliefs(lesson, clusters, kernel):
    Z, y, asked = lesson
    assert_sound(Divided(lambda: ExactGP(kernel), clusters, smallest=1, jobs=1).fit(Z, y), np.concatenate([Z, asked]))
