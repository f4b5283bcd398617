"""The annealed learning rate eta1(t) of the paper: the share of the initial rate that is left at step t of T."""

from __future__ import annotations

import math
from collections.abc import Callable

Schedule = Callable[[int, int], float]


def _constant(step: int, steps: int) -> float:  # noqa: ARG001
    return 1.0


def _linear(step: int, steps: int) -> float:
    return 1.0 - step / steps


def _cosine(step: int, steps: int) -> float:
    return 0.5 * (1.0 + math.cos(math.pi * step / steps))


def _inverse_time(step: int, steps: int) -> float:
    return 1.0 / (1.0 + 9.0 * step / steps)  # a tenth of the initial rate at the end


def _exponential(step: int, steps: int) -> float:
    return math.pow(0.01, step / steps)  # a hundredth of the initial rate at the end


SCHEDULES: dict[str, Schedule] = {
    "constant": _constant,
    "linear": _linear,
    "cosine": _cosine,
    "inverse_time": _inverse_time,
    "exponential": _exponential,
}
