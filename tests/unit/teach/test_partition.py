import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fwl.errors import InvalidInput
from fwl.randomness import Chance
from fwl.teach.partition import Partition, classes_of, nearest, partition, two_nearest
from fwl.threads import one_thread
from tests.oracles import clusters as oracle
from tests.properties import PROPERTY
from tests.refusals import expect_refusal
from tests.tolerances import ALGEBRA

COORDINATE = st.floats(-20, 20, allow_nan=False, width=32)
POINTS = arrays(np.float64, st.tuples(st.integers(1, 20), st.integers(1, 3)), elements=COORDINATE)


def cut(Z, y=None, clusters=None, largest=1000, smallest=1, seed=0):
    labels = np.linspace(0.1, 0.9, len(Z))[:, None] if y is None else y
    with one_thread():  # as teachers do
        return partition(Z, labels, clusters, largest, smallest, Chance(seed))


def blobs(*sizes: int, at: tuple[float, ...] = (0.0, 100.0, 200.0, 300.0)) -> np.ndarray:
    """Samples in one dimension, so many around each place, one place after the other."""
    rng = np.random.default_rng(0)
    return np.concatenate([at[i] + rng.normal(size=(n, 1)) for i, n in enumerate(sizes)])


def of_blob(cluster: np.ndarray, *sizes: int) -> list[set[int]]:
    """The clusters that each blob's samples are in."""
    return [set(part.tolist()) for part in np.split(cluster, np.cumsum(sizes)[:-1])]


def scattered(n: int = 300, d: int = 4) -> np.ndarray:
    return np.random.default_rng(1).standard_t(2, size=(n, d))


def test_blobs_are_clusters():
    where, cluster = cut(blobs(20, 15, 30), clusters=3)
    assert where.clusters == len(where.centroids) == 3
    first, second, third = of_blob(cluster, 20, 15, 30)
    assert {len(first), len(second), len(third)} == {1}
    assert first | second | third == {0, 1, 2}


def test_one_cluster_has_the_mean_of_all_for_its_centre():
    Z = scattered()
    where, cluster = cut(Z, clusters=1)
    np.testing.assert_allclose(where.centroids, Z.mean(axis=0, keepdims=True), rtol=0, atol=ALGEBRA)
    assert set(cluster.tolist()) == {0}


@pytest.mark.parametrize("largest", [1, 7, 50, 299, 300, 1000])
@pytest.mark.parametrize("smallest", [1, 10])
def test_no_cluster_holds_more_than_the_largest_may(largest, smallest):
    where, cluster = cut(scattered(), largest=largest, smallest=smallest)
    assert np.bincount(cluster).max() <= largest
    assert where.clusters >= -(-300 // largest)


@PROPERTY
@given(Z=POINTS, largest=st.integers(4, 10), smallest=st.integers(1, 5))
def test_only_rows_that_are_the_same_make_a_cluster_too_large(Z, largest, smallest):
    _, cluster = cut(np.round(Z), largest=largest, smallest=smallest)
    for k in np.unique(cluster):
        members = np.round(Z)[cluster == k]
        assert len(members) <= largest or len(np.unique(members, axis=0)) == 1


def test_rows_that_are_all_the_same_cannot_be_split():
    where, cluster = cut(np.ones((40, 2)), largest=10)
    assert where.clusters == 1
    assert len(cluster) == 40


def test_the_number_of_clusters_when_given_overrides_the_largest():
    where, cluster = cut(blobs(50, 50), clusters=2, largest=10)
    assert where.clusters == 2
    assert np.bincount(cluster).tolist() == [50, 50]


@pytest.mark.parametrize("clusters", [7, 50])
def test_more_clusters_than_samples_are_as_many_as_samples(clusters):
    where, cluster = cut(blobs(2, 2, 2), clusters=clusters)
    assert where.clusters == 6
    assert sorted(cluster.tolist()) == list(range(6))


def test_more_clusters_than_distinct_rows_leave_no_cluster_empty():
    Z = np.repeat([[0.0], [1.0], [5.0]], 10, axis=0)
    where, cluster = cut(Z, clusters=8)
    assert where.clusters == len(where.centroids) == 3
    assert np.bincount(cluster).tolist() == [10, 10, 10]


def test_a_small_cluster_joins_the_nearest():
    Z = blobs(20, 20, 3, at=(0.0, 100.0, 130.0))
    where, cluster = cut(Z, clusters=3, smallest=5)
    far, near, small = of_blob(cluster, 20, 20, 3)
    assert small == near != far
    assert where.clusters == 2


def test_its_cell_leads_to_the_cluster_it_joined():
    Z = blobs(20, 20, 3, at=(0.0, 100.0, 130.0))
    where, cluster = cut(Z, clusters=3, smallest=5)
    assert len(where.centroids) == 3
    assert sorted(where.cluster_of.tolist()) in ([0, 0, 1], [0, 1, 1])
    route = where.cluster_of[nearest(np.array([[0.0], [100.0], [131.0]]), where.centroids)]
    assert route[1] == route[2] == cluster[-1] != route[0]


def test_small_clusters_join_one_after_the_other_until_all_are_large_enough():
    where, cluster = cut(blobs(4, 4, 4, 12, at=(0.0, 10.0, 20.0, 500.0)), clusters=4, smallest=10)
    assert where.clusters == 2
    first, second, third, far = of_blob(cluster, 4, 4, 4, 12)
    assert first == second == third != far


def test_when_all_are_small_one_is_left():
    where, _ = cut(blobs(3, 3, 3), clusters=3, smallest=10)
    assert where.clusters == 1
    assert len(where.centroids) == 3


@pytest.mark.parametrize("one_hot", [True, False])
def test_a_cluster_of_one_class_joins_the_nearest(one_hot):
    Z = blobs(20, 20, 20, at=(0.0, 100.0, 130.0))
    classes = np.concatenate([np.arange(40) % 2, np.ones(20, dtype=int)])
    y = np.eye(2)[classes] if one_hot else classes[:, None].astype(float)
    where, cluster = cut(Z, y, clusters=3)
    far, near, single = of_blob(cluster, 20, 20, 20)
    assert single == near != far
    assert where.clusters == 2


def test_labels_of_one_class_only_can_be_clustered():
    where, _ = cut(blobs(20, 20), np.eye(3)[np.zeros(40, dtype=int)], clusters=2)
    assert where.clusters == 2


def test_classes_far_apart_do_not_end_as_one_cluster_of_all():
    Z = np.random.default_rng(0).normal(size=(400, 1))
    where, cluster = cut(Z, (Z > 0).astype(float), largest=50)
    assert np.bincount(cluster).max() <= 50
    assert where.clusters >= 8


def test_a_small_cluster_passes_over_a_neighbour_without_room():
    Z = blobs(10, 9, 3, at=(100.0, 0.0, 110.0))
    where, cluster = cut(Z, largest=12, smallest=5)
    full, with_room, small = of_blob(cluster, 10, 9, 3)
    assert small == with_room != full
    assert where.clusters == 2


@PROPERTY
@given(Z=POINTS, clusters=st.one_of(st.none(), st.integers(1, 5)), smallest=st.integers(1, 5))
def test_strong_samples_are_routed_to_their_own_cluster(Z, clusters, smallest):
    where, cluster = cut(Z, clusters=clusters, largest=8, smallest=smallest)
    np.testing.assert_array_equal(where.cluster_of[nearest(Z, where.centroids)], cluster)


@PROPERTY
@given(Z=POINTS, clusters=st.integers(1, 5), smallest=st.integers(1, 5))
def test_every_cluster_has_samples_and_a_number_in_turn(Z, clusters, smallest):
    where, cluster = cut(Z, clusters=clusters, smallest=smallest)
    assert np.unique(cluster).tolist() == list(range(where.clusters))
    assert np.unique(where.cluster_of).tolist() == list(range(where.clusters))
    sizes = np.bincount(cluster)
    assert where.clusters == 1 or sizes.min() >= smallest


def test_the_same_chance_gives_the_same_cut():
    (one, its), (other, others) = (cut(scattered(), clusters=6, smallest=5, seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.centroids, other.centroids)
    np.testing.assert_array_equal(its, others)


def test_other_chance_starts_elsewhere():
    one, other = (cut(scattered(), clusters=6, seed=seed)[0] for seed in (0, 1))
    assert not np.array_equal(one.centroids, other.centroids)


@pytest.mark.parametrize("offset", [1e6, 1e8])
def test_samples_moved_far_away_are_cut_alike(offset):
    Z = np.round(scattered(100), 3)
    here, there = cut(Z, largest=20)[1], cut(Z + offset, largest=20)[1]
    np.testing.assert_array_equal(here, there)


@PROPERTY
@given(Z=arrays(np.float64, (6, 2), elements=COORDINATE), centroids=arrays(np.float64, (4, 2), elements=COORDINATE))
def test_the_nearest_centroid_is_the_loops(Z, centroids):
    found, expected = nearest(Z, centroids), oracle.nearest(Z, centroids)
    distance = [((Z - centroids[c]) ** 2).sum(axis=1) for c in (found, expected)]
    np.testing.assert_allclose(distance[0], distance[1], rtol=ALGEBRA, atol=ALGEBRA)  # ties may go either way


def both_nearest(Z: np.ndarray, centroids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    squared = ((Z[:, None] - centroids) ** 2).sum(axis=-1)
    cell, weight = two_nearest(torch.from_numpy(squared), torch.from_numpy(centroids))
    return cell.numpy(), weight.numpy()


@PROPERTY
@given(
    Z=arrays(np.float64, (5, 2), elements=COORDINATE),
    centroids=arrays(np.float64, st.tuples(st.integers(2, 6), st.just(2)), elements=COORDINATE),
)
def test_weights_of_the_two_nearest_are_the_loops(Z, centroids):
    cell, weight = both_nearest(Z, centroids)
    squared = np.sort(((Z[:, None] - centroids) ** 2).sum(axis=-1), axis=1)
    assume((np.diff(squared, axis=1) > 1e-6).all())  # who is nearest is a matter of order where they tie
    for z, cells, weights in zip(Z, cell, weight, strict=True):
        assert dict(zip(cells.tolist(), weights.tolist(), strict=True)) == pytest.approx(oracle.weights(z, centroids))


@PROPERTY
@given(
    Z=arrays(np.float64, (5, 2), elements=COORDINATE),
    centroids=arrays(np.float64, st.tuples(st.integers(2, 6), st.just(2)), elements=COORDINATE),
)
def test_weights_share_one_and_the_nearest_has_the_most(Z, centroids):
    _, weight = both_nearest(Z, centroids)
    np.testing.assert_allclose(weight.sum(axis=1), 1.0, rtol=0, atol=ALGEBRA)
    assert (weight >= 0).all()
    assert (weight[:, 0] >= weight[:, 1]).all()


TRIANGLE = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])


def test_on_a_border_both_are_heard_alike():
    _, weight = both_nearest(np.array([[1.0, -3.0]]), TRIANGLE)
    np.testing.assert_allclose(weight, [[0.5, 0.5]], rtol=0, atol=ALGEBRA)


@pytest.mark.parametrize("z", [[0.0, 0.0], [-1.0, 0.0], [-1.0, 5.0]])
def test_from_the_centroid_on_the_other_of_two_is_not_heard(z):
    cell, weight = both_nearest(np.array([z]), TRIANGLE[:2])
    assert cell[0, 0] == 0
    np.testing.assert_allclose(weight, [[1.0, 0.0]], rtol=0, atol=ALGEBRA)


def test_where_the_second_gives_way_to_the_third_it_is_not_heard():
    _, weight = both_nearest(np.array([[0.5, 0.5]]), TRIANGLE)
    np.testing.assert_allclose(weight, [[1.0, 0.0]], rtol=0, atol=ALGEBRA)


def test_three_at_one_distance_share_alike():
    _, weight = both_nearest(np.array([[1.0, 1.0]]), TRIANGLE)
    np.testing.assert_allclose(weight, [[0.5, 0.5]], rtol=0, atol=ALGEBRA)


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        ([[0.0], [1.0], [1.0]], [0, 1, 1]),
        ([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [0, 2]),
        ([[1.0], [1.0]], [1, 1]),
        ([[0.5], [1.0]], None),
        ([[1.0, 1.0], [1.0, 0.0]], None),
        ([[0.0, 0.0], [1.0, 0.0]], None),
        ([[0.9, 0.1]], None),
        ([[-1.0], [1.0]], None),
    ],
)
def test_labels_are_classes_if_they_are_nothing_but_zeros_and_ones(y, expected):
    found = classes_of(np.array(y))
    assert (None if found is None else found.tolist()) == expected


@pytest.mark.parametrize("name", ["clusters", "largest", "smallest"])
@pytest.mark.parametrize("value", [0, -3])
def test_counts_start_at_one(name, value):
    with expect_refusal(InvalidInput, f"{name} is at least 1, got {value}"):
        cut(scattered(), **{name: value})


def test_clusters_are_counted_by_what_cells_lead_to():
    assert Partition(np.zeros((4, 1)), np.array([0, 2, 1, 2])).clusters == 3
