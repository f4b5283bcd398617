"""`fwl fit-ranker`: learn to rank the documents of a collection."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from fwl.cli.progress import progress_for

if TYPE_CHECKING:
    from fwl.learn.search_fit import SearchReport


def fit_ranker(
    collection: Annotated[str, typer.Option(help="A folder in BEIR's layout, or an id of ir_datasets.")],
    out: Annotated[Path, typer.Option(help="Folder for the ranker.")],
    split: Annotated[str | None, typer.Option(help="Learn from the judgments of one split alone.")] = None,
    annotator: Annotated[str, typer.Option(help="auto, bm25, rm3, tfidf or binary.")] = "auto",
    encoder: Annotated[
        str, typer.Option(help="Folder of a sentence encoder; auto for the packaged one, if it is installed; none.")
    ] = "auto",
    seed: Annotated[int, typer.Option(help="For whatever is drawn.")] = 0,
    as_machine: Annotated[bool, typer.Option("--json", help="Print what was chosen as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Learn to rank a collection's documents from its judgments, if it has any; write the ranker to a folder."""
    from fwl.estimators.ranker import FWLRanker
    from fwl.learn.search_folder import check_replaceable
    from fwl.text.open_collection import open_collection

    check_replaceable(out)  # before anything that takes long
    source = open_collection(collection)
    judgments = None if split is None else source.judgments(split)
    with TemporaryDirectory() as aside:
        ranker = FWLRanker(annotator, encoder, index_folder=Path(aside, "index"), random_state=seed)
        ranker.fit(source, judgments=judgments, progress=progress_for(quiet))
        ranker.save(out)
    _show(ranker.report_, out, as_machine)


def _show(report: SearchReport, out: Path, as_machine: bool) -> None:
    if as_machine:
        typer.echo(json.dumps({"out": str(out), **report.plain()}))
        return
    for note in report.notes:
        typer.echo(f"note: {note}", err=True)
    typer.echo(report)
    typer.echo(f"written: {out}")
