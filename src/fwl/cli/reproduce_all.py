"""`fwl reproduce all`: every experiment in order, and one page of all results."""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fwl.cli.progress import Bar
from fwl.errors import FWLError, InvalidInput
from fwl.progress import Progress, Silent

if TYPE_CHECKING:
    from fwl.experiments.suite import Ended, Stand, Standing
    from fwl.records import Result

ALL = "all"


class _SuiteBar(Bar):
    """A progress bar that tells beside each piece of work how far the whole is."""

    _standing = ""
    _what = ""

    def stand(self, standing: Standing) -> None:
        self._standing = str(standing)
        self._bar.update(self._task, description=self._told())

    def start(self, total: int, what: str) -> None:
        self._what = what
        super().start(total, self._told())

    def _told(self) -> str:
        return f"{self._standing}; {self._what}"


class _Lines:
    """A line on standard error for each entry: what a log should show."""

    _last = 0

    def stand(self, standing: Standing) -> None:
        if standing.number != self._last:
            self._last = standing.number
            typer.echo(str(standing), err=True)


def reproduce_all(
    data: Path | None,
    out: Path | None,
    size: str,
    seeds: int | None,
    resume: bool,
    jobs: int,
    *,
    as_machine: bool,
    quiet: bool,
    only_for_one: bool,
) -> None:
    """Run the suite, and write results.md and results.html beside its runs."""
    from fwl.experiments.suite import JOURNAL, entries, run_suite
    from fwl.report.results_page import write_results_page
    from fwl.report.store import read_result

    if only_for_one:
        raise InvalidInput(
            "all runs every experiment as it is declared; --set and --methods are for one: `fwl reproduce EXPERIMENT`"
        )
    suite, folder = entries(size, data), out or Path("runs") / ALL
    progress, stand = _listeners(quiet)
    try:
        ended = run_suite(
            suite,
            folder,
            size=size,
            keep=_keep,
            seeds=seeds,
            resume=resume,
            jobs=jobs,
            progress=progress,
            stand=stand,
        )
    except KeyboardInterrupt:
        typer.echo(f"interrupted; the same command with --resume goes on from {folder / JOURNAL}", err=True)
        raise typer.Exit(130) from None
    runs = {name: read_result(folder / name) for name in ended.finished}
    written = write_results_page(folder, runs) if runs else []
    _show(runs, written, as_machine)
    _tell_failures(ended)


def _listeners(quiet: bool) -> tuple[Progress, Stand]:
    if quiet:
        return Silent(), lambda _: None
    if not sys.stderr.isatty():
        return Silent(), _Lines().stand
    bar = _SuiteBar()
    return bar, bar.stand


def _keep(result: Result, folder: Path) -> None:
    from fwl.report.page import write_report
    from fwl.report.store import write_result

    write_report(result, folder)
    write_result(result, folder)  # last: an entry with its results.json has everything


def _show(runs: dict[str, Result], written: list[Path], as_machine: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    from fwl.report.claims import judge
    from fwl.report.store import as_json

    judged = judge(runs.values())
    found = [(entry.claim, finding) for entry in judged for finding in entry.findings]
    if as_machine:
        claims = [{"claim": c.text, "data": f.data, "verdict": f.verdict, "figures": f.figures} for c, f in found]
        typer.echo(json.dumps({"runs": {name: as_json(run) for name, run in runs.items()}, "claims": claims}))
        return
    table = Table("the paper says", "on", "here", title="The claims of the paper's analysis", title_justify="left")
    for claim, finding in found:
        table.add_row(claim.text.replace("`", ""), finding.data, finding.verdict)
    console = Console(width=None if Console().is_terminal else 120)
    console.print(table)
    console.print("written: " + ", ".join(str(path) for path in written), highlight=False, soft_wrap=True)


def _tell_failures(ended: Ended) -> None:
    """Every error, and in the end the exit code that a run of its own would have had."""
    if not ended.failed:
        return
    for name, error in ended.failed.items():
        if not isinstance(error, FWLError):
            traceback.print_exception(error)
        typer.echo(f"error: {name}: {error}", err=True)
    typer.echo("the same command with --resume runs what is missing", err=True)
    raise typer.Exit(2 if all(isinstance(error, FWLError) for error in ended.failed.values()) else 1)
