"""Teachers side by side: this package's clustered Gaussian process against other libraries', in one run.

    python -m benchmarks.teachers [--json FILE] [--rounds N] [--only NAME,...] [--size full|small]

The task is shaped like a student's representation: 10,000 strong samples of 300 columns (tanh of random projections of
a mixture of 50 Gaussians in 8 dimensions, a little noise, standardised), labels a smooth random function of the 8
dimensions plus noise of deviation 0.3; drawn from a seed. Everybody predicts mean and variance of 100,000 more.

Everybody gets one thread, the same clusters (each runs the same k-means from the same seed itself, within `fit_s`) and
the same start for three hyper-parameters (variance, one lengthscale, noise), which each fits by the marginal likelihood
or its bound as its library does. The others use what their documentation advises for fast prediction. Each runs in a
process of its own, in rounds that take turns, so that a busy machine slows all of them alike.

    fit_s          seconds to fit, k-means included: best round
    predict_per_s  samples a second, mean and variance, best of several predictions of the whole set in every round
    nll            mean negative log density of 5,000 fresh labels
    ece            of regression: mean distance of the coverage of central intervals from their level .1, .2, ... .9
                   (`interval_calibration_error`)
    peak_mb        the most memory held while fitting and predicting, above what was held with libraries and data loaded
    gemm_share     useful operations a second of the prediction, over what the machine does in 2048 x 2048 x 2048
                   products of single precision, measured in the same process right after each prediction (GPflow's
                   process has no torch: against the best that the others saw)

Useful operations for a sample in a cluster of n strong samples, with D columns, K clusters and C = 1 label column:

    2 D K + 2 n D + n^2 + 2 n C        routing, covariances, variance (a triangle: half of a product's 2 n^2), mean

For sparse processes n is the number of inducing points, and one process for all samples routes nothing.

GPflow takes part where its own environment is there (`make bench-gpflow` makes it).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fwl.evaluate.calibration import gaussian_nll, interval_calibration_error
from fwl.randomness import Chance
from fwl.records import Array
from fwl.teach.selection import starting_kernel

ROOT = Path(__file__).resolve().parent.parent
GPFLOW = ROOT / ".venv-gpflow" / "bin" / "python"
OWN, SCIKIT_LEARN = "fwl ClusteredGP", "scikit-learn GPR per cluster"
SPARSE = ("GPyTorch SGPR per cluster", "GPyTorch SVGP per cluster")
PEERS = {
    OWN: "own:Clustered",
    SCIKIT_LEARN: "scikit_learn:PerCluster",
    "GPyTorch exact per cluster": "gpytorch_rows:ExactPerCluster",
    "GPyTorch SGPR per cluster": "gpytorch_rows:SGPRPerCluster",
    "GPyTorch SVGP per cluster": "gpytorch_rows:SVGPPerCluster",
    "GPyTorch SVGP whole": "gpytorch_rows:SVGPWhole",
    "GPflow GPR per cluster": "gpflow_rows:PerCluster",
}
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
LATENT, WAVES, NOISE = 8, 200, 0.3


@dataclass(frozen=True)
class Size:
    """How large the task is.

    Attributes:
        strong: strong samples.
        columns: of every sample.
        clusters: as drawn, and as looked for.
        fresh: samples to predict.
        labelled: those of them whose labels are held against the predictions.
        inducing: points of a sparse process in each cluster.
        inducing_whole: points of the sparse process over all samples.
        steps: of Adam for an exact process; the sparse ones take more (see `peers.gpytorch_rows`).
        side: of the matrices that tell how fast the machine is.
    """

    strong: int
    columns: int
    clusters: int
    fresh: int
    labelled: int
    inducing: int
    inducing_whole: int
    steps: int
    side: int


SIZES = {
    "full": Size(10_000, 300, 50, 100_000, 5000, 32, 512, 50, 2048),
    "small": Size(600, 20, 4, 2000, 1000, 8, 32, 5, 256),
}


@dataclass(frozen=True, eq=False)
class Task:
    """Samples and labels.

    Attributes:
        Z: strong samples, [N, D], in double precision.
        y: their labels, [N].
        fresh: samples to predict, [M, D], in single precision.
        fresh_y: labels of the first of them.
    """

    Z: Array
    y: Array
    fresh: np.ndarray
    fresh_y: Array


def draw_task(size: Size, chance: Chance) -> Task:
    """The task described above."""
    rng = chance.numpy()
    centres = rng.normal(size=(size.clusters, LATENT))
    projection, shift = rng.normal(size=(LATENT, size.columns)) / np.sqrt(LATENT), 0.5 * rng.normal(size=size.columns)
    wave, phase = 0.5 * rng.normal(size=(LATENT, WAVES)), rng.uniform(0.0, 2 * np.pi, WAVES)
    height = rng.normal(size=WAVES) * np.sqrt(2.0 / WAVES)
    N = size.strong
    u = centres[rng.integers(size.clusters, size=N + size.fresh)] + 0.5 * rng.normal(size=(N + size.fresh, LATENT))
    Z = (np.tanh(u @ projection + shift) + 0.05 * rng.normal(size=(len(u), size.columns))).astype(np.float32)
    Z = (Z - Z[:N].mean(axis=0)) / Z[:N].std(axis=0)
    seen = u[: N + size.labelled]
    y = np.cos(seen @ wave + phase) @ height + NOISE * rng.normal(size=len(seen))
    y -= y[:N].mean()
    return Task(Z[:N].astype(np.float64), y[:N], Z[N:], y[N:])


def leave_lesson(task: Task, size: Size, folder: Path) -> None:
    """Write what every child reads."""
    for name in ("Z", "y", "fresh"):
        np.save(folder / f"{name}.npy", getattr(task, name))
    start = starting_kernel(task.Z, task.y).parameters()
    lesson = {
        "clusters": size.clusters,
        "seed": Chance(0).child("k-means").integer(),  # what ClusteredGP(random_state=0) draws
        "lengthscale": start["0.lengthscale"],
        "variance": start["0.variance"],
        "noise": start["1.constant"],
        **{name: getattr(size, name) for name in ("inducing", "inducing_whole", "steps")},
    }
    settings = {"lesson": lesson, "labelled": size.labelled, "side": size.side}
    (folder / "settings.json").write_text(json.dumps(settings))


def ask(name: str, folder: Path) -> dict[str, Any]:
    """Run one peer in a process of its own."""
    python = str(GPFLOW) if name.startswith("GPflow") else sys.executable
    done = subprocess.run(
        [python, "-m", "benchmarks.peers.child", PEERS[name], str(folder)],
        cwd=ROOT,
        env={**os.environ, **dict.fromkeys(THREADS, "1")},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{name} failed:\n{done.stderr}")
    with np.load(folder / "answer.npz", allow_pickle=False) as answer:
        return {key: answer[key] for key in answer.files}


def as_row(name: str, rounds: Sequence[dict[str, Any]], y: Array, machine_per_s: float) -> dict[str, Any]:
    """The best of all rounds; the belief is the same in each."""
    best = {
        key: float(max(answer[key] for answer in rounds)) for key in ("predict_per_s", "useful_per_s", "gemm_per_s")
    }
    if np.isnan(best["gemm_per_s"]):
        best["gemm_per_s"] = machine_per_s
    belief = rounds[0]["mean"][:, None], rounds[0]["variance"][:, None]
    return {
        "name": name,
        "fit_s": float(min(answer["fit_s"] for answer in rounds)),
        "predict_per_s": best["predict_per_s"],
        "nll": gaussian_nll(y[:, None], *belief),
        "ece": interval_calibration_error(y[:, None], *belief),
        "peak_mb": float(min(answer["peak_mb"] for answer in rounds)),
        "gemm_share": best["useful_per_s"] / best["gemm_per_s"],
    }


def measure(names: Sequence[str], size: Size, rounds: int) -> list[dict[str, Any]]:
    """A row for each peer."""
    task = draw_task(size, Chance(0).child("teachers"))
    answers: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        leave_lesson(task, size, folder)
        for turn in range(rounds):
            for name in names if turn % 2 else list(names)[::-1]:  # nobody always goes first
                print(f"round {turn + 1} of {rounds}: {name}", file=sys.stderr)
                answers[name].append(ask(name, folder))
    rates = [float(answer["gemm_per_s"]) for several in answers.values() for answer in several]
    machine = max((rate for rate in rates if not np.isnan(rate)), default=np.nan)
    return [as_row(name, answers[name], task.fresh_y, machine) for name in names]


def promises(rows: Sequence[dict[str, Any]]) -> list[tuple[str, bool]]:
    """What was promised and whether these rows keep it, as far as the rows that it takes are there."""
    row = {row["name"]: row for row in rows}
    if OWN not in row:
        return []
    own, kept = row[OWN], []
    if SCIKIT_LEARN in row:
        faster = row[SCIKIT_LEARN]["fit_s"] / own["fit_s"]
        kept.append((f"fits {faster:.2f}x as fast as scikit-learn (at least 1.5x)", faster >= 1.5))
        faster = own["predict_per_s"] / row[SCIKIT_LEARN]["predict_per_s"]
        kept.append((f"predicts {faster:.2f}x as fast as scikit-learn (at least 6x)", faster >= 6.0))
    if sparse := [row[name] for name in SPARSE if name in row]:
        fastest = max(sparse, key=lambda other: other["predict_per_s"])
        faster = own["predict_per_s"] / fastest["predict_per_s"]
        kept.append((f"predicts {faster:.2f}x as fast as {fastest['name']} (at least 1.5x)", faster >= 1.5))
    if others := [other for other in rows if other is not own]:
        best = min(others, key=lambda other: other["nll"])
        text = f"NLL {own['nll']:.4f}, the best of the others {best['nll']:.4f} ({best['name']}) (no worse than any)"
        kept.append((text, own["nll"] <= best["nll"]))
    kept.append((f"gemm_share {own['gemm_share']:.2f} (at least 0.5)", own["gemm_share"] >= 0.5))
    return kept


def show(rows: Sequence[dict[str, Any]], *, with_promises: bool) -> None:
    """The table, and what it says about the promises."""
    print(f"{'':30}{'fit_s':>8}{'predict_per_s':>15}{'nll':>9}{'ece':>8}{'peak_mb':>9}{'gemm_share':>12}")
    for row in rows:
        speed = f"{row['fit_s']:8.1f}{row['predict_per_s']:15,.0f}"
        print(
            f"{row['name']:30}{speed}{row['nll']:9.4f}{row['ece']:8.4f}{row['peak_mb']:9.0f}{row['gemm_share']:12.2f}"
        )
    print("ece: how far the coverage of central intervals is from their level, on average.")
    for text, kept in promises(rows) if with_promises else ():
        print(f"{'OK' if kept else 'MISSED':8}{text}")


def chosen(only: str | None) -> list[str]:
    """The names that hold one of the given words; all that can run here, by default."""
    words = [word.strip().lower() for word in only.split(",")] if only else [""]
    names = [name for name in PEERS if any(word in name.lower() for word in words)]
    names = [name for name in names if GPFLOW.exists() or not name.startswith("GPflow")]
    if not names:
        sys.exit(f"no row of that name can run here; there are {', '.join(PEERS)}")
    return names


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="also write the rows here")
    parser.add_argument("--rounds", type=int, default=2, help="times that each is fitted")
    parser.add_argument("--only", help="rows whose name holds one of these words, separated by commas")
    parser.add_argument("--size", choices=SIZES, default="full", help="small only shows that everything runs")
    options = parser.parse_args(arguments)
    rows = measure(chosen(options.only), SIZES[options.size], options.rounds)
    show(rows, with_promises=options.size == "full")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
