"""What a text student's training costs: the package's loop beside one that anyone would write in PyTorch.

    python -m benchmarks.students [--json FILE] [--size full|small]

The same convolutional student from the same start on the same made-up tweets, in batches of 64, one thread. `plain`
takes shuffled batches padded to the longest row of the whole set, word vectors with dense gradients and one
torch.optim.Adam; `fused` is the same with fused=True, which few know to ask for; `fwl` is the package's step: batches
of like length, trimmed, and sparse gradients with RowAdam. They take turns in one run, so that a busy machine slows all
of them alike; after each turn, and outside its time, each is asked about held-out tweets. A row is written for each
turn: losses after that many samples, samples a second so far (medians over turns), and how many times as fast as the
others `fwl` was. The goal is 5 times as fast as `plain` at the same loss after the same number of samples.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from fwl.randomness import Chance
from fwl.students import Lesson, TextCNN, Training, predict
from fwl.students.batches import LikeLengths, Shuffled
from fwl.students.losses import cross_entropy
from fwl.students.training import _Run

BATCH, CLASSES, LONGEST = 64, 3, 40
GOAL, SAME = 5.0, 1.02  # times as fast; losses count as the same up to what other dropout alone changes (two per cent)
FREQUENT = 2000  # words that occur often enough to mean something to a student
NEGATIONS = 10  # the most frequent words but padding and unknown: each turns the next word's meaning round


@dataclass(frozen=True)
class Size:
    """How large everything is: tweets, vocabulary and its vectors, filters, and how steps are divided into turns."""

    tweets: int
    held_out: int
    vocabulary: int
    columns: int
    filters: int
    turns: int
    steps: int


SIZES = {
    "full": Size(64_000, 4_000, 50_000, 100, 200, turns=20, steps=50),
    "small": Size(640, 100, 300, 8, 12, turns=4, steps=5),
}


@dataclass(frozen=True)
class Loop:
    """One way to train: a turn of steps, and the outputs for other samples."""

    turn: Callable[[], None]
    outputs: Callable[[np.ndarray], np.ndarray]


def draw_tweets(n: int, size: Size, chance: Chance) -> tuple[np.ndarray, np.ndarray]:
    """Word ids [n, LONGEST] and one-hot labels: 3 to 40 of Zipf's words, some with a meaning that others negate."""
    meaning = _meanings(size.vocabulary)
    rng = chance.numpy()
    lengths = np.clip(rng.gamma(3.0, 4.2, size=n).astype(int) + 3, 3, LONGEST)
    often = 1.0 / (np.arange(size.vocabulary - 2) + 2.7)
    words = 2 + rng.choice(size.vocabulary - 2, size=(n, LONGEST), p=often / often.sum())
    X = np.where(np.arange(LONGEST) < lengths[:, None], words, 0).astype(np.int32)
    negated = np.zeros(X.shape, dtype=bool)
    negated[:, 1:] = (X[:, :-1] >= 2) & (X[:, :-1] < 2 + NEGATIONS)
    score = np.where(negated, -meaning[X], meaning[X]).sum(axis=1) + 0.5 * rng.normal(size=n)
    return X, np.eye(CLASSES)[np.digitize(score, [-0.7, 0.7])]


def _meanings(vocabulary: int) -> np.ndarray:
    """How good each word is: a fifth of the frequent ones are good or bad, the others neither."""
    rng = Chance(0).child("meanings").numpy()
    meaning = rng.normal(size=vocabulary) * (rng.random(vocabulary) < 0.2)
    meaning[: 2 + NEGATIONS] = meaning[FREQUENT:] = 0.0
    return meaning


def new_student(size: Size) -> TextCNN:
    """The start of all."""
    return TextCNN(size.vocabulary, CLASSES, size.filters, columns=size.columns, chance=Chance(0).child("student"))


class PlainModel(nn.Module):
    """The same student by torch's own layers: rows of one length, and windows that reach into the padding silenced."""

    def __init__(self, start: TextCNN) -> None:
        super().__init__()
        convolution, m = start.convolutions[0], start.words.embedding_dim
        self.words = nn.Embedding(start.words.num_embeddings, m, padding_idx=0)
        self.convolution = nn.Conv1d(m, convolution.out_features, start.width)
        self.hidden = nn.Sequential(nn.Linear(convolution.out_features, 100), nn.ReLU(), nn.Dropout(0.2))
        self.output = nn.Linear(100, CLASSES)
        with torch.no_grad():
            self.words.weight.copy_(start.words.weight)
            self.convolution.weight.copy_(convolution.weight.unflatten(1, (start.width, m)).transpose(1, 2))
            self.convolution.bias.copy_(convolution.bias)
        self.hidden.load_state_dict(start.hidden.state_dict())
        self.output.load_state_dict(start.output.state_dict())

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Logits of word ids [N, L]."""
        answers = torch.relu(self.convolution(self.words(ids).transpose(1, 2)))
        outside = ids[:, self.convolution.kernel_size[0] - 1 :] == 0
        return self.output(self.hidden(answers.masked_fill(outside[:, None], 0.0).amax(dim=2)))


def plain_loop(start: TextCNN, X: np.ndarray, y: np.ndarray, steps: int, fused: bool | None = None) -> Loop:
    """A loop written by hand."""
    model = PlainModel(start)
    optimiser = torch.optim.Adam(model.parameters(), fused=fused)
    inputs, targets = torch.from_numpy(X[:, : (X != 0).sum(axis=1).max()]).long(), torch.from_numpy(y).float()
    batches, losses, step = Shuffled(len(X), BATCH, Chance(0).child("batches")), [], 0

    def turn() -> None:
        nonlocal step
        model.train()
        for _ in range(steps):
            rows = torch.from_numpy(batches.rows(step))
            optimiser.zero_grad()
            loss = functional.cross_entropy(model(inputs[rows]), targets[rows])
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
            step += 1

    def outputs(samples: np.ndarray) -> np.ndarray:
        model.eval()
        with torch.no_grad():
            return torch.cat([model(part) for part in torch.from_numpy(samples).split(500)]).double().numpy()

    return Loop(turn, outputs)


def package_loop(start: TextCNN, X: np.ndarray, y: np.ndarray, steps: int) -> Loop:
    """The package's own step, as `train` takes it."""
    batches = LikeLengths(start.lengths(X), BATCH, Chance(0).child("batches"))
    run = _Run(start, Lesson(X, y), Training(steps=10**9, batch_size=BATCH), cross_entropy, batches, None)

    def turn() -> None:
        start.train()
        for _ in range(steps):
            run.take_step()

    return Loop(turn, lambda samples: predict(start, samples))


def measure(size: Size) -> list[dict[str, Any]]:
    """A row for each turn."""
    X, y = draw_tweets(size.tweets, size, Chance(0).child("tweets"))
    fresh, fresh_y = draw_tweets(size.held_out, size, Chance(0).child("held-out tweets"))
    loops = {
        "plain": plain_loop(new_student(size), X, y, size.steps),
        "fused": plain_loop(new_student(size), X, y, size.steps, fused=True),
        "fwl": package_loop(new_student(size), X, y, size.steps),
    }
    seconds: dict[str, list[float]] = {name: [] for name in loops}
    rows = []
    for turn in range(size.turns):
        for name in list(loops) if turn % 2 else list(loops)[::-1]:  # nobody always goes first
            torch.manual_seed(Chance(0).child("dropout", turn).integer())  # whoever goes first
            started = time.perf_counter()
            loops[name].turn()
            seconds[name].append(time.perf_counter() - started)
        losses = {name: held_out_loss(loop.outputs(fresh), fresh_y) for name, loop in loops.items()}
        rows.append(as_row((turn + 1) * size.steps * BATCH, losses, seconds, size.steps * BATCH))
        show(rows)
    return rows


def held_out_loss(outputs: np.ndarray, y: np.ndarray) -> float:
    """The mean cross-entropy."""
    return float(cross_entropy(torch.from_numpy(outputs), torch.from_numpy(y)).mean())


def as_row(samples: int, losses: dict[str, float], seconds: dict[str, list[float]], per_turn: int) -> dict[str, Any]:
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


def promise(rows: Sequence[dict[str, Any]]) -> tuple[str, bool]:
    """What was promised, and whether the last row keeps it."""
    faster, loss, other = (rows[-1][key] for key in ("times_plain", "fwl_loss", "plain_loss"))
    text = (
        f"{faster:.1f}x as fast (at least {GOAL:.0f}x) at a held-out loss of {loss:.4f}, the plain loop's {other:.4f} "
        f"(at most {SAME:.2f} times that), after {rows[-1]['samples']:,} samples each"
    )
    return text, faster >= GOAL and loss <= SAME * other


def show(rows: Sequence[dict[str, Any]]) -> None:
    """The last row, below the names of its columns if it is the first."""
    if len(rows) == 1:
        print("".join(f"{name:>12}" for name in rows[0]))
    print("".join(f"{value:12,.0f}" if value >= 100 else f"{value:12.4f}" for value in rows[-1].values()))


def draw(rows: Sequence[dict[str, Any]], path: Path) -> None:
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


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the rows here, and the curves as a PNG beside it")
    parser.add_argument("--size", choices=SIZES, default="full", help="small only shows that everything runs")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    with torch.random.fork_rng(devices=[]):
        rows = measure(SIZES[options.size])
    text, kept = promise(rows)
    if options.size == "full":
        print(f"{'OK' if kept else 'MISSED'}: {text}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
        draw(rows, options.json.with_suffix(".png"))


if __name__ == "__main__":
    main()
