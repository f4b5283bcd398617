"""Which points of a grid to try next: batched Gaussian-process bandits with expected improvement, or any point."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch.quasirandom import SobolEngine

from fwl.errors import InvalidInput
from fwl.experiments.grid import Grid
from fwl.randomness import Chance
from fwl.threads import one_thread

FIRST = 4  # points that are tried before the first model
MOST = 4096  # points whose expected improvement is looked at
SAMPLES = 128  # of the posterior, for an expectation
Known = Mapping[int, float | None]  # what came out at each point, higher is better; None where nothing did
# (the grid, what is known, how many, chance) -> so many points that were not tried; fewer when no more are left
Search = Callable[[Grid, Known, int, Chance], list[int]]


def suggest_any(grid: Grid, known: Known, count: int, chance: Chance) -> list[int]:
    """Points in an order drawn once; those that are known are passed over."""
    return _first_untried(_in_any_order(grid, chance.child("any")), known, count)


def suggest_by_bandit(grid: Grid, known: Known, count: int, chance: Chance) -> list[int]:
    """Spread-out points at first, then those whose expected improvement, taken together, is largest.

    A Gaussian process is fitted on all that is known. Points are chosen greedily, each with those before it as if
    their values were drawn from the posterior. Where a trial failed, it is told the worst value that is known.

    Args:
        grid: the points there are.
        known: those that were tried.
        count: how many to suggest.
        chance: of the tuning; what is drawn depends on how many points are known and on nothing else.
    """
    if len(known) < FIRST or all(value is None for value in known.values()):
        return _first_untried(_spread_out(grid, chance.child("first")), known, count)
    chance = chance.child("after", len(known))
    candidates = _candidates(grid, known, chance.child("candidates"))
    if not candidates:
        return []
    with one_thread(), _without_traces(chance.child("model").integer()):
        from botorch.exceptions import ModelFittingError

        try:
            chosen = _best_improvement(grid, known, candidates, count, chance)
        except ModelFittingError:  # after several attempts; any point will help the next model
            return suggest_any(grid, known, count, chance)
    return [candidates[i] for i in chosen]


SEARCHES: dict[str, Search] = {"bandit": suggest_by_bandit, "random": suggest_any}


def _best_improvement(grid: Grid, known: Known, candidates: list[int], count: int, chance: Chance) -> list[int]:
    """Places among the candidates, by log expected improvement over the best of what is known, noise left out."""
    from botorch.acquisition.logei import qLogNoisyExpectedImprovement
    from botorch.optim import optimize_acqf_discrete
    from botorch.sampling import SobolQMCNormalSampler

    tried, choices = (torch.from_numpy(grid.encoded(points)) for points in (known, candidates))
    improvement = qLogNoisyExpectedImprovement(
        _fitted(tried, _values(known)),
        tried,
        sampler=SobolQMCNormalSampler(torch.Size([SAMPLES]), seed=chance.child("samples").integer()),
        prune_baseline=True,
    )
    rows, _ = optimize_acqf_discrete(improvement, min(count, len(candidates)), choices, unique=True)
    return [int((choices == row).all(dim=1).nonzero()[0, 0]) for row in rows]


def _fitted(tried: torch.Tensor, values: torch.Tensor) -> Any:
    """A Gaussian process with lengthscales and noise by marginal likelihood and priors."""
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Standardize
    from gpytorch.mlls import ExactMarginalLogLikelihood

    model = SingleTaskGP(tried, values, outcome_transform=Standardize(1))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def _values(known: Known) -> torch.Tensor:
    worst = min(value for value in known.values() if value is not None)
    return torch.tensor([[worst if value is None else value] for value in known.values()], dtype=torch.float64)


def _candidates(grid: Grid, known: Known, chance: Chance) -> list[int]:
    """All points that were not tried; of very many some, and with them those next to the best."""
    if len(grid) <= MOST:
        return [point for point in range(len(grid)) if point not in known]
    values = {point: value for point, value in known.items() if value is not None}
    best = max(values, key=values.__getitem__)
    near = [point for point in grid.neighbours(best) if point not in known]
    return list(dict.fromkeys([*near, *_first_untried(_in_any_order(grid, chance), known, MOST)]))


def _spread_out(grid: Grid, chance: Chance) -> Iterator[int]:
    """Points of a scrambled Sobol sequence, then any."""
    seed = chance.child("Sobol").integer()
    sequence = SobolEngine(len(grid.shape), scramble=True, seed=seed)  # type: ignore[no-untyped-call]
    for shares in sequence.draw(8 * FIRST, dtype=torch.float64).tolist():
        yield grid.nearest(shares)
    yield from _in_any_order(grid, chance)


def _in_any_order(grid: Grid, chance: Chance) -> Iterator[int]:
    """Every point once; of a grid too large to be listed points without end."""
    rng = chance.numpy()
    if len(grid) <= 16 * MOST:
        yield from rng.permutation(len(grid)).tolist()
    while len(grid) > 16 * MOST:
        yield from rng.integers(len(grid), size=MOST).tolist()


def _first_untried(points: Iterator[int], known: Known, count: int) -> list[int]:
    found: dict[int, None] = {}
    for point in points:
        if len(found) == count:
            break
        if point not in known:
            found[point] = None
    return list(found)


@contextmanager
def _without_traces(seed: int) -> Iterator[None]:
    """Another library's draws come from one seed and leave torch's generator as it was; what it warns of is dropped."""
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_botorch()
        torch.manual_seed(seed)
        yield


def check_botorch() -> None:
    """Refuse before any work is done, where the library is missing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one of its parts uses what torch will drop
            import botorch  # noqa: F401
    except ImportError as error:
        raise InvalidInput(
            "the bandit needs botorch; install it with: pip install 'fwl[tune]', or give --search random"
        ) from error
