"""Does it pay to label the rows that `fwl suggest` names instead of any rows?

    python -m benchmarks.label_loop --data DIR [--sets youtube ...] [--draws 10] [--encoder DIR] [--json FILE]

DIR has `youtube/` and `chemprot/` in it, or for tweets `semeval/` and the file of SentiWordNet. Of each set 50 training
rows are drawn as strong; five times 20 rows more are labelled, either those that are suggested or any. After each round
the model is fitted anew and tested. The area under the curve of accuracies is their mean over rounds; both ways start
alike and are compared draw by draw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.stats import ttest_rel

from benchmarks.draws import Row, parser_of, run_draws
from benchmarks.weak_sets import WeakTextSet
from fwl.estimators import FWLClassifier
from fwl.estimators.auditing import suggest_rows
from fwl.records import WeakSet

START, ROUNDS, MORE = 50, 5, 20
WAYS = ("suggested", "random")
ROUNDING = 1e-9
Rows = npt.NDArray[np.int64]
Choice = Callable[[FWLClassifier, Rows], Rows]


def curve(data: WeakTextSet, start: Rows, choose: Choice, encoder: str | None, seed: int) -> list[float]:
    """The accuracy on test rows before and after each round of labelling."""
    strong, accuracies = start, []
    for _ in range(ROUNDS + 1):
        model = fitted(data, strong, encoder, seed)
        right = model.predict(list(data.test.texts), data.test.weak) == data.test.truth
        accuracies.append(float(right.mean()))
        left = np.setdiff1d(np.arange(len(data.train.texts)), strong)
        strong = np.concatenate([strong, choose(model, left)])
    return accuracies


def fitted(data: WeakTextSet, strong: Rows, encoder: str | None, seed: int) -> FWLClassifier:
    known, pool = data.train.at(strong), data.train.at(np.setdiff1d(np.arange(len(data.train.texts)), strong))
    model = FWLClassifier(encoder=encoder, classes=sorted(set(data.train.truth)), random_state=seed)
    return model.fit(list(known.texts), known.truth, weak=WeakSet(list(pool.texts), pool.weak), y_weak=known.weak)


def compared(data: WeakTextSet, seed: int, encoder: str | None) -> Row:
    """Both ways from the same 50 rows."""
    rng = np.random.default_rng(seed)
    start = rng.permutation(len(data.train.texts))[:START]

    def suggested(model: FWLClassifier, left: Rows) -> Rows:
        rows = data.train.at(left)
        return left[suggest_rows(model, list(rows.texts), MORE, weak=rows.weak).rows]

    def any_rows(_: FWLClassifier, left: Rows) -> Rows:
        return rng.permutation(left)[:MORE]

    ways = {"suggested": suggested, "random": any_rows}
    return {name: curve(data, start, way, encoder, seed) for name, way in ways.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser_of(__doc__).parse_args(arguments)
    run_draws(options, partial(compared, encoder=options.encoder), flat_rows, show)


def flat_rows(name: str, rows: Sequence[Row]) -> list[Row]:
    """A row for each way of labelling a set: accuracy by number of strong rows, the area, draws ahead, p."""
    curves = {way: np.array([row[way] for row in rows]) for way in WAYS}
    area = {way: each.mean(axis=1) for way, each in curves.items()}
    ahead = {"suggested": draws_ahead(area["suggested"] - area["random"]), "random": None}
    p = {"suggested": float(ttest_rel(*area.values()).pvalue), "random": None}
    return [
        {
            "set": name,
            "rows": way,
            **{str(START + i * MORE): float(value) for i, value in enumerate(curves[way].mean(axis=0))},
            "area": float(area[way].mean()),
            "ahead in": ahead[way],
            "p": p[way],
        }
        for way in WAYS
    ]


def draws_ahead(gain: npt.NDArray[np.float64]) -> int:
    """In how many draws there is a gain; what rounding leaves of a tie is none."""
    return int((gain > ROUNDING).sum())


def show(name: str, rows: Sequence[Row]) -> None:
    curves = {way: np.array([row[way] for row in rows]) for way in WAYS}
    for way, each in curves.items():
        print(
            f"{name:10}{way:11}" + " ".join(f"{value:.4f}" for value in each.mean(axis=0)) + f"  area {each.mean():.4f}"
        )
    gain = (curves["suggested"] - curves["random"]).mean(axis=1)
    p = ttest_rel(curves["suggested"].mean(axis=1), curves["random"].mean(axis=1)).pvalue if len(rows) > 1 else np.nan
    print(f"{name:10}gain {gain.mean():+.4f}, {draws_ahead(gain)} of {len(gain)} draws ahead, p = {p:.3g}", flush=True)


if __name__ == "__main__":
    main()
