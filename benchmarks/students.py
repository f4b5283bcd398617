"""What a student's training costs: the package's loop beside one that anyone would write in PyTorch.

    python -m benchmarks.students [--student text|ranker|all] [--json FILE] [--size full|small]

The same student from the same start on the same made-up samples, one thread: the convolutional student on tweets in
batches of 64, and the ranking student of the paper on pairs of documents of 150 to 250 words, 100,000 words with
vectors of 300 columns, in batches of 128. `plain` takes shuffled batches padded to the longest row of the whole set,
word vectors with dense gradients and one torch.optim.Adam; `fused` is the same with fused=True, which few know to ask
for; `fwl` is the package's step: tweets in batches of like length, trimmed, documents as bags of words, and sparse
gradients with RowAdam.

They take turns in one run, so that a busy machine slows all of them alike; after each turn, and outside its time, each
is asked about held-out samples. A row is written for each turn: losses after that many samples, samples a second so far
(medians over turns, of the process's own time), and how many times as fast as the others `fwl` was. The goal is 5 times
as fast as `plain` for tweets and 4 times for pairs, at the same loss after the same number of samples.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks import rank_student, text_student
from benchmarks.student_loops import Row, draw, promise


@dataclass(frozen=True)
class Contest:
    """One student's.

    Attributes:
        measure: the name of a size -> a row for each turn.
        goal: how many times as fast as the plain loop.
        suffix: of the name of the file that its rows go to.
    """

    measure: Callable[[str], list[Row]]
    goal: float
    suffix: str


CONTESTS = {
    "text": Contest(text_student.measure, text_student.GOAL, ""),
    "ranker": Contest(rank_student.measure, rank_student.GOAL, "-ranker"),
}


def run(contest: Contest, size_name: str, path: Path | None) -> None:
    """Measure, say whether the promise is kept, and keep the rows."""
    with torch.random.fork_rng(devices=[]):
        rows = contest.measure(size_name)
    if size_name == "full":
        text, kept = promise(rows, contest.goal)
        print(f"{'OK' if kept else 'MISSED'}: {text}")
    if path:
        own = path.with_stem(path.stem + contest.suffix)
        own.write_text(json.dumps(rows, indent=1) + "\n")
        draw(rows, own.with_suffix(".png"))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--student", choices=[*CONTESTS, "all"], default="all")
    parser.add_argument(
        "--json", type=Path, help="also write the rows here (the ranker's with -ranker in the name), and PNGs beside"
    )
    parser.add_argument("--size", choices=["full", "small"], default="full", help="small only shows that all runs")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    for name in CONTESTS if options.student == "all" else [options.student]:
        print(f"{name} student")
        run(CONTESTS[name], options.size, options.json)


if __name__ == "__main__":
    main()
