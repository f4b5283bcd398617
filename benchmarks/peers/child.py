"""One peer in this process: fitted once, asked several times, and measured.

    python -m benchmarks.peers.child MODULE:CLASS FOLDER

`benchmarks.teachers` leaves the lesson in the folder and finds the answer there; arrays only, nothing is unpickled.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.peers.common import Array, Lesson, Peer, Work

LEAST, MOST, ENOUGH_S = 3, 8, 20.0  # predictions of the whole set: at least, at most, and when to stop between
TINY = 60  # strong samples of the lesson that warms up
PRODUCTS = 4  # after every prediction: how fast the machine was at that moment


def useful_operations(work: Work, columns: int) -> float:
    """Floating point operations that the mean and variance of all those samples cannot do without (see `teachers`)."""
    centroids, n = work
    return float((2.0 * columns * centroids + 2.0 * n * columns + n.astype(float) ** 2 + 2.0 * n).sum())


def peak_mb() -> float:
    """The most memory this process has held so far."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    # Not `ru_maxrss`: on Linux a child starts with what its parent held when it was started.
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def forget_peak() -> None:
    """Start anew from what is held now, where the system allows it: loading libraries had its own peak."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def new_product(side: int) -> Callable[[], float]:
    """Multiplies two single precision matrices and says how many operations a second that was.

    By torch where the peer uses it. Without it numpy's time is spent all the same, but what it reaches says little
    about the machine: its library may be an old one.
    """
    torch = sys.modules.get("torch")
    a, b = np.random.default_rng(0).standard_normal((2, side, side), dtype=np.float32)
    if torch is not None:
        a, b = torch.from_numpy(a), torch.from_numpy(b)
    out = a @ b
    multiply = np.matmul if torch is None else torch.matmul

    def product() -> float:
        started = time.perf_counter()
        multiply(a, b, out=out)
        return 2.0 * side**3 / (time.perf_counter() - started)

    return product


def measure(peer: Peer, lesson: Lesson, fresh: Array, labelled: int, side: int) -> dict[str, float | Array]:
    """Seconds to fit, samples a second, operations a second, and the belief about the first `labelled` samples."""
    product = new_product(side)
    forget_peak()
    before = peak_mb()
    started = time.perf_counter()
    peer.fit(lesson)
    fit_s = time.perf_counter() - started
    seconds, products = [], []
    while len(seconds) < LEAST or (len(seconds) < MOST and sum(seconds) < ENOUGH_S):
        started = time.perf_counter()
        mean, variance = peer.predict(fresh)
        seconds.append(time.perf_counter() - started)
        products += [product() for _ in range(PRODUCTS)]
    peak = peak_mb() - before
    operations = useful_operations(peer.work(fresh), fresh.shape[1])
    return {
        "fit_s": fit_s,
        "predict_per_s": len(fresh) / min(seconds),
        "useful_per_s": operations / min(seconds),
        "gemm_per_s": max(products) if "torch" in sys.modules else np.nan,
        "peak_mb": peak,
        "mean": mean[:labelled],
        "variance": variance[:labelled],
    }


def warm_up(peer: Peer, lesson: Lesson) -> None:
    """A tiny lesson first: what libraries load on their first use is neither fitting nor memory of the method."""
    Z, y = lesson.Z[:TINY], lesson.y[:TINY]
    peer.fit(replace(lesson, Z=Z, y=y, clusters=2, steps=1))
    peer.predict(Z.astype(np.float32))


def answer(where: str, folder: Path) -> dict[str, float | Array]:
    """Measure the peer `where` (module:class) on the lesson in the folder."""
    module, name = where.split(":")
    new_peer: Callable[[], Peer] = getattr(importlib.import_module(f"benchmarks.peers.{module}"), name)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    settings = json.loads((folder / "settings.json").read_text())
    Z, y, fresh = (np.load(folder / f"{array}.npy", allow_pickle=False) for array in ("Z", "y", "fresh"))
    lesson = Lesson(Z, y, **settings["lesson"])
    with threadpool_limits(1):
        warm_up(new_peer(), lesson)
        return measure(new_peer(), lesson, fresh, settings["labelled"], settings["side"])


def main() -> None:
    folder = Path(sys.argv[2])
    np.savez(folder / "answer.npz", **answer(sys.argv[1], folder))


if __name__ == "__main__":
    main()
