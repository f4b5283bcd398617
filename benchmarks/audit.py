"""Planted errors among weak labels: who finds them?

    python -m benchmarks.audit [--seeds N] [--jobs N] [--json FILE]

The 1,797 digits of scikit-learn: 100 have a strong label, the others a weak one, of which every fifth is drawn anew
among the nine wrong classes. Everybody sees the same pixels. A ranking of the weak labels, the most doubtful first, is
good if the planted errors come first.

    average_precision  of the ranking, mean over seeds; worst is that of the worst seed
    precision, recall  of the labels that are called wrong: a verdict other than `kept`; cleanlab's `find_label_issues`

Ours: the column `doubt` of `fwl soft-labels`, which is the teacher's disagreement times its fidelity; the disagreement
alone beside it; and both again where the annotator labelled the strong rows too. cleanlab ranks by
`get_label_quality_scores` what a logistic regression says of the rows: one that is trained on the weak labels and never
on those of the fold it judges, as cleanlab recommends; one trained on the strong labels; and one trained on both.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from joblib import Parallel, delayed
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold

from fwl.errors import TeacherWarning
from fwl.estimators.auditing import audit
from fwl.estimators.classifier import FWLClassifier
from fwl.randomness import Chance
from fwl.records import Array, WeakSet

STRONG = 100
WRONG = 0.2
CLASSES = 10
FOLDS = 5

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Planted:
    """Digits with planted errors.

    Attributes:
        strong: pixels of the strong rows, in [0, 1].
        y: their digits.
        y_weak: what the annotator would say of them.
        pool: pixels of the weak rows.
        says: their weak labels.
        wrong: which of those were planted.
    """

    strong: Array
    y: npt.NDArray[np.int64]
    y_weak: npt.NDArray[np.int64]
    pool: Array
    says: npt.NDArray[np.int64]
    wrong: Flags


@dataclass(frozen=True, eq=False)
class Found:
    """How doubtful each weak label is, [M], and which are called wrong, [M]."""

    doubt: Array
    called: Flags


def plant(seed: int) -> Planted:
    """The digits of one seed."""
    X, y = load_digits(return_X_y=True)
    rng = Chance(seed).child("planted errors").numpy()
    order = rng.permutation(len(X))
    wrong = rng.random(len(X)) < WRONG
    says = np.where(wrong, (y + rng.integers(1, CLASSES, len(X))) % CLASSES, y)
    strong, pool = order[:STRONG], order[STRONG:]
    return Planted(X[strong] / 16, y[strong], says[strong], X[pool] / 16, says[pool], wrong[pool])


def ours(planted: Planted, seed: int, annotated: bool, **settings: Any) -> dict[str, Found]:
    """By the teacher of the default estimator, or with other settings."""
    model = FWLClassifier(random_state=seed, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TeacherWarning)
        y_weak = planted.y_weak if annotated else None
        model.fit(planted.strong, planted.y, weak=WeakSet(planted.pool, planted.says), y_weak=y_weak)
    told = audit(model, planted.pool, planted.says)
    called = told.verdict != "kept"
    name = "fwl, strong rows annotated too" if annotated else "fwl"
    return {
        f"{name}: disagreement × fidelity": Found(told.doubt, called),
        f"{name}: disagreement alone": Found(told.doubt / told.fidelity, called),
    }


def cleanlabs(planted: Planted, seed: int) -> dict[str, Found]:
    """By cleanlab, with what three logistic regressions say."""
    nothing, no_label = planted.strong[:0], planted.y[:0]
    alone = _linear(planted.strong, planted.y).predict_proba(planted.pool)
    return {
        "cleanlab: weak labels, out of fold": _by_cleanlab(planted, _out_of_fold(planted, nothing, no_label, seed)),
        "cleanlab: strong labels": _by_cleanlab(planted, alone),
        "cleanlab: both": _by_cleanlab(planted, _out_of_fold(planted, planted.strong, planted.y, seed)),
    }


def measure(seed: int) -> dict[str, dict[str, float]]:
    """Every ranking's figures of one seed."""
    torch.set_num_threads(1)
    planted = plant(seed)
    found = {**ours(planted, seed, False), **ours(planted, seed, True), **cleanlabs(planted, seed)}
    return {name: figures(planted.wrong, each) for name, each in found.items()}


def figures(wrong: Flags, found: Found) -> dict[str, float]:
    """How good a ranking, and what is called wrong, are."""
    hits = float((wrong & found.called).sum())
    return {
        "average_precision": float(average_precision_score(wrong, found.doubt)),
        "precision": hits / max(1, int(found.called.sum())),
        "recall": hits / int(wrong.sum()),
    }


def summary(name: str, found: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Means over seeds, and the worst ranking."""
    mean = {key: float(np.mean([each[key] for each in found])) for key in found[0]}
    worst = min(each["average_precision"] for each in found)
    return {"ranking": name, "average_precision": mean.pop("average_precision"), "worst": worst, **mean}


def _by_cleanlab(planted: Planted, probabilities: Array) -> Found:
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    called = find_label_issues(planted.says, probabilities, n_jobs=1)
    return Found(1.0 - get_label_quality_scores(planted.says, probabilities), np.asarray(called))


def _out_of_fold(planted: Planted, beside: Array, labels: npt.NDArray[np.int64], seed: int) -> Array:
    """What a regression says of each weak row that was trained on the other folds, and on the rows beside."""
    said = np.empty((len(planted.pool), CLASSES))
    for seen, unseen in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(planted.pool, planted.says):
        X, y = np.concatenate([planted.pool[seen], beside]), np.concatenate([planted.says[seen], labels])
        said[unseen] = _linear(X, y).predict_proba(planted.pool[unseen])
    return said


def _linear(X: Array, y: npt.NDArray[np.int64]) -> LogisticRegression:
    return LogisticRegression(max_iter=2000).fit(X, y)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=-1, help="processes; -1 is one per core")
    parser.add_argument("--json", type=Path, help="also write the rows here")
    options = parser.parse_args(arguments)
    found = Parallel(n_jobs=options.jobs)(delayed(measure)(seed) for seed in range(options.seeds))
    rows = [summary(name, [each[name] for each in found]) for name in found[0]]
    print(f"{'ranking':55}" + "".join(f"{key:>19}" for key in list(rows[0])[1:]))
    for row in rows:
        print(f"{row['ranking']:55}" + "".join(f"{value:19.4f}" for value in list(row.values())[1:]))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
