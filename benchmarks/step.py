"""What fidelity weighting costs: a step of the one training loop against a plain mean-reduced loop.

    python -m benchmarks.step [--rounds N] [--json FILE]

Three loops take turns, a few steps each, in one run on one thread, so that a busy machine slows all of them alike:
`plain` is what anyone would write by hand (gather, mean-reduced loss, Adam), `unweighted` the package's loop without
weights, `weighted` the same with a fidelity for every sample. The goal is weighted / plain within 1.03.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from fwl.randomness import Chance
from fwl.students.batches import Shuffled
from fwl.students.losses import squared_error
from fwl.students.perceptron import Perceptron
from fwl.students.training import Lesson, Training, _Run

STEPS = 40  # per turn
SIZES = {"toy (3 x 128, batch 32)": ((128, 128, 128), 1, 32), "wide (3 x 512, batch 128)": ((512, 512, 512), 100, 128)}


def plain_loop(hidden: tuple[int, ...], X: np.ndarray, y: np.ndarray, batch: int) -> Callable[[], None]:
    """A loop written by hand: nothing but what training needs."""
    student = Perceptron(X.shape[1], 1, hidden, chance=Chance(0))
    optimiser = torch.optim.Adam(student.parameters(), fused=True)
    inputs, targets = torch.from_numpy(X).float(), torch.from_numpy(y).float()
    batches, losses, step = Shuffled(len(X), batch, Chance(0)), [], 0

    def turn() -> None:
        nonlocal step
        for _ in range(STEPS):
            rows = torch.from_numpy(batches.rows(step))
            optimiser.zero_grad()
            loss = (student(inputs[rows]) - targets[rows]).square().mean()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
            step += 1

    return turn


def package_loop(
    hidden: tuple[int, ...], X: np.ndarray, y: np.ndarray, batch: int, weight: np.ndarray | None
) -> Callable[[], None]:
    """The package's own step, with or without a weight for each sample."""
    student = Perceptron(X.shape[1], 1, hidden, chance=Chance(0))
    plan = Training(steps=10**9, batch_size=batch)
    run = _Run(student, Lesson(X, y, weight), plan, squared_error, Shuffled(len(X), batch, Chance(0)), None)

    def turn() -> None:
        for _ in range(STEPS):
            run.take_step()

    return turn


def measure(hidden: tuple[int, ...], columns: int, batch: int, rounds: int) -> dict[str, float]:
    """Microseconds a step for each loop (median over turns) and the median of the ratios turn by turn."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, columns)), rng.normal(size=(2000, 1))
    loops = {
        "plain": plain_loop(hidden, X, y, batch),
        "unweighted": package_loop(hidden, X, y, batch, None),
        "weighted": package_loop(hidden, X, y, batch, rng.uniform(size=2000)),
    }
    seconds: dict[str, list[float]] = {name: [] for name in loops}
    for turn in range(rounds + 3):
        order = list(loops) if turn % 2 else list(loops)[::-1]  # nobody always goes first
        for name in order:
            started = time.perf_counter()
            loops[name]()
            if turn >= 3:  # the first turns warm up
                seconds[name].append(time.perf_counter() - started)
    result = {f"{name}_us": 1e6 * statistics.median(values) / STEPS for name, values in seconds.items()}
    for name in ("unweighted", "weighted"):
        ratios = [a / b for a, b in zip(seconds[name], seconds["plain"], strict=True)]
        result[f"{name}_over_plain"] = statistics.median(ratios)
    ratios = [a / b for a, b in zip(seconds["weighted"], seconds["unweighted"], strict=True)]
    return {**result, "weighted_over_unweighted": statistics.median(ratios)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100, help="turns measured for each loop")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    print(f"{'us/step':28}{'plain':>9}{'unweighted':>12}{'weighted':>10}{'weighted/plain':>17}{'/unweighted':>13}")
    for name, (hidden, columns, batch) in SIZES.items():
        row = {"name": name, **measure(hidden, columns, batch, options.rounds)}
        rows.append(row)
        times = f"{row['plain_us']:9.0f}{row['unweighted_us']:12.0f}{row['weighted_us']:10.0f}"
        print(f"{name:28}{times}{row['weighted_over_plain']:17.3f}{row['weighted_over_unweighted']:13.3f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
