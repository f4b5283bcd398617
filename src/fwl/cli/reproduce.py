"""`fwl reproduce`: run one of the paper's experiments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fwl.cli.progress import progress_for
from fwl.cli.reproduce_all import ALL, reproduce_all

if TYPE_CHECKING:
    from fwl.records import Result

# The names of the catalogue: to import that takes seconds, and --help should not.
EXPERIMENTS = (
    *("toy", "sentiment", "ranking", "beta", "learning-curve", "annotators"),
    *("sampling", "teachers", "sentiment-curve", "gaps"),
)


def reproduce(
    experiment: Annotated[str, typer.Argument(help=f"One of: {', '.join(EXPERIMENTS)}; or {ALL}, in order.")],
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the data; for an analysis of all tasks, one with sentiment and ranking/COLLECTION in it."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the results.  [default: runs/EXPERIMENT]")] = None,
    size: Annotated[str, typer.Option(help="tiny, reduced or paper.")] = "paper",
    seeds: Annotated[int | None, typer.Option(help="How many seeds, instead of the size's number.")] = None,
    methods: Annotated[str | None, typer.Option(help="Which rows, with commas between.")] = None,
    assignments: Annotated[
        list[str] | None, typer.Option("--set", help="key=value, task.key=value or @tuned.json; may be given often.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted run in the same folder.")] = False,
    jobs: Annotated[int, typer.Option(help="Processes; -1 for one per core.")] = -1,
    as_machine: Annotated[bool, typer.Option("--json", help="Print results.json instead of a table.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Run one of the paper's experiments; write results.json, figures and a page."""
    from fwl.experiments.studies import run
    from fwl.report.page import write_report
    from fwl.report.store import write_result

    if experiment == ALL:
        own = bool(methods or assignments)
        reproduce_all(data, out, size, seeds, resume, jobs, as_machine=as_machine, quiet=quiet, only_for_one=own)
        return
    folder = out or Path("runs") / experiment
    try:
        result = run(
            experiment,
            folder,
            data=data,
            size=size,
            seeds=seeds,
            methods=None if methods is None else [name.strip() for name in methods.split(",")],
            assignments=assignments or (),
            resume=resume,
            jobs=jobs,
            progress=progress_for(quiet),
            note=say,
        )
    except KeyboardInterrupt:
        typer.echo(f"interrupted; the same command with --resume goes on from what is in {folder}", err=True)
        raise typer.Exit(130) from None
    written = [write_result(result, folder), *write_report(result, folder)]
    _show(result, written, as_machine)


def say(note: str) -> None:
    """What a user should know, beside what was asked for."""
    typer.echo(f"note: {note}", err=True)


def _show(result: Result, written: list[Path], as_machine: bool) -> None:
    from rich.console import Console

    from fwl.report.page import claims
    from fwl.report.store import as_json
    from fwl.report.tables import screen_table

    if as_machine:
        typer.echo(json.dumps(as_json(result)))
        return
    console = Console(width=None if Console().is_terminal else 120)
    console.print(screen_table(result))
    for claim in claims(result):
        console.print(claim, highlight=False)
    console.print("written: " + ", ".join(str(path) for path in written), highlight=False, soft_wrap=True)
