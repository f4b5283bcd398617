"""A folder of runs as one page, in Markdown and in HTML: every table of ours beside the paper's, and its claims."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import jinja2
import matplotlib as mpl

from fwl.errors import OutputTrouble
from fwl.records import Result
from fwl.report import paper
from fwl.report.claims import CLAIMS, Judged, judge
from fwl.report.figures import as_bytes, draw
from fwl.report.parts import Picture, Section, Table, as_html, as_markdown
from fwl.report.results_tables import gain_tables, method_tables, sweep_tables
from fwl.report.results_words import claim_story, data_told, scale_story, table_story
from fwl.report.store import read_result, write_aside

TITLE = "Results"
MARKDOWN, HTML = "results.md", "results.html"
TABLES = {"toy": "The toy problem", "sentiment": "Sentiment of tweets"}  # the paper's own, but for ranking
RANKING = "ranking"
ANALYSES = {
    "beta": "How far to trust the teacher: β",
    "learning-curve": "More weak data, more strong data",
    "annotators": "Better and worse annotators",
    "sampling": "Fidelity as a learning rate or as a chance to be drawn",
    "teachers": "Which teacher",
}
_ORDER = (*TABLES, RANKING, *ANALYSES)
NOT_RUN = "Not run."
Runs = Mapping[str, Result]  # the name of its folder -> a run


@dataclass(frozen=True)
class Pages:
    """The page in both languages."""

    markdown: str
    html: str


def read_runs(folder: Path) -> dict[str, Result]:
    """The runs of a suite below a folder; others, which have names of their own, are left out."""
    stored = {path.parent.name: path.parent for path in sorted(folder.glob("*/results.json"))}
    runs = {name: read_result(stored[name]) for name in sorted(stored, key=_place) if _is_of_suite(name)}
    if not runs:
        raise OutputTrouble(
            f"no run of the suite below {folder}; expected folders such as toy or sentiment, each with its "
            f"results.json, as `fwl reproduce all --out {folder}` writes them"
        )
    return runs


def _is_of_suite(name: str) -> bool:
    return name.startswith(f"{RANKING}-") or name in _ORDER


def _place(name: str) -> tuple[int, str]:
    """Where a run stands on the page."""
    kind = RANKING if name.startswith(f"{RANKING}-") else name
    return (_ORDER.index(kind) if kind in _ORDER else len(_ORDER), name)


def write_results_page(folder: Path, runs: Runs | None = None) -> list[Path]:
    """Render the runs below a folder, or these of them, as `results.md` and `results.html` in it."""
    pages = render_results(read_runs(folder) if runs is None else runs)
    return [
        write_aside(folder / MARKDOWN, pages.markdown.encode()),
        write_aside(folder / HTML, pages.html.encode()),
    ]


def render_results(runs: Runs, pictures_below: str = "") -> Pages:
    """The page of some runs; in Markdown, figures are linked below a folder."""
    drawn = sections(runs)
    return Pages(as_markdown(TITLE, drawn, pictures_below), _as_html(drawn))


def sections(runs: Runs) -> list[Section]:
    """Everything that the page says, in its order."""
    judged = judge(runs.values())
    rankings = {name: run for name, run in runs.items() if run.experiment == RANKING}
    return [
        _what_was_run(runs),
        *(_table(title, name, runs.get(name)) for name, title in TABLES.items()),
        *_ranking(rankings),
        Section("The paper's analyses", ("What section 5 of the paper varies, on each task it was measured on here.",)),
        *(_analysis(title, name, runs.get(name), judged) for name, title in ANALYSES.items()),
        _claims(judged),
    ]


def _what_was_run(runs: Runs) -> Section:
    lines = tuple(
        (
            f"`{name}`",
            run.size,
            _seeds(run),
            str(run.provenance.get("version", "")),
            f"`{str(run.provenance.get('data_sha256', ''))[:12]}`",
            f"{run.provenance.get('seconds', 0):,.0f}",
        )
        for name, run in runs.items()
    )
    headings = ("run", "size", "seeds", "fwl", "data (SHA-256)", "seconds")
    return Section("What was run", scale_story(runs), (Table(headings, lines, frozenset({5})),))


def _seeds(run: Result) -> str:
    seeds = run.provenance["seeds"]
    return f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0])


def _table(title: str, name: str, run: Result | None, level: int = 2) -> Section:
    if run is None:
        return Section(title, (NOT_RUN,), level=level)
    return Section(title, table_story(run), method_tables(run), (_picture(name, run),), level)


def _ranking(runs: Runs) -> list[Section]:
    head = (
        "The paper ranks Robust04 and ClueWeb09, which are licensed; ours are the collections named below. Its figures "
        "stand in a table of their own: they are of other data, and only the order of rows can be compared."
    )
    return [
        Section("Document ranking", (head, *(() if runs else (NOT_RUN,)))),
        *(_table(name.removeprefix(f"{RANKING}-"), name, run, level=3) for name, run in runs.items()),
        Section("The paper, on its own collections", tables=(paper.RANKING,), level=3),
    ]


def _analysis(title: str, name: str, run: Result | None, judged: Sequence[Judged]) -> Section:
    own = [entry for entry in judged if entry.claim.experiment == name]
    papers = (paper.TEACHERS,) if name == "teachers" else ()
    if run is None:
        return Section(title, (NOT_RUN,), papers, level=3)
    return Section(title, claim_story(own, run), (*_tables(run), *papers), (_picture(name, run),), level=3)


def _tables(run: Result) -> tuple[Table, ...]:
    if run.experiment == "annotators":
        return gain_tables(run)
    return sweep_tables(run.rows) if any(row.at for row in run.rows) else method_tables(run)


def _claims(judged: Sequence[Judged]) -> Section:
    lines = [
        (entry.claim.text, data_told(finding.data).removesuffix(": "), f"**{finding.verdict}**", finding.figures)
        for entry in judged
        for finding in entry.findings
    ]
    rules = tuple((claim.text, claim.rule) for claim in CLAIMS)
    head = (
        "Whether a claim holds, does not hold, or is not decided here. Only differences that the paired two-tailed "
        "t-test tells apart at 0.05 decide anything; the rest is not decided, however large it looks."
    )
    tables = (Table(("the paper says", "on", "here", "figures"), tuple(lines)), Table(("claim", "decided by"), rules))
    return Section("The claims of the paper's analysis", (head,), tables)


def _picture(name: str, run: Result) -> Picture:
    # Fixed ids make the same result give the same file.
    with mpl.rc_context({"svg.hashsalt": run.experiment, "svg.fonttype": "path"}):
        svg = as_bytes(draw(run), "svg").decode()
    return Picture(run.title, own_ids(svg[svg.index("<svg") :], name), f"{name}/{run.experiment}.svg")


def own_ids(svg: str, name: str) -> str:
    """A drawing whose ids no other drawing on the page has.

    >>> own_ids('<use xlink:href="#a"/><g id="a" clip-path="url(#b)"/>', "toy")
    '<use xlink:href="#toy-a"/><g id="toy-a" clip-path="url(#toy-b)"/>'
    """
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)


def _as_html(drawn: Sequence[Section]) -> str:
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters["told"] = as_html
    template = environment.from_string((files("fwl.report") / "templates" / "results.html").read_text(encoding="utf-8"))
    return template.render(title=TITLE, sections=drawn)
