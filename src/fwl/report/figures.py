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
from fwl.report.analysis import gains

TRUE, WEAK, STUDENT, TEACHER = "#c0392b", "#b03a9b", "#1f5fa8", "#2e7d32"
AXIS_NAMES = {
    "beta": "β",
    "n_weak": "weak samples |D_w|",
    "n_strong": "strong samples |D_s|",
    "weak_share": "share of the weak samples D_w",
    "finetune_steps": "updates of step 3, each on one batch of soft samples",
}
MARKERS = "osD^vP"
WIDE = 20  # times the smallest amount, from where an axis is logarithmic
MOST_STACKED = 5  # panels one below the other


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
    """One panel for each dataset and quantity varied, and in it a line with its 95 % band for each method."""
    rows = [row for group in _first_metrics(result.rows) for row in group]
    panels = list(dict.fromkeys((row.dataset, name) for row in rows for name in row.at))
    axes_of_one = max(sum(dataset == data for dataset, _ in panels) for data, _ in panels)
    columns = 2 * axes_of_one if axes_of_one > 1 or len(panels) == 4 else 3
    columns = min(len(panels), columns)
    figure, axes = _grid(len(panels), columns)
    for axis, (dataset, name) in zip(axes, panels, strict=True):
        _sweep_panel(axis, [row for row in rows if name in row.at and row.dataset == dataset], name)
        axis.set_title(dataset + _skew(result, dataset), fontsize=10)
    return figure


def _grid(panels: int, columns: int) -> tuple[Figure, list[Axes]]:
    """A figure with room for so many panels, and these."""
    lines = -(-panels // columns)
    figure = Figure(figsize=(5.5 * columns if columns < 4 else 4.2 * columns, 4.2 * lines), layout="constrained")
    axes = list(figure.subplots(lines, columns, squeeze=False).ravel())
    for axis in axes[panels:]:
        axis.set_axis_off()
    return figure, axes[:panels]


def _first_metrics(rows: Iterable[Row]) -> list[list[Row]]:
    """The rows of each dataset's first metric: what the experiment is about."""
    by_dataset: dict[str, list[Row]] = {}
    for row in rows:
        known = by_dataset.setdefault(row.dataset, [row])
        if row.metric == known[0].metric and row is not known[0]:
            known.append(row)
    return list(by_dataset.values())


def _skew(result: Result, dataset: str) -> str:
    """How even the fidelities of a dataset are, where that was measured."""
    shares = [row.mean for row in result.rows if row.dataset == dataset and row.metric.startswith("effective share")]
    return f" (effective share of the soft data: {np.mean(shares):.3f})" if shares else ""


def draw_dots(result: Result) -> Figure:
    """A panel for each metric, in it a line for each dataset, and on it each method's mean with its spread."""
    by_metric: dict[str, list[Row]] = {}
    for row in result.rows:
        by_metric.setdefault(row.metric, []).append(row)
    methods = list(dict.fromkeys(row.method for row in result.rows))
    told = {(gain.dataset, gain.method, gain.metric): gain.relative for gain in gains(result)}
    columns = 1 if len(by_metric) <= MOST_STACKED else 2
    heights = _line_heights([_height(rows) for rows in by_metric.values()], columns)
    figure = Figure(figsize=(8 * columns, sum(heights)), layout="constrained")
    axes = figure.subplots(len(heights), columns, squeeze=False, height_ratios=heights).ravel()
    for axis, rows in zip(axes, by_metric.values(), strict=False):
        _dots_panel(axis, rows, methods)
        _tell_gains(axis, rows, told)
    for axis in axes[len(by_metric) :]:
        figure.delaxes(axis)
    shown = {container.get_label(): container for axis in figure.axes for container in axis.containers}
    handles = [shown[method] for method in methods]
    # Beside the dots, never on them.
    axes[columns - 1].legend(handles, methods, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _line_heights(heights: list[float], columns: int) -> list[float]:
    """Inches of each line of panels: what its highest panel needs."""
    return [max(heights[i : i + columns]) for i in range(0, len(heights), columns)]


def _tell_gains(axis: Axes, rows: list[Row], told: dict[tuple[str, str, str], float | None]) -> None:
    """Beside each method's dot, by which share of it the method is better than its annotator."""
    for container, method in zip(axis.containers, dict.fromkeys(row.method for row in rows), strict=True):
        own = [row for row in rows if row.method == method]
        for row, place in zip(own, container.lines[0].get_ydata(), strict=True):  # type: ignore[attr-defined]
            gain = told.get((row.dataset, row.method, row.metric))
            if gain is not None:
                axis.annotate(
                    f"{gain:+.0%}", (row.mean, place), (0, -11), textcoords="offset points", fontsize=7, ha="center"
                )


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


def _sweep_panel(axis: Axes, rows: list[Row], name: str) -> None:
    for marker, method in zip(MARKERS, dict.fromkeys(row.method for row in rows), strict=False):
        line = sorted((row for row in rows if row.method == method), key=lambda row: row.at[name])
        x = [row.at[name] for row in line]
        mean = np.array([row.mean for row in line])
        band = np.array([1.96 * row.std / len(row.values) ** 0.5 for row in line])
        (drawn,) = axis.plot(x, mean, marker=marker, label=method)
        axis.fill_between(x, mean - band, mean + band, color=drawn.get_color(), alpha=0.15, lw=0)
        places = [row.at[name] for row in line for _ in row.values]
        seeds = [value for row in line for value in row.values]
        axis.scatter(places, seeds, s=10, color=drawn.get_color(), alpha=0.3, lw=0)
    _scale(axis, name, [row.at[name] for row in rows])
    axis.set_xlabel(AXIS_NAMES.get(name, name))
    axis.set_ylabel(rows[0].metric)
    axis.grid(alpha=0.2)
    axis.legend(fontsize=8)


def _scale(axis: Axes, name: str, places: list[float]) -> None:
    """Amounts that span two orders of magnitude are told apart on a logarithmic axis only."""
    if name == "finetune_steps" or (min(places) > 0 and max(places) >= WIDE * min(places)):
        axis.set_xscale("log")
        axis.set_xticks(sorted(set(places)), [f"{place:g}" for place in sorted(set(places))], minor=False)
        axis.minorticks_off()
