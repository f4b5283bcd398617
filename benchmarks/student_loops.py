"""Ways to train one student, side by side: a loop written by hand, the package's own, and the rows of their race.

They take turns in one run, so that a busy machine slows all of them alike. Seconds are the process's own, of its one
thread: what others do on the machine does not count.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from fwl.randomness import Chance
from fwl.students import Lesson, Student, Training, predict
from fwl.students.batches import Batches
from fwl.students.losses import Loss
from fwl.students.training import _Run

SAME = 1.02  # losses count as the same up to what other dropout alone changes (two per cent)
AT_ONCE = 128  # samples that a model written by hand is asked about together

Row = dict[str, Any]


@dataclass(frozen=True)
class Loop:
    """One way to train: a turn of steps, and the outputs for other samples."""

    turn: Callable[[], None]
    outputs: Callable[[np.ndarray], np.ndarray]


def loop_by_hand(
    model: nn.Module,
    lesson: Lesson,
    mean_loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    batches: Batches,
    steps: int,
    fused: bool | None = None,
) -> Loop:
    """What anyone would write: one Adam for all, a mean-reduced loss."""
    optimiser = torch.optim.Adam(model.parameters(), fused=fused)
    inputs, targets = torch.from_numpy(lesson.X).long(), torch.from_numpy(lesson.y).float()
    losses, step = [], 0

    def turn() -> None:
        nonlocal step
        model.train()
        for _ in range(steps):
            rows = torch.from_numpy(batches.rows(step))
            optimiser.zero_grad()
            loss = mean_loss(model(inputs[rows]), targets[rows])
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
            step += 1

    def outputs(samples: np.ndarray) -> np.ndarray:
        model.eval()
        with torch.no_grad():
            return torch.cat([model(part) for part in torch.from_numpy(samples).split(AT_ONCE)]).double().numpy()

    return Loop(turn, outputs)


def package_loop(student: Student, lesson: Lesson, loss: Loss, batches: Batches, batch_size: int, steps: int) -> Loop:
    """The package's own step, as `train` takes it."""
    run = _Run(student, lesson, Training(steps=10**9, batch_size=batch_size), loss, batches, None)

    def turn() -> None:
        student.train()
        for _ in range(steps):
            run.take_step()

    return Loop(turn, lambda samples: predict(student, samples))


def take_turns(loops: dict[str, Loop], turns: int, samples: int, held_out: Lesson, loss: Loss) -> list[Row]:
    """A row for each turn, of so many samples; between turns, and outside their time, all are asked what is held out.

    Turns begin with the same state of torch's generator, whoever goes first: dropout draws from it.
    """
    seconds: dict[str, list[float]] = {name: [] for name in loops}
    rows: list[Row] = []
    for turn in range(turns):
        for name in list(loops) if turn % 2 else list(loops)[::-1]:  # nobody always goes first
            torch.manual_seed(Chance(0).child("dropout", turn).integer())
            started = time.process_time()
            loops[name].turn()
            seconds[name].append(time.process_time() - started)
        losses = {name: held_out_loss(loop.outputs(held_out.X), held_out.y, loss) for name, loop in loops.items()}
        rows.append(as_row((turn + 1) * samples, losses, seconds, samples))
        show(rows)
    return rows


def held_out_loss(outputs: np.ndarray, y: np.ndarray, loss: Loss) -> float:
    """The mean."""
    return float(loss(torch.from_numpy(outputs), torch.from_numpy(y)).mean())


def as_row(samples: int, losses: dict[str, float], seconds: dict[str, list[float]], per_turn: int) -> Row:
    """Where all stand after so many samples; the first turn, which warms up, counts only while it is alone."""
    counted = {name: values[1:] or values for name, values in seconds.items()}

    def times(name: str) -> float:
        return statistics.median(a / b for a, b in zip(counted[name], counted["fwl"], strict=True))

    return {
        "samples": samples,
        **{f"{name}_loss": loss for name, loss in losses.items()},
        **{f"{name}_per_s": per_turn / statistics.median(values) for name, values in counted.items()},
        "times_plain": times("plain"),
        "times_fused": times("fused"),
    }


def promise(rows: Sequence[Row], goal: float) -> tuple[str, bool]:
    """What was promised, and whether the last row keeps it."""
    faster, loss, other = (rows[-1][key] for key in ("times_plain", "fwl_loss", "plain_loss"))
    text = (
        f"{faster:.1f}x as fast (at least {goal:.0f}x) at a held-out loss of {loss:.4f}, the plain loop's {other:.4f} "
        f"(at most {SAME:.2f} times that), after {rows[-1]['samples']:,} samples each"
    )
    return text, faster >= goal and loss <= SAME * other


def show(rows: Sequence[Row]) -> None:
    """The last row, below the names of its columns if it is the first."""
    if len(rows) == 1:
        print("".join(f"{name:>12}" for name in rows[0]))
    cells = (f"{value:12,.0f}" if value >= 100 else f"{value:12.4f}" for value in rows[-1].values())
    print("".join(cells), flush=True)


def draw(rows: Sequence[Row], path: Path) -> None:
    """The curves over samples and over seconds of training, if matplotlib is at hand."""
    try:
        from matplotlib.figure import Figure

        from fwl.report.figures import as_bytes
    except ImportError:
        print("no figure: matplotlib is missing")
        return
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    by_samples, by_seconds = figure.subplots(1, 2, sharey=True)
    samples = np.array([row["samples"] for row in rows])
    for name, colour in (("plain", "#c0392b"), ("fused", "#b03a9b"), ("fwl", "#1f5fa8")):
        losses = [row[f"{name}_loss"] for row in rows]
        by_samples.plot(samples, losses, color=colour, label=name)
        by_seconds.plot(samples / rows[-1][f"{name}_per_s"], losses, color=colour, label=name)
    by_samples.set_xlabel("samples seen")
    by_samples.set_ylabel("held-out loss")
    by_seconds.set_xlabel("seconds of training")
    for axis in (by_samples, by_seconds):
        axis.grid(alpha=0.2)
        axis.legend(fontsize=8)
    path.write_bytes(as_bytes(figure, "png"))
