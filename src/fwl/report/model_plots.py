"""Plots drawn as SVG inside a page: colours and letters are the page's own, so they follow its light and dark."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from fwl.report.model_story import BINS, Counts, Reliability
from fwl.report.model_words import score_told

WIDTH, HEIGHT = 400, 270
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 14, 48
TICKS = 5
FLAT = 0.05  # what an axis spans at the least: of the whole, or of its highest value
SHAPES = ("circle", "square", "diamond", "triangle", "cross")  # each with a colour of its own in model.css


@dataclass(frozen=True)
class Axis:
    """From values to places along one side of a plot."""

    low: float
    high: float
    start: float
    end: float
    told: Callable[[float], str]
    ticks: tuple[float, ...]
    in_logarithms: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value."""
        low, high, at = (math.log(v) if self.in_logarithms else v for v in (self.low, self.high, value))
        return self.start + (at - low) / ((high - low) or 1.0) * (self.end - self.start)


def draw_curves(curve: Sequence[Mapping[str, Any]], is_share: bool) -> Markup:
    """Each method's score over the number of strong labels, with a bar of one standard error up and down."""
    methods, sizes = list(curve[0]["scores"]), [int(point["strong"]) for point in curve]
    ends = [bound for point in curve for name in methods for bound in _around(point, name)]
    x = Axis(
        sizes[0] * 0.93, sizes[-1] * 1.07, LEFT, WIDTH - RIGHT, lambda v: f"{v:,.0f}", tuple(sizes), in_logarithms=True
    )
    y = _upright(min(ends), max(ends), lambda v: score_told(v, is_share).replace(".0 %", " %"), is_share)
    drawn = [_frame(x, y, "strong labels learned from", "")]
    for kind, name in enumerate(methods):
        aside = 5.0 * (kind - (len(methods) - 1) / 2)  # so that bars do not hide each other
        places = [(x(point["strong"]) + aside, point, *_around(point, name)) for point in curve]
        path = " ".join(f"{at:.1f},{y(point['scores'][name]):.1f}" for at, point, _, _ in places)
        drawn.append(Markup('<polyline class="line s{}" points="{}"/>').format(kind, path))
        for at, point, low, high in places:
            told = f"{name}, {point['strong']:,} strong labels: {score_told(point['scores'][name], is_share)}"
            drawn.append(_bar(at, y(low), y(high), kind))
            drawn.append(_mark(at, y(point["scores"][name]), kind, told))
    return _svg(drawn, "Learning curves: each method's score over the number of strong labels.")


def draw_histogram(counts: Mapping[str, Counts]) -> Markup:
    """How many weak rows have which fidelity, one verdict on top of the other."""
    totals = sum(counts.values())
    most = max(1, int(max(totals)))  # type: ignore[arg-type]
    x = Axis(0.0, 1.0, LEFT, WIDTH - RIGHT, lambda v: f"{v:.1f}", (0.0, 0.2, 0.4, 0.6, 0.8, 1.0))
    y = _upright(0.0, most, lambda v: f"{v:,.0f}", whole=True)
    width = (x(1.0) - x(0.0)) / BINS
    drawn, below = [_frame(x, y, "fidelity", "weak rows")], [0] * BINS
    for verdict, values in counts.items():
        for place, count in enumerate(values.tolist()):
            if count:
                told = f"fidelity {place / BINS:.2f} to {(place + 1) / BINS:.2f}: {count:,} {verdict or 'rows'}"
                at = x(place / BINS), y(below[place] + count), width, y(below[place]) - y(below[place] + count)
                drawn.append(_box(at, verdict or "all", told))
                below[place] += count
    return _svg(drawn, "Histogram of the weak rows' fidelities.")


def draw_reliability(reliability: Reliability) -> Markup:
    """What is said against what is true, with 95 % intervals; on the diagonal both are the same."""
    bins = reliability.bins
    ends = [float(bin_[name]) for bin_ in bins for name in ("said", "low", "high")]
    low, high = min(ends), 1.0 if reliability.shares else max(ends)
    told: Callable[[float], str] = (lambda v: f"{100 * v:.0f} %") if reliability.shares else (lambda v: f"{v:.3g}")
    y = _upright(low, high, told, reliability.shares)
    x = Axis(y.low, y.high, LEFT, WIDTH - RIGHT, told, y.ticks)
    names = ("how sure it is", "how often it is right") if reliability.shares else ("predicted", "true")
    diagonal = Markup('<line class="diagonal" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>').format(
        x(y.low), y(y.low), x(y.high), y(y.high)
    )
    drawn = [_frame(x, y, *names), diagonal]
    for bin_ in bins:
        at = x(bin_["said"])
        said = f"{bin_['count']:,} rows: {names[0]} {told(bin_['said'])}, {names[1]} {told(bin_['was'])}"
        drawn += [_bar(at, y(bin_["low"]), y(bin_["high"]), 0), _mark(at, y(bin_["was"]), 0, said)]
    return _svg(drawn, f"Calibration of {reliability.whose}: {names[0]} against {names[1]}.")


def draw_strip(mean: float, low: float, high: float, ends: tuple[float, float]) -> Markup:
    """A value with its interval on a short line, for a cell of a table."""
    first, last = ends
    width = last - first
    shares = [(v - first) / width if width > 0 else 0.5 for v in (low, mean, high)]
    at = [4 + 112 * min(1.0, max(0.0, share)) for share in shares]
    return Markup(
        '<svg class="strip" viewBox="0 0 120 16" width="120" height="16" aria-hidden="true">'
        '<line class="grid" x1="4" x2="116" y1="8" y2="8"/><line class="bar s0" x1="{:.1f}" x2="{:.1f}" y1="8" y2="8"/>'
        '<circle class="mark s0" cx="{:.1f}" cy="8" r="4"/></svg>'
    ).format(at[0], at[2], at[1])


def legend_mark(kind: int) -> Markup:
    """A method's mark beside its name."""
    return Markup('<svg class="key" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">{}</svg>').format(
        _mark(8, 8, kind, None)
    )


def _around(point: Mapping[str, Any], name: str) -> tuple[float, float]:
    """One standard error below and above; the score itself where no error is stored."""
    mean, error = float(point["scores"][name]), float(point.get("standard_errors", {}).get(name, 0.0))
    return mean - error, mean + error


def _upright(low: float, high: float, told: Callable[[float], str], shares: bool = False, whole: bool = False) -> Axis:
    """An axis from below upwards, over round numbers; of shares, none above 1."""
    high = min(1.0, high) if shares else high
    low = high - max(high - low, FLAT * (1.0 if shares else abs(high) or 1.0))
    step = _round_step((high - low) / TICKS)
    step = max(1.0, step) if whole else step
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(step * i for i in range(first, max(last, first + 1) + 1))
    return Axis(ticks[0], ticks[-1], HEIGHT - BOTTOM, TOP, told, ticks)


def _round_step(about: float) -> float:
    """The next of 1, 2, 5 times a power of ten.

    >>> [_round_step(step) for step in (0.7, 1.2, 30.0)]
    [1.0, 2.0, 50.0]
    """
    power = 10.0 ** math.floor(math.log10(about))
    return next(power * step for step in (1, 2, 5, 10) if about <= power * step * (1 + 1e-9))


def _frame(x: Axis, y: Axis, below: str, beside: str) -> Markup:
    parts = [
        Markup('<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>').format(LEFT, WIDTH - RIGHT, y(v), y(v))
        + Markup('<text x="{}" y="{:.1f}" text-anchor="end">{}</text>').format(LEFT - 6, y(v) + 5, y.told(v))
        for v in y.ticks
    ]
    parts += [
        Markup('<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(x(v), HEIGHT - BOTTOM + 20, x.told(v))
        for v in x.ticks
        if x.low <= v <= x.high
    ]
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        Markup('<text class="axis" x="{}" y="{}" text-anchor="middle">{}</text>').format(middle, HEIGHT - 6, below)
    )
    height = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(
        Markup('<text class="axis" transform="translate(13 {}) rotate(-90)" text-anchor="middle">{}</text>').format(
            height, beside
        )
    )
    return Markup("").join(parts)


def _bar(at: float, low: float, high: float, kind: int) -> Markup:
    return Markup('<line class="bar s{}" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>').format(
        kind, at, at, low, high
    )


def _box(at: tuple[float, float, float, float], verdict: str, told: str) -> Markup:
    return Markup(
        '<rect class="box {}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{}</title></rect>'
    ).format(verdict, at[0] + 0.5, at[1], at[2] - 1, at[3], told)


def _mark(x: float, y: float, kind: int, told: str | None) -> Markup:
    """A method's mark: of its own shape too, not of its colour alone."""
    title = Markup("") if told is None else Markup("<title>{}</title>").format(told)
    outline = {
        "circle": f"M{x - 5:.1f} {y:.1f}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z",
        "square": f"M{x - 4.5:.1f} {y - 4.5:.1f}h9v9h-9z",
        "diamond": f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6z",
        "triangle": f"M{x:.1f} {y - 6:.1f}l6 10h-12z",
        "cross": f"M{x - 2:.1f} {y - 6:.1f}h4v4h4v4h-4v4h-4v-4h-4v-4h4z",
    }[SHAPES[kind % len(SHAPES)]]
    return Markup('<path class="mark s{}" d="{}">{}</path>').format(kind % len(SHAPES), outline, title)


def _svg(parts: Iterable[Markup], told: str) -> Markup:
    return Markup('<svg class="plot" role="img" aria-label="{}" viewBox="0 0 {} {}">{}</svg>').format(
        told, WIDTH, HEIGHT, Markup("").join(parts)
    )
