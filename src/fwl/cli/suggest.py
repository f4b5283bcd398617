"""`fwl suggest`: which rows to label by hand next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwl.cli.progress import progress_for, saying
from fwl.errors import InvalidInput

if TYPE_CHECKING:
    import pyarrow as pa

    from fwl.cli.own_model import OwnModel
    from fwl.cli.roles import Sheet
    from fwl.learn.suggest import Suggestions

GAIN, WEAK_LABEL = "gain", "weak_label"


def suggest(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model's folder, as fit writes it.")],
    out: Annotated[Path, typer.Option(help="Where the rows go: CSV, TSV, JSONL or Parquet.")],
    n: Annotated[int, typer.Option("-n", help="How many rows.", min=1)] = 50,
    weak: Annotated[Path | None, typer.Option(help="Where the file of weak rows is, if it moved.")] = None,
    strong: Annotated[
        list[Path] | None, typer.Option(help="Where the strong files are, if they moved; may be given often.")
    ] = None,
    encoder: Annotated[Path | None, typer.Option(help="Where the model's sentence encoder is, if it moved.")] = None,
    as_machine: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Write the weak rows whose label by hand would teach most, with an empty column for it; fill it in, and fit again.

    The filled file goes to `fwl fit` as one more --strong.
    """
    from fwl.cli.own_model import open_model
    from fwl.cli.own_tables import read_sheet
    from fwl.cli.writing import check_place
    from fwl.tables.writing import write_table

    check_place(out)
    progress = progress_for(quiet)
    with saying(progress, "reading"):
        opened = open_model(model, encoder)
        pool = read_sheet(opened.weak_file(weak), opened.roles.as_text)
        known = _known(opened, pool, strong or [Path(path) for path in opened.files["strong"]["paths"]])
    with saying(progress, "choosing"):
        found = _found(opened, pool, known, n)
    write_table(_table(opened, pool, found), out)
    _tell(opened, out, found, as_machine)


def _known(model: OwnModel, pool: Sheet, strong: list[Path]) -> Any:
    """Which rows of the pool have a strong label already, by their ids and by what they are, [M]."""
    import numpy as np

    from fwl.estimators.fitting import read_samples
    from fwl.estimators.overlap import twins

    known = np.zeros(pool.table.num_rows, dtype=bool)
    if model.roles.id is not None:
        known |= np.isin(pool.table[model.roles.id].to_pylist(), model.files["strong"]["names"])
    labelled = read_samples(model.estimator, _strong_samples(model, strong))
    known[list(twins(read_samples(model.estimator, model.samples(pool)), labelled))] = True
    return known


def _strong_samples(model: OwnModel, paths: list[Path]) -> Any:
    from fwl.cli.own_tables import read_sheet, samples_of, strong_rows

    for path in paths:
        if not path.is_file():
            raise InvalidInput(f"strong rows of {model.folder} were in {path}, which is not there; name it by --strong")
    sheets = [read_sheet(path, model.roles.as_text) for path in paths]
    for sheet in sheets:
        sheet.check_has([model.roles.label, *model.roles.samples])
    return samples_of(strong_rows(sheets, model.roles, model.task).table, model.roles)


def _found(model: OwnModel, pool: Sheet, known: Any, n: int) -> Suggestions:
    import numpy as np

    from fwl.estimators.auditing import suggest_rows

    allowed = np.flatnonzero(~known)
    if n > len(allowed):
        raise InvalidInput(f"-n {n}: expected at most {len(allowed)}, the weak rows that have no strong label yet")
    return suggest_rows(model.estimator, model.samples(pool), n, weak=model.weak(pool), allowed=allowed)


def _table(model: OwnModel, pool: Sheet, found: Suggestions) -> pa.Table:
    """The rows as they stand in the weak file, the label's column empty and in front."""
    import pyarrow as pa

    from fwl.cli.own_tables import name_column

    label, rows = model.roles.label, pool.table.take(found.rows)
    name, ids = name_column(pool.table, model.roles, 0)
    columns = {name: ids.take(pa.array(found.rows)), label: model.told([None] * len(found.rows))}
    beside = {column: rows[column] for column in rows.column_names if column not in columns}
    if label in model.roles.weak_labels:
        beside[WEAK_LABEL] = rows[label]
    return pa.table({**columns, **beside, GAIN: found.gain})


def _tell(model: OwnModel, out: Path, found: Suggestions, as_machine: bool) -> None:
    removed = float(found.gain.sum())
    if as_machine:
        typer.echo(json.dumps({"out": str(out), "rows": len(found.rows), "gain": removed}))
        return
    typer.echo(
        f"{len(found.rows):,} rows to label, expected to remove {removed:.0%} of the uncertainty over the weak rows; "
        f"fill in column {model.roles.label!r}, then fit again with this file as one more --strong"
    )
    typer.echo(f"written: {out}")
