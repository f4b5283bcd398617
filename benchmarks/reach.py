"""Does FWL lead up to as many strong labels as a comparison says?

    python -m benchmarks.reach --data DIR [--sets youtube ...] [--draws 10] [--encoder DIR] [--json FILE]

DIR and draws are those of `benchmarks.verdicts`. In each draw a user has so many strong rows and compares the methods
of the learning curve on them; then these methods learn from more and more of the training rows' own labels, from fewer
than the user has to several times as many, and are tested. What is true is the mean over the draws of how far FWL is
ahead of the best of the others on the test rows, at each number of labels. A comparison guesses of each number whether
FWL leads there by half a point or more, and of some says that it is probably ahead, or behind; it is counted how often
either is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from benchmarks.draws import Row, parser_of, run_draws
from benchmarks.weak_sets import WeakTextSet
from fwl.estimators import FWLClassifier
from fwl.estimators.comparing import compare_on
from fwl.estimators.gathering import gather_classes
from fwl.learn.compare_methods import ON_THE_CURVE
from fwl.learn.fold_work import AUTO_READING, Work
from fwl.learn.own_data import first_step
from fwl.learn.reach import FALLS, WORTH
from fwl.learn.task import both_columns
from fwl.randomness import chance_from
from fwl.records import WeakSet

FEWER, DOUBLINGS = 5, 6  # from a fifth of the user's strong rows, doubled so many times less one
COUNTED = ("guessed right", "said to lead", "said not to", "rightly")


def measured(data: WeakTextSet, seed: int, encoder: str | None) -> Row:
    """What a user with so many strong rows is told, and what is true with fewer and with more of them."""
    drawn = data.drawn(seed)
    strong, weak = drawn.strong, drawn.weak
    model = FWLClassifier(encoder=encoder, classes=drawn.classes, random_state=seed)
    given = {"weak": WeakSet(weak.samples, weak.weak), "y_weak": strong.weak}
    verdict = compare_on(model, strong.samples, strong.truth, **given, methods=ON_THE_CURVE).verdict
    assert verdict.reach is not None
    return {"told": asdict(verdict.reach), "on_test": tested(data, seed, model)}


def tested(data: WeakTextSet, seed: int, model: FWLClassifier) -> Row:
    """Each method's accuracy on the test rows by number of strong labels; step 1 sees none of them."""
    sizes = [data.strong // FEWER * 2**i for i in range(DOUBLINGS)]
    drawn = data.drawn(seed, sizes[-1])
    strong, weak, chance = drawn.strong, drawn.weak, chance_from(seed)
    pool = WeakSet(weak.samples, weak.weak)
    gathered = gather_classes(model, strong.samples, strong.truth, pool, strong.weak, chance)
    recipe, labels, n = model.recipe_for(gathered), gathered.labels, len(strong)
    first = first_step(gathered.data, recipe, chance)
    test = gathered.inputs.of(data.test.samples)
    everything = replace(
        gathered.data,
        strong=np.concatenate([gathered.data.strong, test]),
        y=np.concatenate([gathered.data.y, labels.strong(data.test.truth)]),
        strong_weak=np.concatenate([gathered.data.strong_weak, labels.weak(data.test.weak, len(test))]),
    )
    work, places = Work(everything, recipe, chance, first), np.arange(n, n + len(test))
    truth = both_columns(everything.y[places]).argmax(axis=1)

    def accuracies(size: int) -> dict[str, float]:
        said = work.on(ON_THE_CURVE, (np.arange(size), places)).predicted
        return {name: float((both_columns(said[name]).argmax(axis=1) == truth).mean()) for name in said}

    return {str(size): accuracies(size) for size in sizes}


def guessed_to_lead(reach: Mapping[str, Any], labels: int) -> bool:
    """Whether a comparison believes that FWL's lead is worth having with so many labels."""
    return _within(reach["believed"], labels)


def said_to_lead(reach: Mapping[str, Any], labels: int) -> bool | None:
    """What a comparison says to be probable of so many labels; None where it says nothing."""
    if _within(reach["probably"], labels):
        return True
    behind = reach["probably_behind_from"]
    return False if behind is not None and labels >= behind else None


def _within(span: Sequence[int | None] | None, labels: int) -> bool:
    """Whether a range has so many labels in it; its end may be out of sight."""
    return span is not None and span[0] <= labels and (span[1] is None or labels <= span[1])


def flat_rows(name: str, rows: Sequence[Row]) -> list[Row]:
    """A row for each number of strong labels: what is true there, and how often comparisons said so."""
    return [_at(name, size, rows) for size in rows[0]["on_test"]]


def _at(name: str, size: str, rows: Sequence[Row]) -> Row:
    accuracy = {
        method: float(np.mean([row["on_test"][size][method] for row in rows])) for method in (AUTO_READING, *FALLS)
    }
    best = max(FALLS, key=lambda method: accuracy[method])
    lead = accuracy[AUTO_READING] - accuracy[best]
    guessed = [guessed_to_lead(row["told"], int(size)) for row in rows]
    said = [said_to_lead(row["told"], int(size)) for row in rows]
    counts = (guessed.count(lead >= WORTH), said.count(True), said.count(False), said.count(lead > 0))
    return {
        "set": name,
        "strong labels": int(size),
        AUTO_READING: accuracy[AUTO_READING],
        "best other": best,
        "its accuracy": accuracy[best],
        **dict(zip(COUNTED, counts, strict=True)),
        "draws": len(rows),
    }


def show(name: str, rows: Sequence[Row]) -> None:
    for row in flat_rows(name, rows):
        lead = 100 * (row[AUTO_READING] - row["its accuracy"])
        counts = ", ".join(f"{count} {row[count]}" for count in COUNTED)
        print(f"{name} {row['strong labels']:6,} labels: {lead:+.1f} points over {row['best other']}; {counts}")
    for row in rows:
        told = row["told"]
        ranges = ", ".join(f"{key} {told[key]}" for key in ("believed", "probably", "probably_behind_from"))
        print(f"  draw {row['draw']}: {ranges}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser_of(__doc__).parse_args(arguments)
    run_draws(options, partial(measured, encoder=options.encoder), flat_rows, show)


if __name__ == "__main__":
    main()
