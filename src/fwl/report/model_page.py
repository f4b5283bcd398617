"""A user's own model as one HTML page that needs no other file and no network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from fwl.learn.decision_words import described
from fwl.learn.verdicts import CORRECTED, IGNORED, KEPT
from fwl.report.model_plots import draw_curves, draw_histogram, draw_reliability, draw_strip, legend_mark
from fwl.report.model_story import ModelStory
from fwl.report.model_words import named, number_told, percent, score_told, shown, sorts_as
from fwl.report.store import write_aside

MEANING = {
    KEPT: "the teacher would have said the same",
    CORRECTED: "the teacher says something else, or labels what nobody did, and is sure of it",
    IGNORED: "the teacher says something else, or labels what nobody did, and is not sure",
}


def write_model_page(story: ModelStory, path: Path) -> Path:
    """Write the page to a file, which is there when all went well."""
    return write_aside(path, render_model_page(story).encode("utf-8", errors="replace"))


def render_model_page(story: ModelStory) -> str:
    """The page as HTML; what comes from the user's data is escaped, and only the page's own script may run."""
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "shown": shown,
        "named": named,
        "percent": percent,
        "sorts_as": sorts_as,
        "told": number_told,
    }
    style, script = _file("model.css"), _file("model.js")
    return environment.from_string(_file("model.html")).render(
        story=story,
        style=Markup(style),  # noqa: S704  our own files
        script=Markup(script),  # noqa: S704
        script_digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        compared=_compared(story),
        histogram=draw_histogram(_by_verdict(story.fidelity)),
        verdicts=[name for name in MEANING if name in story.fidelity],
        reliability=None if not _has_bins(story) else draw_reliability(story.reliability),  # type: ignore[arg-type]
        annotators=[_annotator(annotator) for annotator in story.annotators],
        meaning=MEANING,
    )


def _file(name: str) -> str:
    return (files("fwl.report") / "templates" / name).read_text(encoding="utf-8")


def _has_bins(story: ModelStory) -> bool:
    return story.reliability is not None and len(story.reliability.bins) > 0


def _by_verdict(counts: Mapping[str, Any]) -> dict[str, Any]:
    """In one order, the verdicts that matter least at the bottom."""
    order = [*(name for name in MEANING if name in counts), *(name for name in counts if name not in MEANING)]
    return {name: counts[name] for name in order}


def _compared(story: ModelStory) -> dict[str, Any] | None:
    """The table of methods, the best first, and the learning curves."""
    if story.compared is None:
        return None
    comparison, verdict = story.compared["comparison"], story.compared["verdict"]
    is_share = not comparison["lower_is_better"]
    leads = {lead["over"]: lead for lead in verdict["leads"]}
    scores = sorted(comparison["scores"].items(), key=lambda item: item[1]["mean"], reverse=is_share)
    ends = _ends(comparison["scores"])
    curve = comparison["curve"]
    return {
        "metric": comparison["metric"],
        "is_share": is_share,
        "strong": comparison["strong"],
        "learned_from": comparison["learned_from"],
        "kept": verdict["kept"],
        "rows": [_method(name, scored, leads.get(name), ends, is_share) for name, scored in scores],
        "curves": draw_curves(curve, is_share) if curve else None,
        "legend": [(legend_mark(i), name) for i, name in enumerate(curve[0]["scores"])] if curve else [],
    }


def _ends(scores: Mapping[str, Any]) -> tuple[float, float]:
    """What the lines in the table's cells reach over."""
    around = [s["mean"] + sign * (s["standard_error"] or 0.0) for s in scores.values() for sign in (-1.0, 1.0)]
    return min(around), max(around)


def _method(
    name: str, scored: Mapping[str, Any], lead: Mapping[str, Any] | None, ends: tuple[float, float], is_share: bool
) -> dict[str, Any]:
    mean, error = scored["mean"], scored["standard_error"]
    behind = None if lead is None else -lead["observed"]
    told = (
        "" if lead is None else f"{_signed(-lead['observed'], is_share)} ± {_points(lead['standard_error'], is_share)}"
    )
    return {
        "name": name,
        "described": described(name, not is_share),
        "mean": mean,
        "score": f"{score_told(mean, is_share)} ± {score_told(error, is_share)}",
        "strip": draw_strip(mean, mean - error, mean + error, ends),
        "behind": behind,
        "behind_told": told,
        "sure": None if lead is None else lead["probability"],
        "seconds": scored["seconds"],
    }


def _signed(value: float, is_share: bool) -> str:
    return f"{round(100 * value, 1) + 0.0:+.1f}" if is_share else f"{value + 0.0:+.3g}"  # no minus before nought


def _points(value: float, is_share: bool) -> str:
    return f"{100 * value:.1f} points" if is_share else f"{value:.3g}"


def _annotator(annotator: Mapping[str, Any]) -> dict[str, Any]:
    """An annotator's row; of classes with its interval, of numbers with its errors."""
    known = bool(annotator["compared"])
    share = annotator.get("accuracy") if known else None
    interval = "" if share is None else f"{percent(annotator['low'])} to {percent(annotator['high'])}"
    strip = None if share is None else draw_strip(share, annotator["low"], annotator["high"], (0.0, 1.0))
    return {
        "name": annotator["name"],
        "coverage": annotator["coverage"],
        "compared": annotator["compared"],
        "accuracy": share,
        "interval": interval,
        "strip": strip,
        "rmse": annotator.get("rmse"),
        "mean_error": annotator.get("mean_error"),
    }
