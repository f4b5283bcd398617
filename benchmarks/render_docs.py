"""Render every table in README and docs from the stored run it names: `python -m benchmarks.render_docs [--check]`.

A table stands between `<!-- table: docs/results/NAME -->` and `<!-- end of table -->`; one that begins with
`<!-- wide table: ... -->` has a column for each method. The rows a benchmark wrote stand between
`<!-- rows: docs/results/NAME.json -->` and `<!-- end of rows -->`, a column for each of their keys; of some rows only
with `<!-- rows: docs/results/NAME.json where KEY=VALUE -->`. The page of all runs of the suite stands between
`<!-- page: docs/results -->` and `<!-- end of page -->`, and beside it as HTML.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from fwl.report.results_page import as_html_page, as_markdown_page, read_runs
from fwl.report.store import read_result, write_aside
from fwl.report.tables import markdown_table, wide_markdown_table

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "DECISIONS.md", *sorted((ROOT / "docs").glob("*.md"))]
TABLE = re.compile(r"<!-- (wide )?table: (\S+) -->\n.*?<!-- end of table -->", re.DOTALL)
ROWS = re.compile(r"<!-- rows: (\S+)( where ([^=]+)=(.+?))? -->\n.*?<!-- end of rows -->", re.DOTALL)
PAGE = re.compile(r"<!-- page: (\S+) -->\n.*<!-- end of page -->", re.DOTALL)


def rendered(text: str) -> str:
    """The text with every marked table, and the page of all, as the stored runs give them."""
    return PAGE.sub(_render_page, ROWS.sub(_render_rows, TABLE.sub(_render, text)))


def _render_page(mark: re.Match[str]) -> str:
    place = ROOT / mark[1]
    page = as_markdown_page(read_runs(place), f"{place.name}/")
    return f"<!-- page: {mark[1]} -->\n{page}<!-- end of page -->"


def _render(mark: re.Match[str]) -> str:
    wide, run = mark[1], mark[2]
    table = (wide_markdown_table if wide else markdown_table)(read_result(ROOT / run))
    return f"<!-- {wide or ''}table: {run} -->\n{table}\n<!-- end of table -->"


def _render_rows(mark: re.Match[str]) -> str:
    rows: list[dict[str, Any]] = json.loads((ROOT / mark[1]).read_text(encoding="utf-8"))
    if mark[2]:
        rows = [row for row in rows if str(row[mark[3]]) == mark[4]]
    keys = list(rows[0])
    numeric = [not isinstance(rows[0][key], str) for key in keys]
    lines = ["| " + " | ".join(keys) + " |", "|" + "".join("---:|" if number else "---|" for number in numeric)]
    lines += ["| " + " | ".join(_cell(row[key]) for key in keys) + " |" for row in rows]
    return "\n".join([f"<!-- rows: {mark[1]}{mark[2] or ''} -->", *lines, "<!-- end of rows -->"])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def main() -> None:
    stale = [page for page in PAGES if rendered(page.read_text(encoding="utf-8")) != page.read_text(encoding="utf-8")]
    if "--check" in sys.argv:
        sys.exit(
            f"not what the stored runs say: {', '.join(p.name for p in stale)}; run `make results`" if stale else 0
        )
    for page in stale:
        page.write_text(rendered(page.read_text(encoding="utf-8")), encoding="utf-8")
        if (mark := PAGE.search(page.read_text(encoding="utf-8"))) is not None:
            write_aside(page.with_suffix(".html"), as_html_page(read_runs(ROOT / mark[1])).encode())


if __name__ == "__main__":
    main()
