"""Dawid and Skene's model, ours beside crowd-kit's: the same votes, side by side in one run.

    python -m benchmarks.votes [--json FILE]

Annotators err at random, each as often as it is drawn to, and abstain at random. Both start from the majority and stop
by their own rule; the ratio says how many times as long crowd-kit takes. How often both name the same class, and which
is right more often, is told beside it.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from crowdkit.aggregation import DawidSkene as Theirs

from fwl.annotate.votes import Ballots, ballots_from_matrix, fit_dawid_skene
from fwl.threads import one_thread

CROWDS = ((500, 5, 3), (20_000, 10, 4), (200_000, 10, 2))  # samples, annotators, classes
COVERAGE, ACCURACIES = 0.5, (0.5, 0.9)  # an annotator votes on so many, and is right as often as is drawn between these
REPEATS = 3

Matrix = npt.NDArray[Any]


def crowd(samples: int, annotators: int, classes: int, seed: int = 0) -> tuple[Matrix, Matrix]:
    """Votes [N, L], -1 for an abstention, and the truth [N]."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=samples)
    right = rng.random((samples, annotators)) < rng.uniform(*ACCURACIES, annotators)
    wrong = (truth[:, None] + rng.integers(1, classes, (samples, annotators))) % classes
    votes = np.where(right, truth[:, None], wrong)
    return np.where(rng.random(votes.shape) < COVERAGE, votes, -1), truth


def ours(ballots: Ballots) -> Matrix:
    return fit_dawid_skene(ballots).combine(ballots)


def theirs(ballots: Ballots) -> Matrix:
    frame = pd.DataFrame({"task": ballots.row, "worker": ballots.who, "label": ballots.choice})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # crowd-kit uses what pandas will drop
        found = Theirs().fit(frame).probas_
    said = np.full((ballots.samples, ballots.classes), np.nan)
    said[found.index] = found[list(range(ballots.classes))]
    return said


def measured(samples: int, annotators: int, classes: int) -> dict[str, Any]:
    """One crowd: the least seconds of each, and what they say."""
    votes, truth = crowd(samples, annotators, classes)
    ballots = ballots_from_matrix(votes, classes)
    heard = ballots.heard
    # By turns, so that a busy moment of the machine falls on both.
    times = [(_timed(ours, ballots), _timed(theirs, ballots)) for _ in range(REPEATS)]
    own, other = (said[heard].argmax(axis=1) for said in (times[0][0][1], times[0][1][1]))
    seconds = [min(time_of for time_of, _ in each) for each in zip(*times, strict=True)]
    return {
        "samples": samples,
        "annotators": annotators,
        "classes": classes,
        "votes": len(ballots.row),
        "seconds": seconds[0],
        "crowd-kit": seconds[1],
        "ratio": seconds[1] / seconds[0],
        "right": float((own == truth[heard]).mean()),
        "crowd-kit right": float((other == truth[heard]).mean()),
        "same class": float((own == other).mean()),
    }


def _timed(combine: Callable[[Ballots], Matrix], ballots: Ballots) -> tuple[float, Matrix]:
    start = time.perf_counter()
    said = combine(ballots)
    return time.perf_counter() - start, said


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the rows here")
    options = parser.parse_args(arguments)
    rows = []
    with one_thread():
        for size in CROWDS:
            rows.append(measured(*size))
            print({k: round(v, 4) if isinstance(v, float) else v for k, v in rows[-1].items()}, flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
