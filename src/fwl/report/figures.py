"""Figures, drawn from a result and from nothing else."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from fwl.records import Result, Row

TRUE, WEAK, STUDENT, TEACHER = "#c0392b", "#b03a9b", "#1f5fa8", "#2e7d32"
AXIS_NAMES = {
    "beta": "β",
    "n_weak": "weak samples |D_w|",
    "n_strong": "strong samples |D_s|",
    "finetune_steps": "soft samples seen in step 3",
}
MARKERS = "osD^vP"


def draw(result: Result) -> Figure:
    """The figure that fits a result: the paper's panels, lines over a sweep, or dots."""
    if result.curves:
        return draw_panels(result)
    if any(row.at for row in result.rows):
        return draw_sweeps(result)
    return draw_dots(result)


def as_bytes(figure: Figure, kind: str) -> bytes:
    """A figure as the content of a PNG or SVG file; the same figure gives the same bytes."""
    FigureCanvasAgg(figure)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    return buffer.getvalue()


def draw_panels(result: Result) -> Figure:
    """The paper's toy figure: weak fit, teacher, weak-then-strong, FWL."""
    figure = Figure(figsize=(11, 7), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
    curves, rows = result.curves, {row.method: row for row in result.rows}
    _weak_panel(axes[0], curves, rows)
    _teacher_panel(axes[1], curves)
    shown = [name for name in ("NN_W->S", "FWL") if f"method:{name}" in curves]
    titles = {"NN_W->S": "fine-tuned on the strong points", "FWL": "fine-tuned on soft labels by their fidelity"}
    for axis, name in zip(axes[2:], shown, strict=False):
        _method_panel(axis, curves, rows, name, f"{name}: {titles[name]}")
    for axis in axes[2 + len(shown) :]:
        axis.set_axis_off()
    seed = result.provenance["seeds"][0]
    figure.suptitle(f"Toy problem, seed {seed} (RMSE in brackets)", fontsize=11)
    return figure


def draw_sweeps(result: Result) -> Figure:
    """One panel for each quantity varied, and a line with its 95 % band for each method and dataset."""
    names = list(dict.fromkeys(name for row in result.rows for name in row.at))
    by_dataset = list(dict.fromkeys((name, row.dataset) for name in names for row in result.rows if name in row.at))
    figure = Figure(figsize=(5.5 * len(by_dataset), 4.2), layout="constrained")
    for axis, (name, dataset) in zip(figure.subplots(1, len(by_dataset), squeeze=False)[0], by_dataset, strict=True):
        rows = [row for row in result.rows if name in row.at and row.dataset == dataset]
        _sweep_panel(axis, rows, name, result.settings)
        axis.set_title(dataset, fontsize=10)
    return figure


def draw_dots(result: Result) -> Figure:
    """A panel for each metric, in it a line for each dataset, and on it each method's mean with its spread."""
    by_metric: dict[str, list[Row]] = {}
    for row in result.rows:
        by_metric.setdefault(row.metric, []).append(row)
    methods = list(dict.fromkeys(row.method for row in result.rows))
    heights = [_height(rows) for rows in by_metric.values()]
    figure = Figure(figsize=(8, sum(heights)), layout="constrained")
    axes = figure.subplots(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axis, rows in zip(axes, by_metric.values(), strict=True):
        _dots_panel(axis, rows, methods)
    axes[0].legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))  # beside the dots, never on them
    return figure


def _height(rows: list[Row]) -> float:
    """Inches of a panel: every dataset has room for a line of each method."""
    datasets, methods = len({row.dataset for row in rows}), len({row.method for row in rows})
    return 1.5 + max(0.35, 0.13 * methods) * datasets


def _dots_panel(axis: Axes, rows: list[Row], known: list[str]) -> None:
    """A method looks alike in every panel, whoever else is in it: by its place among those `known`."""
    datasets = list(dict.fromkeys(row.dataset for row in rows))
    methods = list(dict.fromkeys(row.method for row in rows))
    apart = min(0.12, 0.8 / len(methods))  # so that no dataset's lines reach into the next one's
    for i, method in enumerate(methods):
        own, kind = [row for row in rows if row.method == method], known.index(method)
        places = [datasets.index(row.dataset) + apart * (i - (len(methods) - 1) / 2) for row in own]
        means, spreads = [row.mean for row in own], [row.std for row in own]
        marker, colour = MARKERS[kind % len(MARKERS)], f"C{kind}"
        axis.errorbar(means, places, xerr=spreads, fmt=marker, color=colour, ms=5, lw=1, label=method)
    axis.set_yticks(range(len(datasets)), datasets)
    axis.invert_yaxis()
    axis.set_xlabel(rows[0].metric + " (bars: one standard deviation)")
    axis.grid(alpha=0.2)


def _weak_panel(axis: Axes, curves: dict[str, Any], rows: dict[str, Row]) -> None:
    _base(axis, curves, "NN_W: the student after step 1" + _rmse(rows, "NN_W"))
    axis.plot(curves["x"], curves["weak"], color=WEAK, lw=1, label="weak function")
    axis.scatter(curves["weak_x"], curves["weak_y"], color=WEAK, s=9, alpha=0.6, label="weak points")
    axis.plot(curves["x"], curves["student_weak"], color=STUDENT, lw=2, label="student")
    _legend(axis)


def _teacher_panel(axis: Axes, curves: dict[str, Any]) -> None:
    _base(axis, curves, "The teacher, fitted on the strong points")
    mean, sd = np.array(curves["teacher"]), np.array(curves["teacher_sd"])
    axis.fill_between(curves["x"], mean - 2 * sd, mean + 2 * sd, color=TEACHER, alpha=0.15, lw=0, label="± 2 sd")
    axis.plot(curves["x"], mean, color=TEACHER, lw=2, label="teacher")
    _strong(axis, curves)
    _legend(axis)


def _method_panel(axis: Axes, curves: dict[str, Any], rows: dict[str, Row], name: str, title: str) -> None:
    _base(axis, curves, title + _rmse(rows, name))
    axis.plot(curves["x"], curves["student_weak"], color=STUDENT, lw=1, ls=":", alpha=0.7, label="after step 1")
    axis.plot(curves["x"], curves[f"method:{name}"], color=STUDENT, lw=2, label="student")
    _strong(axis, curves)
    _legend(axis)


def _base(axis: Axes, curves: dict[str, Any], title: str) -> None:
    axis.plot(curves["x"], curves["true"], color=TRUE, ls="--", lw=1.2, label="true function")
    axis.set_title(title, fontsize=10)
    axis.grid(alpha=0.2)


def _strong(axis: Axes, curves: dict[str, Any]) -> None:
    axis.scatter(curves["strong_x"], curves["strong_y"], color=TRUE, s=28, zorder=3, label="strong points")


def _legend(axis: Axes) -> None:
    axis.legend(fontsize=8, loc="upper right", framealpha=0.8)


def _rmse(rows: dict[str, Row], name: str) -> str:
    return f" ({rows[name].values[0]:.3f})" if name in rows else ""


def _sweep_panel(axis: Axes, rows: list[Row], name: str, settings: dict[str, Any]) -> None:
    for marker, method in zip(MARKERS, dict.fromkeys(row.method for row in rows), strict=False):
        line = sorted((row for row in rows if row.method == method), key=lambda row: row.at[name])
        x = _positions(name, (row.at[name] for row in line), settings)
        mean = np.array([row.mean for row in line])
        band = np.array([1.96 * row.std / len(row.values) ** 0.5 for row in line])
        (drawn,) = axis.plot(x, mean, marker=marker, label=method)
        axis.fill_between(x, mean - band, mean + band, color=drawn.get_color(), alpha=0.15, lw=0)
    if name == "finetune_steps":
        axis.set_xscale("log")
    axis.set_xlabel(AXIS_NAMES.get(name, name))
    axis.set_ylabel(rows[0].metric)
    axis.grid(alpha=0.2)
    axis.legend(fontsize=8)


def _positions(name: str, values: Iterable[float], settings: dict[str, Any]) -> list[float]:
    """Where points lie on the axis: steps are shown as samples, which is what the paper counts."""
    per_step = settings.get("batch_size", 1) if name == "finetune_steps" else 1
    return [value * per_step for value in values]
