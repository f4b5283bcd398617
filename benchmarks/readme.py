"""Render the README's table and figure from the stored toy run: `python -m benchmarks.readme [--check]`."""

from __future__ import annotations

import sys
from pathlib import Path

from fwl.report.store import read_result
from fwl.report.tables import markdown_table

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
RUN = ROOT / "docs" / "results" / "toy"
BEGIN, END = "<!-- table: docs/results/toy -->", "<!-- end of table -->"


def rendered(text: str) -> str:
    """The README with the table of the stored run between its two marks."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{markdown_table(read_result(RUN))}\n{END}{after}"


def main() -> None:
    text = README.read_text(encoding="utf-8")
    if "--check" in sys.argv:
        sys.exit(0 if rendered(text) == text else "README.md is not what the stored run says: run `make results`")
    README.write_text(rendered(text), encoding="utf-8")


if __name__ == "__main__":
    main()
