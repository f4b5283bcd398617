"""The two kinds of passes: the same numbers, whichever is taken, and NaN where there was one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from fwl.teach import passes
from fwl.teach.clustered import ClusteredGP
from fwl.teach.passes import Compiled, Plain, passes_for

KINDS = pytest.mark.parametrize("precision", [torch.float32, torch.float64])


def drawn(rows: int, columns: int, precision: torch.dtype) -> torch.Tensor:
    return torch.randn(rows, columns, generator=torch.Generator().manual_seed(0), dtype=torch.float64).to(precision)


@KINDS
def test_both_find_the_largest_of_each_column(precision: torch.dtype) -> None:
    table = drawn(7, 5000, precision)  # more columns than are held at once
    assert torch.equal(Compiled().largest_in_columns(table).long(), Plain().largest_in_columns(table))
    assert torch.equal(Compiled().largest_in_columns(table).long(), torch.from_numpy(table.numpy().argmax(axis=0)))


@KINDS
def test_both_gather_the_same_rows_and_lengths(precision: torch.dtype) -> None:
    Z, rows, centre = drawn(50, 33, precision), torch.tensor([4, 4, 49, 0]), drawn(1, 33, precision)[0]
    found = []
    for kind in (Plain(), Compiled()):
        out = torch.empty(4, 33, dtype=precision)
        squares = kind.gather_centred(Z, rows, centre, out)
        assert torch.equal(out, Z[rows] - centre)
        torch.testing.assert_close(squares, out.square().sum(dim=1))
        found.append(squares)
    torch.testing.assert_close(found[0], found[1])


@KINDS
def test_nan_and_infinity_stay(precision: torch.dtype) -> None:
    Z = drawn(4, 20, precision)
    Z[1, 3], Z[2, 5] = torch.nan, torch.inf
    for kind in (Plain(), Compiled()):
        squares = kind.squared_lengths(Z)
        assert squares.isnan().tolist() == [False, True, False, False]
        assert squares.isinf().tolist() == [False, False, True, False]


def test_a_teacher_says_the_same_by_either(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    Z, fresh = rng.normal(size=(120, 5)), rng.normal(size=(500, 5))
    teacher = ClusteredGP(4, random_state=0).fit(Z, np.sin(Z[:, :1]))
    monkeypatch.setattr(passes, "MANY", fresh.size + 1)
    assert isinstance(passes_for(torch.from_numpy(fresh)), Plain)
    plain = teacher.posterior(fresh)
    monkeypatch.setattr(passes, "MANY", fresh.size)
    assert isinstance(passes_for(torch.from_numpy(fresh)), Compiled)
    compiled = teacher.posterior(fresh)
    np.testing.assert_allclose(compiled.mean, plain.mean, atol=2e-6)
    np.testing.assert_allclose(compiled.variance, plain.variance, atol=2e-6)
