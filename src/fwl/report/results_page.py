"""A folder of runs as one page, in Markdown and in HTML: every table of ours beside the paper's, and its claims."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

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


def read_runs(folder: Path) -> dict[str, Result]:
    """The runs of a suite below a folder; others, which have names of their own, are left out."""
    stored = {path.parent.name: path.parent for path in sorted(folder.glob("*/results.json"))}
    runs = {name: read_result(place) for name, place in stored.items() if _is_of_suite(name)}
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


def write_results_page(folder: Path, runs: Runs | None = None, page: Path | None = None) -> list[Path]:
    """Render the runs below a folder, or these of them.

    Args:
        folder: where the runs are.
        runs: which of them, instead of all.
        page: one file, Markdown if its name ends so and else HTML, instead of both in the folder.

    Returns:
        The files written.
    """
    known = read_runs(folder) if runs is None else runs
    return [_write_page(folder, known, path) for path in ([page] if page else [folder / MARKDOWN, folder / HTML])]


def _write_page(folder: Path, runs: Runs, page: Path) -> Path:
    if page.suffix != ".md":
        return write_aside(page, as_html_page(runs).encode())
    between = os.path.relpath(folder, page.absolute().parent)
    return write_aside(page, as_markdown_page(runs, "" if between == "." else f"{Path(between).as_posix()}/").encode())


def as_markdown_page(runs: Runs, pictures_below: str = "") -> str:
    """The page of some runs in Markdown; figures are linked below a folder."""
    return as_markdown(TITLE, sections(runs), pictures_below)


def as_html_page(runs: Runs) -> str:
    """The page of some runs in HTML, with its figures inside and nothing outside."""
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters["told"] = as_html
    template = environment.from_string((files("fwl.report") / "templates" / "results.html").read_text(encoding="utf-8"))
    return template.render(title=TITLE, sections=sections(runs))


def sections(runs: Runs) -> list[Section]:
    """Everything that the page says, in its order."""
    runs = dict(sorted(runs.items(), key=lambda run: _place(run[0])))
    judged = judge(runs.values())
    rankings = {name: run for name, run in runs.items() if run.experiment == RANKING}
    return [
        _what_was_run(runs),
        *(_table(title, name, runs.get(name)) for name, title in TABLES.items()),
        *_ranking(rankings),
        Section("The paper's analyses", ("What the paper varies in its analysis, on each task measured here.",)),
        *(_analysis(title, name, runs, judged) for name, title in ANALYSES.items()),
        _claims(judged),
    ]


def _what_was_run(runs: Runs) -> Section:
    lines = [line for name, run in runs.items() for line in _run_lines(name, run)]
    headings = ("run", "size", "seeds", "fwl", "data (SHA-256)", "seconds")
    return Section("What was run", scale_story(runs), (Table(headings, tuple(lines), frozenset({5})),))


def _run_lines(name: str, run: Result) -> Iterator[tuple[str, ...]]:
    """A line for a run, or for each task of one that has several."""
    parts: Mapping[str, Mapping[str, Any]] = run.provenance.get("parts", {"": run.provenance})
    for task, part in parts.items():
        digest = str(part.get("data_sha256", ""))[:12]
        told = (f"`{name}`{', ' if task else ''}{task}", run.size, _seeds(part["seeds"]))
        version, seconds = str(run.provenance.get("version", "")), f"{part.get('seconds', 0):,.0f}"
        yield (*told, version, f"`{digest}`" if digest else "", seconds)


def _seeds(seeds: Sequence[int]) -> str:
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


def _analysis(title: str, name: str, runs: Runs, judged: Sequence[Judged]) -> Section:
    run = runs.get(name)
    own = [entry for entry in judged if entry.claim.experiment == name]
    papers = (paper.TEACHERS,) if name == "teachers" else ()
    if run is None:
        return Section(title, (NOT_RUN,), papers, level=3)
    return Section(
        title, claim_story(own, run, runs.values()), (*_tables(run), *papers), (_picture(name, run),), level=3
    )


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
    return Picture(run.title, f"{name}/{run.experiment}.svg", partial(_drawing, name, run))


def _drawing(name: str, run: Result) -> str:
    # Fixed ids make the same result give the same file; letters as text, for a dozen figures of outlines are megabytes.
    with mpl.rc_context({"svg.hashsalt": run.experiment, "svg.fonttype": "none"}):
        svg = as_bytes(draw(run), "svg").decode()
    return own_ids(slimmed(svg[svg.index("<svg") :]), name)


def slimmed(svg: str) -> str:
    r"""A drawing without indentation whose places have two decimals, which no eye tells from more; texts stay.

    >>> slimmed('<g>\n  <path d="M 1.234567 20.998 L 3 4"/>\n  <text x="0.12345">0.12345</text>\n</g>')
    '<g>\n<path d="M 1.23 21 L 3 4"/>\n<text x="0.12">0.12345</text>\n</g>'
    """
    short = re.sub(r"<[^>]*>", lambda tag: re.sub(r"\d+\.\d{3,}", _two_decimals, tag[0]), svg)
    return re.sub(r">\s+<", ">\n<", short)


def _two_decimals(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def own_ids(svg: str, name: str) -> str:
    """A drawing whose ids no other drawing on the page has.

    >>> own_ids('<use xlink:href="#a"/><g id="a" clip-path="url(#b)"/>', "toy")
    '<use xlink:href="#toy-a"/><g id="toy-a" clip-path="url(#toy-b)"/>'
    """
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)
