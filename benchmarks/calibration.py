"""How far a teacher's class probabilities can be believed, on tasks whose true probabilities are known.

    python -m benchmarks.calibration [--seeds N] [--json FILE] [--jobs N]

For 1,000, 5,000 and 10,000 strong labels, against 10,000 fresh ones: expected calibration error (ECE; mean over seeds,
and the worst seed's) and negative log-likelihood of the paper's softmax of the posterior mean, of a softmax at one
temperature fitted to left-out labels, of `auto`'s calibrated labels, and of the true probabilities (no finite sample
measures even those as perfectly calibrated); and the macro-F1 of `auto`'s likeliest class as it is, and with class
shares corrected half way (to their root) and wholly (to equal ones). With 1,000 labels the teacher is one exact
Gaussian process, with more it is one for every 500. The goal is an ECE of at most 0.03. Seeds 5000 to 5199 chose the
link and its priors and are not reported here.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from joblib import Parallel, delayed
from scipy.optimize import minimize_scalar
from scipy.special import softmax
from sklearn.metrics import f1_score

from fwl.evaluate.calibration import accuracy, expected_calibration_error, negative_log_likelihood
from fwl.experiments.synthetic import GaussianClasses, SmoothClasses, SyntheticClasses
from fwl.randomness import Chance
from fwl.records import Array
from fwl.teach import ClusteredGP, ExactGP, Teacher
from fwl.teach.calibration import fit_calibration, with_class_prior
from fwl.teach.selection import starting_kernel

FIRST_SEED = 0
SIZES = (1000, 5000, 10_000)
FRESH = 10_000
PER_CLUSTER = 500
MEASURES = {"ECE": expected_calibration_error, "NLL": negative_log_likelihood}


def tasks(chance: Chance) -> dict[str, SyntheticClasses]:
    """Easy and hard, few and many columns and classes, balanced and not."""
    return {
        "smooth": SmoothClasses(chance=chance),
        "smooth, hard": SmoothClasses(sharpness=1.0, chance=chance),
        "smooth, easy": SmoothClasses(sharpness=8.0, chance=chance),
        "2 columns": SmoothClasses(columns=2, informative=2, lengthscale=0.7, chance=chance),
        "50 columns": SmoothClasses(columns=50, classes=4, chance=chance),
        "2 classes": SmoothClasses(classes=2, chance=chance),
        "6 classes": SmoothClasses(classes=6, informative=3, sharpness=4.0, chance=chance),
        "a class of 5 %": SmoothClasses(imbalance=15.0, chance=chance),
        "2 classes, one of 5 %": SmoothClasses(classes=2, imbalance=19.0, chance=chance),
        "clouds": GaussianClasses(chance=chance),
        "clouds, 2 columns": GaussianClasses(columns=2, chance=chance),
        "clouds, one of 5 %": GaussianClasses(imbalance=15.0, chance=chance),
    }


def measure(name: str, n: int, seed: int) -> dict[str, float]:
    """All figures of one task of one seed."""
    torch.set_num_threads(1)
    chance = Chance(seed)
    task = tasks(chance)[name]
    X, fresh = task.draw(n, chance.child("strong")), task.draw(FRESH, chance.child("fresh"))
    y, truth = task.label(X, chance.child("strong")), task.label(fresh, chance.child("fresh"))
    shares = (y.sum(axis=0) + 1) / (n + task.classes)
    teacher = new_teacher(X, y).fit(X, y - shares)
    left_out, mean = teacher.leave_one_out(), teacher.posterior(fresh).mean + shares
    left_out = replace(left_out, mean=left_out.mean + shares)
    auto = fit_calibration(left_out, y)(mean)
    labels = {
        "softmax": softmax(mean, axis=1),
        "temperature": softmax(mean / one_temperature(left_out.mean, y), axis=1),
        "auto": auto,
        "bayes": task.posterior(fresh),
    }
    found = {f"{m} {which}": f(truth, p) for m, f in MEASURES.items() for which, p in labels.items()}
    found["accuracy auto"] = accuracy(truth, auto)
    for which, power in (("auto", 1.0), ("root", 0.5), ("equal", 0.0)):
        target = shares**power / (shares**power).sum()
        decided = with_class_prior(auto, shares, target).argmax(axis=1)
        found[f"F1 {which}"] = float(f1_score(truth.argmax(axis=1), decided, average="macro"))
    return found


def one_temperature(mean: Array, y: Array) -> float:
    """The temperature at which the softmax of left-out means makes the labels most likely."""
    found = minimize_scalar(
        lambda log_t: negative_log_likelihood(y, softmax(mean / np.exp(log_t), axis=1)),
        bounds=(-6, 3),
        method="bounded",
    )
    return float(np.exp(found.x))


def new_teacher(X: Array, y: Array) -> Teacher:
    kernel = starting_kernel(X, y - y.mean(axis=0), classes=True)
    if len(X) <= SIZES[0]:
        return ExactGP(kernel, "evidence_with_prior", starts=1)
    return ClusteredGP(clusters=len(X) // PER_CLUSTER, kernel=kernel, hyperparameters="evidence_with_prior")


def summary(name: str, n: int, found: list[dict[str, float]]) -> dict[str, object]:
    """Means over seeds, and the worst ECE."""
    row: dict[str, object] = {"task": name, "strong labels": n}
    row |= {key: float(np.mean([f[key] for f in found])) for key in found[0]}
    return row | {"worst ECE auto": max(f["ECE auto"] for f in found)}


def total(n: int, rows: list[dict[str, object]]) -> dict[str, object]:
    """Means over tasks, and the worst ECE of all."""
    row: dict[str, object] = {"task": "all", "strong labels": n}
    for key in list(rows[0])[2:]:
        values = [float(str(row[key])) for row in rows]
        row[key] = max(values) if "worst" in key else float(np.mean(values))
    return row


def show(row: dict[str, object]) -> None:
    figures = "".join(f"{value:{max(7, len(key)) + 2}.4f}" for key, value in list(row.items())[2:])
    print(f"{row['task']:24}{row['strong labels']:7}{figures}", flush=True)


def show_header(row: dict[str, object]) -> None:
    print(f"{'task':24}{'labels':>7}" + "".join(f"{key:>{max(7, len(key)) + 2}}" for key in list(row)[2:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--jobs", type=int, default=-1, help="processes; -1 is one per core")
    options = parser.parse_args()
    seeds, rows = range(FIRST_SEED, FIRST_SEED + options.seeds), []
    for n in SIZES:
        for name in tasks(Chance(0)):
            found = Parallel(n_jobs=options.jobs)(delayed(measure)(name, n, seed) for seed in seeds)
            rows.append(summary(name, n, found))
            if len(rows) == 1:
                show_header(rows[0])
            show(rows[-1])
    for n in SIZES:
        rows.append(total(n, [row for row in rows if row["strong labels"] == n]))
        show(rows[-1])
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
