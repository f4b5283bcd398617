"""`fwl report`: render a stored run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run's folder, with its results.json.")],
    out: Annotated[Path | None, typer.Option(help="Where the page goes.  [default: DIR/report.html]")] = None,
) -> None:
    """Render figures and one self-contained page from a run's results.json."""
    from fwl.report.page import write_report
    from fwl.report.store import read_result

    for path in write_report(read_result(folder), folder, out):
        typer.echo(path)
