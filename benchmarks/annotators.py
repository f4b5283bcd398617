"""What the sentiment annotators are worth and how fast they are.

    python -m benchmarks.annotators --data DIR [--pool N] [--json FILE]

DIR is the folder with `sentiment/` in it: SemEval's tweets under `semeval/`, the pool `tweets.tsv.gz` and
`SentiWordNet_3.0.0.tsv`. F1 is SemEval's own: the mean of F1(positive) and F1(negative) of the most probable class.
Seconds are of one core (the process's own time, so that a busy machine does not count) for the whole pool.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fwl.annotate import Annotator, SentiWordNet, Vader
from fwl.text import LabelledTexts, read_labelled, read_pool, tokenise_all

SETS = ("2013train", "2013dev", "2013test", "2014test", "2015test")


def semeval_f1(classes: np.ndarray, said: np.ndarray) -> float:
    """The mean of F1(negative) and F1(positive); a class that nobody has or names counts 0."""
    both = [((classes == c) & (said == c)).sum() for c in (0, 2)]
    either = [(classes == c).sum() + (said == c).sum() for c in (0, 2)]
    return float(np.mean([2 * hits / max(1, total) for hits, total in zip(both, either, strict=True)]))


def speed(run: Callable[[Sequence[str]], Any], texts: Sequence[str]) -> dict[str, float]:
    started = time.process_time()
    run(texts)
    seconds = time.process_time() - started
    return {"pool_s": seconds, "tweets_per_s": len(texts) / seconds}


def row_of(name: str, annotator: Annotator, sets: dict[str, LabelledTexts], pool: Sequence[str]) -> dict[str, Any]:
    f1 = {year: semeval_f1(s.classes, annotator.annotate(s.texts).argmax(axis=1)) for year, s in sets.items()}
    return {"name": name, **f1, **speed(annotator.annotate, pool)}


def measure(folder: Path, most: int | None) -> list[dict[str, Any]]:
    lexicon = folder / "SentiWordNet_3.0.0.tsv"
    annotators = {
        "SentiWordNet": SentiWordNet.read(lexicon),
        "SentiWordNet, plain average": SentiWordNet.read(lexicon, plain=True),
        "VADER": Vader(),
    }
    sets = {year: read_labelled(folder / "semeval" / f"{year}.tsv") for year in SETS}
    pool = read_pool(folder / "tweets.tsv.gz").texts[:most]
    rows = [row_of(name, annotator, sets, pool) for name, annotator in annotators.items()]
    return [*rows, {"name": "tokeniser alone", **dict.fromkeys(SETS), **speed(tokenise_all, pool)}]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that has sentiment/ in it")
    parser.add_argument("--pool", type=int, help="take so many tweets of the pool only")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    options = parser.parse_args(arguments)
    rows = measure(options.data / "sentiment", options.pool)
    print(f"{'F1':30}" + "".join(f"{year:>11}" for year in SETS) + f"{'pool, s':>10}{'tweets/s':>10}")
    for row in rows:
        scores = "".join(f"{'' if row[year] is None else format(row[year], '.3f'):>11}" for year in SETS)
        print(f"{row['name']:30}{scores}{row['pool_s']:10.1f}{row['tweets_per_s']:10.0f}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
