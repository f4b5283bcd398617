"""A run's folder as figures and one HTML page that needs no other file and no network."""

from __future__ import annotations

from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import jinja2
import matplotlib as mpl

from fwl.records import Result
from fwl.report.analysis import sentences
from fwl.report.figures import as_bytes, draw
from fwl.report.store import write_aside
from fwl.report.tables import FACE, HEADINGS, caption, cells, groups, has_several_metrics, is_best, over_seeds


def write_report(result: Result, folder: Path, page: Path | None = None) -> list[Path]:
    """Render figures (PNG and SVG) into the folder and the page beside them, or where told.

    Returns:
        The files written.
    """
    # Fixed ids make the same result give the same file.
    with mpl.rc_context({"svg.hashsalt": result.experiment, "svg.fonttype": "path"}):
        figure = draw(result)
        png, svg = as_bytes(figure, "png"), as_bytes(figure, "svg")
    html = render_page(result, svg.decode())
    return [
        write_aside(folder / f"{result.experiment}.png", png),
        write_aside(folder / f"{result.experiment}.svg", svg),
        write_aside(page or folder / "report.html", html.encode()),
    ]


def render_page(result: Result, svg: str) -> str:
    """The page as HTML, with the figure drawn inside it."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string((files("fwl.report") / "templates" / "page.html").read_text(encoding="utf-8"))
    rows = [
        {
            "cells": cells(row, group, has_several_metrics(result)),
            "best": len(group) > 1 and is_best(row, group),
            "row": row,
            "first": row is group[0],
        }
        for group in groups(result)
        for row in group
    ]
    return template.render(
        result=result,
        headings=HEADINGS,
        rows=rows,
        caption=caption(result),
        face=FACE,
        claims=claims(result),
        svg=svg[svg.index("<svg") :],
        seeds=over_seeds(result),
        settings=named_settings(result),
    )


def named_settings(result: Result) -> dict[str, Any]:
    """Every setting by the name that `--set` takes: those of a study's part stand behind its task."""
    named: dict[str, Any] = {}
    for name, value in result.settings.items():
        named |= {f"{name}.{key}": own for key, own in value.items()} if isinstance(value, dict) else {name: value}
    return named


def claims(result: Result) -> list[str]:
    """What the table says about the paper's own order of methods, and what an analysis comes to, in sentences."""
    found, several = [], len(groups(result)) > 1
    for group in groups(result):
        where = f"{cells(group[0], group, has_several_metrics(result))[0]}: " if several else ""
        known = sorted((row for row in group if row.paper is not None), key=lambda row: row.paper or 0.0)
        for better, worse in pairwise(known):
            if not better.lower_is_better:
                better, worse = worse, better
            held = "holds" if (better.mean < worse.mean) == better.lower_is_better else "does not hold"
            p = better.p_values.get(worse.method)
            sure = f" (p = {p:.2g}, corrected)" if p is not None else ""
            found.append(
                f"{where}The paper has {better.method} better than {worse.method} "
                f"({better.paper} against {worse.paper}): here that {held}, "
                f"{better.mean:.4f} against {worse.mean:.4f}{sure}."
            )
    return [*found, *sentences(result)]
