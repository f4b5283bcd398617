"""Do 24 trials of the bandit find a student no worse than the best of 48 random ones?

    python -m benchmarks.tuning --out DIR --data DIR [--size reduced] [--repeats 5] [--fresh 3] [--set KEY=VALUE ...]
        [--json FILE]

Repeats differ in what the searches draw. All trials have one seed, so a point of the grid has one value: it is
computed once, kept in DIR/values, and looked up by whoever comes by again. A run that was stopped goes on where it was.
By default 5,000 weak tweets and 125 updates of 32 tweets in either step: there are up to 390 trainings.

The best of many trials is lucky too, and the more so the more there were. So what either search found is trained anew
with seeds that no trial had, and their mean is told beside the best trial's value.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from benchmarks.draws import write_rows
from fwl.experiments.catalogue import find_experiment
from fwl.experiments.declare import Experiment, Validate
from fwl.experiments.runner import plain_settings
from fwl.experiments.settings import change_settings
from fwl.experiments.tune import plan_tuning, run_tuning
from fwl.report.store import write_aside
from fwl.threads import one_thread

SMALLER = ["n_pool=5000", "batch_size=32", "pretrain_steps=125", "finetune_steps=125", "check_every=125"]
SEARCHED = ("bandit", "random")
Row = dict[str, Any]


@dataclass(frozen=True)
class Remembered:
    """What a validation gave for some settings, under one seed for all trials, kept in a file for each."""

    validate: Validate
    folder: Path
    seed: int

    def __call__(self, settings: Any, _: int) -> float:
        """The value of a trial."""
        return self.under(settings, self.seed)

    def under(self, settings: Any, seed: int) -> float:
        """The value under a seed, from its file where there is one."""
        alike = replace(settings, seed=seed)
        told = json.dumps(plain_settings(alike), sort_keys=True)
        path = self.folder / f"{hashlib.sha256(told.encode()).hexdigest()[:32]}.json"
        if not path.exists():
            found = {"value": self.validate(alike, seed), "settings": plain_settings(alike)}
            write_aside(path, json.dumps(found).encode())
        return float(json.loads(path.read_text())["value"])


def compared(experiment: Experiment, kept: Remembered, repeat: int, options: argparse.Namespace) -> Row:
    """The best of both searches, whose draws have a seed of their own in each repeat."""
    row: Row = {"repeat": repeat}
    for search, trials in zip(SEARCHED, (options.trials, options.random), strict=True):
        given = [*options.set, f"data={options.data or ''}", f"seed={repeat}"]
        plan = plan_tuning(experiment, size=options.size, trials=trials, q=options.q, search=search, assignments=given)
        tuned = run_tuning(plan, options.out / f"{search}-{repeat}", resume=True)
        row[search] = tuned.value
        row[f"{search} so far"] = best_so_far([trial.value for trial in tuned.trials])
        row[f"{search} found"] = tuned.settings
        row[f"{search} anew"] = trained_anew(kept, change_settings(plan.settings, tuned.settings), options)
    told = (f"{search} {row[search]:.4f} (anew {np.mean(row[f'{search} anew']):.4f})" for search in SEARCHED)
    print(f"repeat {repeat}: {', '.join(told)}", flush=True)
    return row


def trained_anew(kept: Remembered, settings: Any, options: argparse.Namespace) -> list[float]:
    """The values of the same settings under seeds that no trial had."""
    with one_thread():
        seeds = range(1 + kept.seed, 1 + kept.seed + options.fresh)
        return list(Parallel(options.q)(delayed(kept.under)(settings, seed) for seed in seeds))


def best_so_far(values: Sequence[float | None]) -> list[float]:
    heights = np.array([-np.inf if value is None else value for value in values])
    return [float(best) for best in np.maximum.accumulate(heights)]


def flat_row(row: Row) -> Row:
    """What a table has of a repeat: the best trial of either search, and what it reached when trained anew."""
    best = {f"{search}, best trial": row[search] for search in SEARCHED}
    return {
        "repeat": row["repeat"],
        **best,
        **{f"{s}, trained anew": float(np.mean(row[f"{s} anew"])) for s in SEARCHED},
    }


def show(rows: Sequence[Row]) -> None:
    for told, suffix in (("best trial", ""), ("trained anew", " anew")):
        gain = np.array([np.mean(row[f"bandit{suffix}"]) - np.mean(row[f"random{suffix}"]) for row in rows])
        kept = int((gain >= 0).sum())
        print(f"{told}: bandit - random: mean {gain.mean():+.4f}, no worse in {kept} of {len(gain)} repeats")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="journals and values are kept here")
    parser.add_argument("--data", type=Path, help="the folder of the data; made-up data at size tiny without it")
    parser.add_argument("--experiment", default="sentiment")
    parser.add_argument("--size", default="reduced")
    parser.add_argument("--set", nargs="*", default=SMALLER, metavar="KEY=VALUE")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--trials", type=int, default=24, help="of the bandit")
    parser.add_argument("--random", type=int, default=48, help="trials of the random search")
    parser.add_argument("--fresh", type=int, default=3, help="seeds under which what was found is trained anew")
    parser.add_argument("-q", type=int, default=2)
    parser.add_argument("--json", type=Path, help="also write the rows here, and all of every repeat beside")
    options = parser.parse_args(arguments)
    values = options.out / "values"
    values.mkdir(parents=True, exist_ok=True)
    declared = find_experiment(options.experiment)
    if declared.tuning is None:
        parser.error(f"{declared.name} declares nothing to tune")
    kept = Remembered(declared.tuning.validate, values, seed=0)
    experiment = replace(declared, tuning=replace(declared.tuning, validate=kept))
    rows = [compared(experiment, kept, repeat, options) for repeat in range(options.repeats)]
    show(rows)
    if options.json:
        write_rows(options.json, [flat_row(row) for row in rows], rows)


if __name__ == "__main__":
    main()
