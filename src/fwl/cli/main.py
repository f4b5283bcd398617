"""Entry point: the commands, and what becomes of errors.

Commands import what they work with when they are called: `fwl --help` answers at once.
"""

from __future__ import annotations

import sys

import typer

from fwl.cli.fit import fit
from fwl.cli.fit_ranker import fit_ranker
from fwl.cli.predict import predict
from fwl.cli.rank import rank
from fwl.cli.report import report
from fwl.cli.reproduce import reproduce
from fwl.cli.soft_labels import soft_labels
from fwl.cli.suggest import suggest
from fwl.cli.tune import tune
from fwl.errors import FWLError

app = typer.Typer(
    help="Learn from few labels you trust and many you don't.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(fit)
app.command()(predict)
app.command("soft-labels")(soft_labels)
app.command()(suggest)
app.command()(reproduce)
app.command()(tune)
app.command()(report)
app.command("fit-ranker")(fit_ranker)
app.command("rank")(rank)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fwl {_installed()}")
        raise typer.Exit


def _installed() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("fwl")
    except PackageNotFoundError:
        return "not installed"


@app.callback()
def _common(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Say which version."),
) -> None:
    pass


def run() -> None:
    """Exit 0 done, 2 the user's input is wrong (one message, no traceback), 130 interrupted, 1 a fault of ours."""
    try:
        app()
    except FWLError as error:
        from rich.console import Console

        Console(stderr=True, soft_wrap=True).print(f"error: {error}", markup=False, highlight=False)
        sys.exit(2)
