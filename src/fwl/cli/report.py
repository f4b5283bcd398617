"""`fwl report`: a stored run, a folder of them, or a model of a user's own, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fwl.cli.progress import progress_for
from fwl.errors import OutputTrouble


def report(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="A run's folder, with its results.json; one of many runs; or a model that fit wrote."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Where the page goes.  [default: DIR/report.html; of many runs DIR/results.html and .md]"),
    ] = None,
    rows: Annotated[int, typer.Option(help="Of a model: doubted labels to list, at the most.", min=1)] = 300,
    weak: Annotated[Path | None, typer.Option(help="Of a model: where its weak file is, if it moved.")] = None,
    encoder: Annotated[Path | None, typer.Option(help="Of a model: where its encoder is, if it moved.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Render one self-contained page from a run's results.json, with its figures, from many runs, or from a model."""
    if (folder / "results.json").is_file():
        _show([*_of_run(folder, out)])
    elif any(folder.glob("*/results.json")):
        _show(_of_suite(folder, out))
    elif (folder / "manifest.json").is_file():
        _show([_of_model(folder, out, rows, weak, encoder, quiet)])
    else:
        raise OutputTrouble(
            f"{folder} is neither a run (it has no results.json) nor a model (no manifest.json); expected a folder "
            "that `fwl reproduce EXPERIMENT --out DIR` or `fwl fit --out DIR` wrote"
        )


def _of_run(folder: Path, out: Path | None) -> list[Path]:
    from fwl.report.page import write_report
    from fwl.report.store import read_result

    return write_report(read_result(folder), folder, out)


def _of_suite(folder: Path, out: Path | None) -> list[Path]:
    from fwl.report.results_page import write_results_page

    return write_results_page(folder, page=out)


def _of_model(folder: Path, out: Path | None, rows: int, weak: Path | None, encoder: Path | None, quiet: bool) -> Path:
    from fwl.cli.model_report import story_of
    from fwl.cli.own_model import open_model
    from fwl.report.model_page import write_model_page
    from fwl.storage import PAGE

    place = out or folder / PAGE
    _check_place(place)
    return write_model_page(story_of(open_model(folder, encoder), weak, rows, progress_for(quiet)), place)


def _check_place(page: Path) -> None:
    """Refuse a page in no folder before all weak rows are judged for it."""
    if not page.absolute().parent.is_dir():
        raise OutputTrouble(f"cannot write {page} (there is no folder {page.parent}); make it, or name another file")


def _show(paths: list[Path]) -> None:
    for path in paths:
        typer.echo(path)
