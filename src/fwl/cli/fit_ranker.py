"""`fwl fit-ranker`: learn to rank the documents of a collection."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from fwl.cli.progress import progress_for

if TYPE_CHECKING:
    from fwl.learn.search_report import SearchReport


def fit_ranker(
    collection: Annotated[str, typer.Option(help="A folder in BEIR's layout, or an id of ir_datasets.")],
    out: Annotated[Path, typer.Option(help="Folder for the ranker.")],
    split: Annotated[str | None, typer.Option(help="Learn from the judgments of one split alone.")] = None,
    annotator: Annotated[str, typer.Option(help="auto, bm25, rm3, tfidf or binary.")] = "auto",
    encoder: Annotated[
        str, typer.Option(help="Folder of a sentence encoder; auto for the packaged one, if it is installed; none.")
    ] = "auto",
    student: Annotated[
        bool, typer.Option("--student", help="Train a student on weak pairs too; it is used if that pays.")
    ] = False,
    weak_queries: Annotated[
        Path | None, typer.Option(help="Queries nobody judged, for the student: one a line, or a log's columns.")
    ] = None,
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
    weak = _drawn(weak_queries, seed)
    student = student or weak is not None
    with TemporaryDirectory() as aside:
        ranker = FWLRanker(annotator, encoder, student=student, index_folder=Path(aside, "index"), random_state=seed)
        ranker.fit(source, judgments=judgments, weak_queries=weak, progress=progress_for(quiet))
        ranker.save(out)
    _show(ranker.report_, out, as_machine)


def _drawn(path: Path | None, seed: int) -> list[str] | None:
    """Weak queries of a file, some more than are kept: not all of them find enough."""
    from fwl.learn.search_student import QUERIES
    from fwl.randomness import Chance
    from fwl.text.query_log import read_queries

    return None if path is None else read_queries(path, 2 * QUERIES, chance=Chance(seed).child("weak queries"))


def _show(report: SearchReport, out: Path, as_machine: bool) -> None:
    if as_machine:
        typer.echo(json.dumps({"out": str(out), **report.plain()}))
        return
    for note in report.notes:
        typer.echo(f"note: {note}", err=True)
    typer.echo(report)
    typer.echo(f"written: {out}")
