import numpy as np
import pytest
import torch

from fwl.errors import NumericalTrouble
from fwl.teach import RBF, ClusteredGP, ExactGP, Linear, Matern32, White, clustered
from fwl.teach.given import HYPERPARAMETERS
from tests.tolerances import ALGEBRA, EXACT, SINGLE

CENTRES = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])


def strong(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    Z = CENTRES[np.arange(n) % 3] + rng.normal(size=(n, 2))
    return Z, np.sin(Z.sum(axis=1, keepdims=True)) + 0.1 * rng.normal(size=(n, 1))


def elsewhere(m: int = 50) -> np.ndarray:
    return np.random.default_rng(1).uniform(-3, 11, size=(m, 2))


def test_each_blob_has_its_process():
    teacher = ClusteredGP(3).fit(*strong())
    assert teacher.partition_.clusters == 3
    assert len(teacher.kernels_) == 3
    assert len(np.unique(teacher.cluster_.reshape(20, 3), axis=0)) == 1


def test_a_sample_is_judged_by_its_own_cluster_alone():
    Z, y = strong()
    teacher = ClusteredGP(3).fit(Z, y)
    here = teacher.cluster_ == teacher.cluster_[0]
    other_labels = np.where(here[:, None], y, 100.0)
    again = ClusteredGP(3).fit(Z, other_labels)
    near = CENTRES[[0]] + np.random.default_rng(2).normal(size=(20, 2))
    np.testing.assert_allclose(again.posterior(near).mean, teacher.posterior(near).mean, rtol=0, atol=SINGLE)


def test_the_number_of_clusters_follows_the_largest():
    teacher = ClusteredGP(largest=25, smallest=1).fit(*strong())
    assert np.bincount(teacher.cluster_).max() <= 25
    assert ClusteredGP().fit(*strong()).partition_.clusters == 1


def test_small_clusters_are_merged():
    assert ClusteredGP(20, smallest=1).fit(*strong()).partition_.clusters == 20
    merged = ClusteredGP(20, smallest=10).fit(*strong())
    assert np.bincount(merged.cluster_).min() >= 10


def test_clusters_share_their_kernel_unless_told_otherwise():
    Z, y = strong()
    together = ClusteredGP(3, hyperparameters="evidence").fit(Z, y)
    apart = ClusteredGP(3, hyperparameters="evidence", shared=False).fit(Z, y)
    assert len(set(together.kernels_)) == 1
    assert together.kernel_ == together.kernels_[0]
    assert len(set(apart.kernels_)) == 3
    assert apart.log_evidence_ > together.log_evidence_ > ClusteredGP(3).fit(Z, y).log_evidence_


def test_every_cluster_has_the_kernel_that_its_samples_ask_for():
    rng = np.random.default_rng(0)
    Z, noise = strong()[0], np.tile([0.01, 1.0, 0.01], 20)
    y = np.sin(Z[:, 0]) + noise * rng.normal(size=60)
    teacher = ClusteredGP(3, hyperparameters="evidence", shared=False).fit(Z, y)
    found = [teacher.kernels_[teacher.cluster_[i]].noise for i in range(3)]
    assert found[1] > 0.1 > max(found[0], found[2])


@pytest.mark.parametrize("shared", [True, False])
def test_fixed_takes_the_kernel_as_it_is(shared):
    kernel = Matern32(2.0) + White(0.3)
    assert ClusteredGP(3, kernel=kernel, shared=shared).fit(*strong()).kernels_ == (kernel,) * 3
    assert ClusteredGP(3, shared=shared).fit(*strong()).kernels_ == (RBF() + White(),) * 3


@pytest.mark.parametrize("hyperparameters", HYPERPARAMETERS)
def test_fitting_leaves_what_the_user_gave(hyperparameters):
    kernel = RBF(3.0) + White(0.5)
    teacher = ClusteredGP(3, kernel=kernel, hyperparameters=hyperparameters).fit(*strong())
    assert teacher.kernel is kernel
    assert (teacher.kernel_ == kernel) == (hyperparameters == "fixed")


def test_the_noise_of_a_belief_is_the_least_of_the_clusters():
    teacher = ClusteredGP(3, hyperparameters="evidence", shared=False).fit(*strong())
    least = min(kernel.noise for kernel in teacher.kernels_)
    assert teacher.posterior(elsewhere()).noise == teacher.leave_one_out().noise == least


def test_every_label_column_shares_the_variance():
    Z, y = strong()
    posterior = ClusteredGP(3).fit(Z, np.hstack([y, -y, y**2])).posterior(elsewhere())
    assert posterior.mean.shape == posterior.variance.shape == (50, 3)
    np.testing.assert_array_equal(posterior.variance[:, 0], posterior.variance[:, 2])
    np.testing.assert_allclose(posterior.mean[:, 0], -posterior.mean[:, 1], rtol=0, atol=SINGLE)


def test_a_vector_of_inputs_is_one_column():
    x, y = np.linspace(0, 1, 30), np.ones(30)
    by_vector, by_matrix = ClusteredGP(2).fit(x, y), ClusteredGP(2).fit(x[:, None], y)
    np.testing.assert_array_equal(by_vector.posterior(x).mean, by_matrix.posterior(x[:, None]).mean)


def test_chunks_give_what_the_whole_gives(monkeypatch):
    teacher = ClusteredGP(3, precision="double").fit(*strong())
    whole = teacher.posterior(elsewhere())
    monkeypatch.setattr(clustered, "CHUNK", 7)
    chunked = teacher.posterior(elsewhere())
    np.testing.assert_allclose(chunked.mean, whole.mean, rtol=0, atol=ALGEBRA)
    np.testing.assert_allclose(chunked.variance, whole.variance, rtol=0, atol=ALGEBRA)


def test_shrinking_finds_one_factor_for_all_clusters():
    Z, y = strong()
    teacher = ClusteredGP(3, shrink_mean=True).fit(Z, y, 2 * y)
    assert teacher.shrinkage_ == pytest.approx((0.5,), abs=ALGEBRA)
    assert ClusteredGP(3).fit(Z, y, 2 * y).shrinkage_ == (1.0,)
    assert ClusteredGP(3, shrink_mean=True).fit(Z, y).shrinkage_ == ()


def test_a_shrunk_mean_is_shrunk_everywhere():
    Z, y = strong()
    posterior = ClusteredGP(3, shrink_mean=True).fit(Z, y, 2 * y).posterior([[1e3, 1e3]], [[8.0]])
    np.testing.assert_allclose(posterior.mean, [[4.0]], rtol=0, atol=SINGLE)


def test_shrinking_raises_the_evidence():
    Z, y = strong()
    shrunk, whole, none = (
        ClusteredGP(3, shrink_mean=True).fit(Z, y, np.abs(y)),
        ClusteredGP(3).fit(Z, y, np.abs(y)),
        ClusteredGP(3).fit(Z, y),
    )
    assert shrunk.log_evidence_ >= max(whole.log_evidence_, none.log_evidence_) - ALGEBRA


def test_single_precision_is_used_where_it_is_near_enough():
    kernel = RBF(4.0) + White(0.1)
    teacher, double = (ClusteredGP(3, kernel=kernel, precision=p).fit(*strong()) for p in ("single", "double"))
    assert (teacher.precision_, double.precision_) == ("single", "double")
    np.testing.assert_allclose(
        teacher.posterior(elsewhere()).mean, double.posterior(elsewhere()).mean, rtol=0, atol=SINGLE
    )


def test_single_precision_gives_way_where_labels_have_hardly_any_noise():
    Z = np.linspace(0, 1, 40)[:, None]
    teacher = ClusteredGP(2, kernel=RBF(0.5) + White(1e-8)).fit(Z, np.sin(6 * Z))
    assert teacher.precision_ == "double"
    np.testing.assert_allclose(teacher.posterior(Z).mean, np.sin(6 * Z), rtol=0, atol=1e-4)  # the noise's deviation


def test_single_precision_gives_way_where_squares_overflow_it():
    Z, y = strong()
    kernel = RBF(1e20) + White()
    teacher = ClusteredGP(3, kernel=kernel).fit(1e20 * Z, y)
    assert teacher.precision_ == "double"
    plain = ClusteredGP(3, precision="double").fit(Z, y)
    np.testing.assert_allclose(
        teacher.posterior(1e20 * elsewhere()).mean, plain.posterior(elsewhere()).mean, rtol=0, atol=ALGEBRA
    )


def test_single_precision_in_gives_double_out():
    posterior = ClusteredGP(3).fit(*strong()).posterior(elsewhere().astype(np.float32))
    assert posterior.mean.dtype == posterior.variance.dtype == posterior.prior.dtype == np.float64


def test_fitting_and_asking_leave_the_number_of_threads():
    before = torch.get_num_threads()
    ClusteredGP(3, hyperparameters="evidence", shared=False).fit(*strong()).posterior(elsewhere())
    assert torch.get_num_threads() == before


def test_nothing_is_drawn_from_global_generators():
    before = np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()  # noqa: NPY002
    ClusteredGP(3, hyperparameters="evidence", starts=2).fit(*strong()).posterior(elsewhere())
    assert before == (np.random.get_state()[1].tolist(), torch.get_rng_state().tolist())  # noqa: NPY002


def test_a_fit_that_fails_leaves_what_was_learned():
    Z, y = strong()
    teacher = ClusteredGP(3).fit(Z, y)
    before = teacher.posterior(elsewhere()).mean
    teacher.clusters = 1
    with pytest.raises(NumericalTrouble, match="huge values among its inputs"):
        teacher.fit(1e200 * Z, y)
    np.testing.assert_array_equal(teacher.posterior(elsewhere()).mean, before)


def line(start, end, steps: int = 2000) -> np.ndarray:
    return np.linspace(start, end, steps)


def largest_step(posterior) -> tuple[float, float]:
    return tuple(float(abs(np.diff(a, axis=0)).max()) for a in (posterior.mean, posterior.variance))


def rough_and_smooth(clusters: int, **settings) -> tuple[ClusteredGP, ClusteredGP]:
    """Two teachers on clusters that touch, with labels that differ across the border."""
    rng = np.random.default_rng(0)
    Z = rng.uniform(-3, 3, size=(120, 2))
    y = np.sin(Z[:, :1]) + 0.5 * rng.normal(size=(120, 1))
    return tuple(
        ClusteredGP(clusters, kernel=RBF(1.5) + White(0.05), smooth_edges=smooth, precision="double", **settings).fit(
            Z, y
        )
        for smooth in (False, True)
    )


@pytest.mark.parametrize("clusters", [2, 3, 6])
def test_with_smooth_edges_nothing_jumps_on_the_way_from_one_centroid_to_another(clusters):
    rough, smooth = rough_and_smooth(clusters)
    centroids = rough.partition_.centroids
    jumps = []
    for a in range(clusters):
        for b in range(a):
            way = line(centroids[a], centroids[b])
            jumps.append((largest_step(rough.posterior(way)), largest_step(smooth.posterior(way))))
    rough_jump, smooth_jump = (np.max([pair[i] for pair in jumps], axis=0) for i in (0, 1))
    assert (smooth_jump < 0.05 * rough_jump).all()


def test_nothing_jumps_where_the_second_nearest_changes():
    _, smooth = rough_and_smooth(6)
    centroids = smooth.partition_.centroids
    way = np.concatenate([line([-3.0, -2.9], [2.9, 3.0]), line([3.0, -3.0], [-2.9, 3.0])])
    order = np.argsort(((way[:, None] - centroids) ** 2).sum(axis=-1), axis=1)
    first_stays = order[1:, 0] == order[:-1, 0]
    first_stays[len(way) // 2 - 1] = False  # from the end of one line to the start of the other
    changes = first_stays & (order[1:, 1] != order[:-1, 1])
    assert changes.sum() >= 3
    posterior = smooth.posterior(way)
    for array in (posterior.mean, posterior.variance):
        steps = abs(np.diff(array[:, 0]))
        assert steps[changes].max() <= steps[first_stays & ~changes].max()


def test_finer_steps_are_smaller_steps_with_smooth_edges_only():
    rough, smooth = rough_and_smooth(6)
    start, end = [-3.0, -2.9], [2.9, 3.0]
    for teacher, shrinks in ((smooth, True), (rough, False)):
        coarse, fine = (largest_step(teacher.posterior(line(start, end, n))) for n in (1000, 10000))
        assert (fine[0] < 0.2 * coarse[0]) is shrinks
        assert (fine[1] < 0.2 * coarse[1]) is shrinks


def test_at_the_centroids_of_two_clusters_smooth_edges_change_nothing():
    rough, smooth = rough_and_smooth(2)
    centroids = rough.partition_.centroids
    behind = centroids + 0.5 * (centroids - centroids[::-1])
    for asked in (centroids, behind):
        np.testing.assert_allclose(smooth.posterior(asked).mean, rough.posterior(asked).mean, rtol=0, atol=ALGEBRA)
        np.testing.assert_allclose(
            smooth.posterior(asked).variance, rough.posterior(asked).variance, rtol=0, atol=ALGEBRA
        )


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("shared", [True, False])
def test_a_blended_variance_lies_between_the_noise_and_the_prior(precision, shared):
    Z, y = strong()
    teacher = ClusteredGP(3, hyperparameters="evidence", shared=shared, smooth_edges=True, precision=precision).fit(
        Z, y
    )
    posterior = teacher.posterior(np.random.default_rng(2).uniform(-30, 30, size=(5000, 2)))
    near = SINGLE if teacher.precision_ == "single" else ALGEBRA
    assert (posterior.variance >= posterior.noise * (1 - near)).all()
    assert (posterior.variance <= posterior.prior * (1 + near)).all()


def test_a_blend_lies_between_the_two_opinions():
    rough, smooth = rough_and_smooth(2)
    way = line(*rough.partition_.centroids)
    kernel, (Z, y, _) = rough.kernel_, (part.numpy() for part in rough._lesson)
    own = [ExactGP(kernel).fit(Z[rough.cluster_ == k], y[rough.cluster_ == k]).posterior(way) for k in range(2)]
    blend = smooth.posterior(way)
    for name in ("mean", "variance"):
        ends = np.stack([getattr(opinion, name) for opinion in own])
        assert (getattr(blend, name) >= ends.min(axis=0) - ALGEBRA).all()
        assert (getattr(blend, name) <= ends.max(axis=0) + ALGEBRA).all()


def test_smooth_edges_change_nothing_about_leaving_one_out():
    rough, smooth = rough_and_smooth(3)
    np.testing.assert_allclose(smooth.leave_one_out().mean, rough.leave_one_out().mean, rtol=0, atol=EXACT)
    assert smooth.log_evidence_ == rough.log_evidence_


def test_smooth_edges_without_noise_go_through_the_labels_of_both():
    Z = np.linspace(0, 3, 10)[:, None]
    teacher = ClusteredGP(2, kernel=RBF(0.3), smooth_edges=True, smallest=1).fit(Z, np.sin(Z))
    ends = Z[[0, -1]]  # behind both centroids
    np.testing.assert_allclose(teacher.posterior(ends).mean, np.sin(ends), rtol=0, atol=SINGLE)
    assert (teacher.posterior(Z).variance >= 0).all()


def test_smooth_edges_of_a_linear_kernel_are_between_the_two():
    Z, y = strong()
    teacher = ClusteredGP(3, kernel=RBF() + Linear(0.1, 0.1) + White(0.1), smooth_edges=True).fit(Z, y)
    posterior = teacher.posterior(elsewhere())
    assert (posterior.variance <= posterior.prior * (1 + SINGLE)).all()
