import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fwl.teach import RBF, Linear, Matern32, White, blocks
from fwl.teach.blocks import WASTE, Block, factor, log_evidence_of, one_block, pack
from fwl.teach.given import as_lesson
from tests.oracles import gaussian_process as oracle
from tests.properties import PROPERTY
from tests.tolerances import ALGEBRA

SIZES = (7, 3, 8, 1, 20, 8)  # some share a block, some stand alone
KERNELS = pytest.mark.parametrize(
    "kernel", [RBF() + White(), Matern32(0.7, 2.0) + Linear(0.5) + White(0.1), RBF(), Linear(1.0) + White()], ids=str
)


def lesson(n: int = sum(SIZES), directions: int = 2) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(0)
    Z, mean = rng.normal(size=(n, 3)), rng.normal(size=(n, 2, directions))
    return as_lesson(Z, np.stack([np.sin(Z.sum(axis=1)), Z[:, 0] ** 2], axis=1), mean if directions else None)


def groups(sizes=SIZES) -> list[torch.Tensor]:
    shuffled = torch.from_numpy(np.random.default_rng(1).permutation(sum(sizes)))
    return list(torch.split(shuffled, list(sizes)))


def packed(sizes=SIZES, directions: int = 2) -> list[Block]:
    return pack(*lesson(sum(sizes), directions), groups(sizes))


@PROPERTY
@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_every_sample_has_one_place(sizes):
    found = packed(sizes)
    rows = torch.cat([block.rows[block.present] for block in found])
    assert rows.sort().values.tolist() == list(range(sum(sizes)))
    assert sum(block.samples for block in found) == sum(sizes)


@PROPERTY
@given(sizes=st.lists(st.integers(1, 40), min_size=1, max_size=12))
def test_every_cluster_is_the_group_of_its_number(sizes):
    for block in packed(sizes):
        for i, k in enumerate(block.clusters.tolist()):
            assert block.rows[i][block.present[i]].tolist() == groups(sizes)[k].tolist()


@PROPERTY
@given(sizes=st.lists(st.integers(1, 60), min_size=1, max_size=12))
def test_padding_makes_no_cluster_much_longer(sizes):
    for block in packed(sizes):
        assert (block.present.shape[1] <= WASTE * block.present.sum(dim=1)).all()


def test_clusters_of_one_size_are_one_block():
    (block,) = packed((9, 9, 9))
    assert block.present.shape == (3, 9)
    assert not block.padded


def test_clusters_of_about_one_size_are_one_block():
    (block,) = packed((20, 18, 19))
    assert block.clusters.tolist() == [0, 2, 1]
    assert block.padded


def test_blocks_grow_no_larger_than_memory_allows(monkeypatch):
    monkeypatch.setattr(blocks, "MOST_ENTRIES", 200)
    shapes = [tuple(block.present.shape) for block in packed((9,) * 5)]
    assert shapes == [(2, 9), (2, 9), (1, 9)]


def test_a_cluster_too_large_for_any_block_has_its_own(monkeypatch):
    monkeypatch.setattr(blocks, "MOST_ENTRIES", 10)
    assert [block.clusters.tolist() for block in packed((9, 9))] == [[0], [1]]


def test_samples_are_where_their_rows_say():
    Z, y, mean = lesson()
    for block in packed():
        here = block.present
        assert torch.equal(block.Z[here], Z[block.rows[here]])
        assert torch.equal(block.y[here], y[block.rows[here]])
        assert torch.equal(block.mean[here], mean[block.rows[here]])


def test_what_is_absent_is_zero():
    padded = [block for block in packed() if block.padded]
    assert padded
    for block in padded:
        assert (block.y[~block.present] == 0).all()
        assert (block.mean[~block.present] == 0).all()


@KERNELS
def test_the_covariance_of_a_cluster_is_its_gram_matrix(kernel):
    Z = lesson()[0].numpy()
    for block in packed():
        for K, rows, present in zip(block.covariance(kernel), block.rows, block.present, strict=True):
            expected = oracle.gram(kernel, Z[rows[present].numpy()])
            np.testing.assert_allclose(K[present][:, present], expected, rtol=0, atol=ALGEBRA)


@KERNELS
def test_what_is_absent_has_variance_one_and_no_company(kernel):
    for block in packed():
        for K, present in zip(block.covariance(kernel), block.present, strict=True):
            absent = ~present
            assert torch.equal(K[absent][:, absent], torch.eye(int(absent.sum()), dtype=torch.float64))
            assert (K[absent][:, present] == 0).all()


@KERNELS
def test_the_covariance_can_be_asked_for_twice(kernel):
    block = packed()[0]
    assert torch.equal(block.covariance(kernel), block.covariance(kernel))
    assert block.pairs is block.pairs


@KERNELS
def test_the_evidence_of_blocks_is_that_of_their_clusters(kernel):
    Z, y, _ = (t.numpy() for t in lesson())
    found = 0.0
    for block in packed():
        L = factor(block, kernel + White(0.01))
        found += log_evidence_of(block, L, block.y, torch.cholesky_solve(block.y, L)).item()
    expected = sum(oracle.log_evidence(kernel + White(0.01), Z[g.numpy()], y[g.numpy()]) for g in groups())
    assert found == pytest.approx(expected, rel=ALGEBRA)


def test_the_residual_is_what_the_directions_leave():
    factors = torch.tensor([0.5, -2.0], dtype=torch.float64)
    _, y, mean = lesson()
    for block in packed():
        expected = (y - 0.5 * mean[..., 0] + 2.0 * mean[..., 1])[block.rows[block.present]]
        torch.testing.assert_close(block.residual(factors)[block.present], expected, rtol=0, atol=ALGEBRA)
        assert (block.residual(factors)[~block.present] == 0).all()


def test_without_directions_the_residual_is_the_labels():
    for block in packed(directions=0):
        assert torch.equal(block.residual(torch.zeros(0, dtype=torch.float64)), block.y)


def test_one_block_is_all_samples_in_their_order():
    Z, y, mean = lesson()
    block = one_block(Z, y, mean)
    assert torch.equal(block.rows[0], torch.arange(len(Z)))
    assert torch.equal(block.Z[0], Z)
    assert torch.equal(block.mean[0], mean)
    assert not block.padded
