"""`fwl rank`: rank documents for queries with a fitted ranker."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fwl.cli.progress import progress_for
from fwl.errors import InvalidInput
from fwl.progress import Progress

if TYPE_CHECKING:
    from fwl.text.collection import Query

SHOWN, IN_A_RUN = 10, 1000  # documents of a query

Ranking = list[tuple[str, float]]


def rank(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A ranker's folder, as fit-ranker writes it.")],
    queries: Annotated[
        Path | None, typer.Option(help="A file of queries: id TAB text, JSON lines (_id, text) or TREC's topics.")
    ] = None,
    query: Annotated[str | None, typer.Option(help="One query, answered on the screen.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run, in TREC's format; with --queries.")] = None,
    depth: Annotated[
        int | None, typer.Option(help="Documents of a query.  [default: 1000 in a run, 10 on the screen]")
    ] = None,
    tag: Annotated[str, typer.Option(help="The run's name.")] = "fwl",
    encoder: Annotated[Path | None, typer.Option(help="Where the ranker's sentence encoder is, if it moved.")] = None,
    as_machine: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Rank documents for the queries of a file, into a run that trec_eval reads; or for one query, on the screen."""
    from fwl.estimators.ranker import FWLRanker

    _check_asked(queries, query, out)
    asked = _asked(queries, query)
    most = depth if depth is not None else SHOWN if out is None else IN_A_RUN
    ranked = FWLRanker.load(model, encoder).rank_each(asked, most)
    if out is None:
        _show(asked[0].text, next(ranked)[1], as_machine)
        return
    silent = _write(ranked, len(asked), out, tag, progress_for(quiet))
    _tell(out, len(asked), silent, as_machine)


def _check_asked(queries: Path | None, query: str | None, out: Path | None) -> None:
    if (queries is None) == (query is None):
        came = "neither" if query is None else "both"
        raise InvalidInput(f"expected either --queries FILE or --query TEXT, got {came}")
    if (queries is None) != (out is None):
        raise InvalidInput("--queries and --out belong together: what is asked in a file is answered in a file")


def _asked(queries: Path | None, query: str | None) -> list[Query]:
    from fwl.text.collection import Query
    from fwl.text.query_file import read_query_file

    return [Query("1", query or "")] if queries is None else read_query_file(queries)


def _write(ranked: Iterable[tuple[str, Ranking]], queries: int, out: Path, tag: str, progress: Progress) -> list[str]:
    """Write the run; the ids of queries that find nothing."""
    from fwl.text.trec import write_run

    silent: list[str] = []
    progress.start(queries, "ranking")
    try:
        write_run(out, _heard(ranked, silent, progress, queries), tag)
    finally:
        progress.finish()
    return silent


def _heard(
    ranked: Iterable[tuple[str, Ranking]], silent: list[str], progress: Progress, queries: int
) -> Iterator[tuple[str, Ranking]]:
    """The rankings as they come; queries that find nothing are remembered, and if all are such there is no run."""
    for name, ranking in ranked:
        silent += [] if ranking else [name]
        yield name, ranking
        progress.advance()
    if len(silent) == queries:
        raise InvalidInput(
            f"none of {queries} queries finds anything, so there is no run to write; "
            "none of their words is in any document"
        )


def _tell(out: Path, queries: int, silent: list[str], as_machine: bool) -> None:
    from fwl.text.collection import named

    if as_machine:
        typer.echo(json.dumps({"out": str(out), "queries": queries, "without_hits": silent}))
        return
    if silent:
        typer.echo(f"note: {len(silent)} of {queries} queries find nothing (first: {named(silent)})", err=True)
    typer.echo(f"written: {out}")


def _show(query: str, ranking: Ranking, as_machine: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not ranking:
        raise InvalidInput(f"query {query!r} finds nothing: none of its words is in any document; try others")
    rows = [{"rank": place, "document": name, "score": score} for place, (name, score) in enumerate(ranking, 1)]
    if as_machine:
        typer.echo(json.dumps({"query": query, "ranking": rows}))
        return
    table = Table("rank", "document", "score")
    for place, (name, score) in enumerate(ranking, 1):
        table.add_row(str(place), Text(name), f"{score:.4f}")  # an id may look like markup
    Console(width=None if Console().is_terminal else 120).print(table)
