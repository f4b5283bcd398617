"""Does it pay to label the rows that `fwl suggest` names instead of any rows?

    python -m benchmarks.label_loop --data DIR [--sets youtube ...] [--draws 10] [--encoder DIR] [--json FILE]

DIR has `youtube/` and `chemprot/` in it, or for tweets `semeval/` and the file of SentiWordNet. Of each set 50 training
rows are drawn as strong; five times 20 rows more are labelled, either those that are suggested or any. After each round
the model is fitted anew and tested, on the test rows with their weak labels and without. The area under the curve of
accuracies is their mean over rounds; both ways start alike and are compared draw by draw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.stats import ttest_1samp

from benchmarks.draws import Row, parser_of, run_draws
from benchmarks.weak_sets import WeakTextSet
from fwl.estimators import FWLClassifier
from fwl.estimators.auditing import suggest_rows
from fwl.records import WeakSet

START, ROUNDS, MORE = 50, 5, 20
WAYS = ("suggested", "random")
READ, NOT_READ = "read", "not read"  # the weak labels of test rows
ROUNDING = 1e-9
Rows = npt.NDArray[np.int64]
Choice = Callable[[FWLClassifier, Rows], Rows]
Curves = dict[str, list[float]]  # accuracies, with weak labels read and not


def curves(data: WeakTextSet, start: Rows, choose: Choice, encoder: str | None, seed: int) -> Curves:
    """The accuracy on test rows before and after each round of labelling."""
    strong: Rows = start
    accuracies: Curves = {READ: [], NOT_READ: []}
    for _ in range(ROUNDS + 1):
        model = fitted(data, strong, encoder, seed)
        for reading, weak in ((READ, data.test.weak), (NOT_READ, None)):
            right = model.predict(data.test.samples, weak) == data.test.truth
            accuracies[reading].append(float(right.mean()))
        left = np.setdiff1d(np.arange(len(data.train)), strong)
        strong = np.concatenate([strong, choose(model, left)])
    return accuracies


def fitted(data: WeakTextSet, strong: Rows, encoder: str | None, seed: int) -> FWLClassifier:
    known, pool = data.train.at(strong), data.train.at(np.setdiff1d(np.arange(len(data.train)), strong))
    model = FWLClassifier(encoder=encoder, classes=sorted(set(data.train.truth)), random_state=seed)
    return model.fit(known.samples, known.truth, weak=WeakSet(pool.samples, pool.weak), y_weak=known.weak)


def compared(data: WeakTextSet, seed: int, encoder: str | None) -> Row:
    """Both ways from the same 50 rows."""
    rng = np.random.default_rng(seed)
    start = rng.permutation(len(data.train))[:START]

    def suggested(model: FWLClassifier, left: Rows) -> Rows:
        rows = data.train.at(left)
        return left[suggest_rows(model, rows.samples, MORE, weak=rows.weak).rows]

    def any_rows(_: FWLClassifier, left: Rows) -> Rows:
        return rng.permutation(left)[:MORE]

    ways = {"suggested": suggested, "random": any_rows}
    return {name: curves(data, start, way, encoder, seed) for name, way in ways.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser_of(__doc__).parse_args(arguments)
    run_draws(options, partial(compared, encoder=options.encoder), flat_rows, show)


def flat_rows(name: str, rows: Sequence[Row]) -> list[Row]:
    """A row for each way of labelling a set: accuracy by number of strong rows, the area, draws ahead, p."""
    return [row for reading in (READ, NOT_READ) for row in _flat(name, reading, rows)]


def _flat(name: str, reading: str, rows: Sequence[Row]) -> list[Row]:
    of_ways = {way: np.array([row[way][reading] for row in rows]) for way in WAYS}
    area = {way: each.mean(axis=1) for way, each in of_ways.items()}
    ahead = {"suggested": draws_ahead(area["suggested"] - area["random"]), "random": None}
    p = {"suggested": _paired_p(area["suggested"] - area["random"]), "random": None}
    return [
        {
            "set": name,
            "weak labels": reading,
            "rows": way,
            **{str(START + i * MORE): float(value) for i, value in enumerate(of_ways[way].mean(axis=0))},
            "area": float(area[way].mean()),
            "ahead in": ahead[way],
            "p": p[way],
        }
        for way in WAYS
    ]


def _paired_p(gain: npt.NDArray[np.float64]) -> float | None:
    """Of the paired two-tailed t-test; None where all draws gain alike, and a spread cannot be told."""
    return float(ttest_1samp(gain, 0.0).pvalue) if np.ptp(gain) > ROUNDING else None


def _pairs(rows: Sequence[Row]) -> list[tuple[Row, Row]]:
    return list(zip(rows[::2], rows[1::2], strict=True))


def draws_ahead(gain: npt.NDArray[np.float64]) -> int:
    """In how many draws there is a gain; what rounding leaves of a tie is none."""
    return int((gain > ROUNDING).sum())


def show(name: str, rows: Sequence[Row]) -> None:
    sizes = [str(START + i * MORE) for i in range(ROUNDS + 1)]
    for suggested, other in _pairs(flat_rows(name, rows)):
        for row in (suggested, other):
            points = " ".join(f"{row[size]:.4f}" for size in sizes if size in row)
            print(f"{name:10}{row['rows']:11}{points}  area {row['area']:.4f}, weak labels {row['weak labels']}")
        gain, p = suggested["area"] - other["area"], suggested["p"]
        ahead = f"{suggested['ahead in']} of {len(rows)} draws ahead"
        print(f"{name:10}gain {gain:+.4f}, {ahead}" + ("" if p is None else f", p = {p:.3g}"), flush=True)


if __name__ == "__main__":
    main()
