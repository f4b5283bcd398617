"""How FWL_auto's teacher should be fitted and chosen, on seeds that no table reports.

    python -m benchmarks.teacher_choice [--seeds N] [--json FILE]

For every way of fitting (lengthscale started at the whole or at half the median distance; with or without the prior on
hyper-parameters) and of choosing (with or without half a log n held against a fitted factor on the prior mean): the
RMSE and the mean negative log density of the chosen teacher against the true function.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

import numpy as np
import torch
from joblib import Parallel, delayed

from fwl.annotate.formula import Formula
from fwl.evaluate.measures import rmse
from fwl.experiments.toy import ToySettings, draw_problem, recipe_of, test_points
from fwl.learn.eyes import OneStudent
from fwl.learn.fitted import FittedTeacher, fit_teacher
from fwl.learn.pretrain import pretrain_until_it_generalises
from fwl.learn.recipe import Problem, Teaching
from fwl.learn.view import make_view
from fwl.randomness import Chance
from fwl.students.contract import Student
from fwl.teach.exact import ExactGP
from fwl.teach.selection import evidence_score, starting_kernel

FIRST_SEED = 5000
WEAK = ("2*sinc(x)", "sin(x) + 0.5*cos(x/2)")


def candidates(student: Student, problem: Problem, start: float, hyperparameters: str) -> list[FittedTeacher]:
    """Every input and prior mean, fitted from a lengthscale of `start` times the median distance."""
    everything, fitted = problem.all_samples, []
    for input_ in ("x", "psi", "both"):
        for mean in ("zero", "student"):
            view = make_view(OneStudent(student), everything, input_, standardise=True)
            kernel = starting_kernel(view(everything), problem.strong.y)
            kernel = kernel.with_parameters({"0.lengthscale": kernel.parameters()["0.lengthscale"] * start / 0.5})
            teaching = Teaching(
                lambda kernel=kernel: ExactGP(kernel, hyperparameters, shrink_mean=True), input_, True, mean
            )
            fitted.append(fit_teacher(OneStudent(student), problem.strong, everything, teaching, problem.task))
    return fitted


def measure(weak: str, seed: int) -> dict[str, tuple[float, float]]:
    """(RMSE, negative log density) of the chosen teacher, by way of fitting and choosing."""
    torch.set_num_threads(1)
    settings = ToySettings(weak=weak)
    problem, x = draw_problem(settings, seed), test_points(settings)
    truth = Formula(settings.true).annotate(x)
    student, _ = pretrain_until_it_generalises(problem, recipe_of(settings), Chance(seed))
    found = {}
    for start in (1.0, 0.5):
        for hyperparameters in ("evidence", "evidence_with_prior"):
            fitted = candidates(student, problem, start, hyperparameters)
            for penalised in (False, True):
                scores = [
                    evidence_score(c.teacher, len(problem.strong.X)) if penalised else c.teacher.log_evidence_
                    for c in fitted
                ]
                belief = fitted[int(np.argmax(scores))].posterior(x)
                density = 0.5 * np.log(2 * math.pi * belief.variance) + (truth - belief.mean) ** 2 / (
                    2 * belief.variance
                )
                name = f"start {start:g}, {hyperparameters}, {'penalised' if penalised else 'plain'} choice"
                found[name] = (rmse(truth, belief.mean), float(density.mean()))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    for weak in WEAK:
        seeds = range(FIRST_SEED, FIRST_SEED + options.seeds)
        found = Parallel(n_jobs=-1)(delayed(measure)(weak, seed) for seed in seeds)
        for name in found[0]:
            errors, densities = np.array([f[name] for f in found]).T
            row = {
                "weak": weak,
                "way": name,
                "rmse": errors.mean(),
                "nld": densities.mean(),
                "worst_nld": densities.max(),
            }
            rows.append(row)
            print(f"{weak:24}{name:58}{errors.mean():8.4f}{densities.mean():9.3f}{densities.max():9.2f}")
    if options.json:
        options.json.write_text(
            json.dumps({"seeds": options.seeds, "first_seed": FIRST_SEED, "rows": rows}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
