"""`fwl tune`: find an experiment's best student on validation data."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fwl.cli.progress import progress_for
from fwl.cli.reproduce import say

if TYPE_CHECKING:
    from fwl.experiments.tuned import Tuned

SHOWN = 5  # trials in the table


def tune(
    experiment: Annotated[str, typer.Argument(help="One with a student to tune, such as sentiment.")],
    data: Annotated[Path | None, typer.Option(help="Folder of the data.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the results.  [default: runs/tune-EXPERIMENT]")] = None,
    size: Annotated[str, typer.Option(help="tiny, reduced or paper.")] = "paper",
    trials: Annotated[int, typer.Option(help="How many, all in all.")] = 24,
    q: Annotated[int, typer.Option("-q", help="Trials that are suggested together and run in parallel.")] = 2,
    search: Annotated[str, typer.Option(help="bandit (a Gaussian process suggests) or random.")] = "bandit",
    assignments: Annotated[
        list[str] | None, typer.Option("--set", help="key=value, which is then not tuned; may be given often.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of the suggestions and of every trial.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on after the trials that are in the folder.")] = False,
    as_machine: Annotated[bool, typer.Option("--json", help="Print tuned.json instead of a table.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Tune an experiment's student on validation data; write tuned.json, for `fwl reproduce --set @tuned.json`."""
    from fwl.experiments.data_folders import data_setting
    from fwl.experiments.tune import JOURNAL, find_tunable, plan_tuning, run_tuning

    declared = find_tunable(experiment)
    given = [
        *(assignments or ()),
        *data_setting(declared, data, size, say),
        *([] if seed is None else [f"seed={seed}"]),
    ]
    plan = plan_tuning(declared, size=size, trials=trials, q=q, search=search, assignments=given)
    folder = out or Path("runs") / f"tune-{experiment}"
    if len(plan.grid) < trials:
        typer.echo(f"note: the grid has {len(plan.grid)} points; that is as many trials as there will be", err=True)
    try:
        tuned = run_tuning(plan, folder, resume=resume, progress=progress_for(quiet))
    except KeyboardInterrupt:
        typer.echo(f"interrupted; the same command with --resume goes on from {folder / JOURNAL}", err=True)
        raise typer.Exit(130) from None
    _show(tuned, _write(tuned, folder), data, as_machine)


def _write(tuned: Tuned, folder: Path) -> list[Path]:
    from fwl.experiments.tuned import FILE
    from fwl.report.figures import as_bytes
    from fwl.report.store import write_aside
    from fwl.report.tuning import draw_trials

    title = f"Tuning {tuned.task} ({tuned.search}, {tuned.q} at a time)"
    figure = draw_trials([trial.value for trial in tuned.trials], tuned.metric, title)
    text = json.dumps(tuned.as_json(), indent=1) + "\n"
    pictures = [write_aside(folder / f"tuning.{kind}", as_bytes(figure, kind)) for kind in ("png", "svg")]
    return [write_aside(folder / FILE, text.encode()), *pictures]


def _show(tuned: Tuned, written: list[Path], data: Path | None, as_machine: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    if as_machine:
        typer.echo(json.dumps(tuned.as_json()))
        return
    best = tuned.best_first()
    names = (name.replace("_", " ") for name in best[0].settings)  # headings break at spaces
    table = Table("trial", tuned.metric, "seconds", *names, title=f"The best of {len(tuned.trials)} trials")
    for trial in best[:SHOWN]:
        values = (_as_text(value) for value in trial.settings.values())
        table.add_row(str(trial.number + 1), f"{trial.value:.4f}", f"{trial.seconds:.0f}", *values)
    console = Console(width=None if Console().is_terminal else 120)
    console.print(table)
    failed = len(tuned.trials) - len(best)
    told = ", ".join(f"{name}={_as_text(value)}" for name, value in tuned.settings.items())
    console.print(f"best: {told}" + (f"; {failed} trials failed" if failed else ""), highlight=False, soft_wrap=True)
    console.print("written: " + ", ".join(str(path) for path in written), highlight=False, soft_wrap=True)
    source = "" if data is None else f" --data {shlex.quote(str(data))}"
    command = f"fwl reproduce {tuned.task} --size {tuned.size}{source} --set @{shlex.quote(str(written[0]))}"
    console.print(f"next: {command}", highlight=False, soft_wrap=True)


def _as_text(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
