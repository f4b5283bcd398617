"""`fwl predict`: labels of new rows by a fitted model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fwl.cli.progress import progress_for, saying

if TYPE_CHECKING:
    import pyarrow as pa

    from fwl.cli.own_model import OwnModel
    from fwl.cli.roles import Sheet


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model's folder, as fit writes it.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Rows: CSV, TSV, JSONL or Parquet.")],
    out: Annotated[Path, typer.Option(help="Where the labels go: CSV, TSV, JSONL or Parquet.")],
    with_weak: Annotated[
        bool, typer.Option("--with-weak", help="The file has the weak labels too: the teacher reads them.")
    ] = False,
    encoder: Annotated[Path | None, typer.Option(help="Where the model's sentence encoder is, if it moved.")] = None,
    as_machine: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Predict the labels of a file's rows; one row each: its id or number, its label, and for classes how probable."""
    from fwl.cli.own_model import open_model
    from fwl.cli.own_tables import chunks_of
    from fwl.cli.roles import Sheet
    from fwl.cli.writing import write_chunks

    with saying(progress_for(quiet), "opening"):
        opened = open_model(model, encoder)
        rows, chunks = chunks_of(file, opened.roles.as_text)
    sheets = (Sheet(file, chunk) for chunk in chunks)
    write_chunks(_predicted(opened, sheets, with_weak), out, rows, "predicting", progress_for(quiet))
    typer.echo(json.dumps({"out": str(out), "rows": rows}) if as_machine else f"written: {out}")


def _predicted(model: OwnModel, sheets: Iterator[Sheet], with_weak: bool) -> Iterator[pa.Table]:
    from fwl.cli.own_tables import name_column

    done = 0
    for sheet in sheets:
        name, ids = name_column(sheet.table, model.roles, done)
        weak = model.weak(sheet) if with_weak else None
        yield _table(model, name, ids, sheet, weak)
        done += sheet.table.num_rows


def _table(model: OwnModel, name: str, ids: pa.Array, sheet: Sheet, weak: object) -> pa.Table:
    import pyarrow as pa

    from fwl.estimators.classifier import FWLClassifier

    samples, label = model.samples(sheet), model.roles.label
    if not isinstance(model.estimator, FWLClassifier):
        return pa.table({name: ids, label: model.told(model.estimator.predict(samples, weak))})
    probabilities = model.estimator.predict_proba(samples, weak)
    best = model.told(model.estimator.classes_[probabilities.argmax(axis=1)])
    each = {f"p({c})": column for c, column in zip(model.classes, probabilities.T, strict=True)}
    return pa.table({name: ids, label: best, "probability": probabilities.max(axis=1), **each})
