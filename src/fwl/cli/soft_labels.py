"""`fwl soft-labels`: what became of every weak label."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwl.cli.progress import progress_for, saying

if TYPE_CHECKING:
    import pyarrow as pa

    from fwl.cli.own_model import OwnModel
    from fwl.estimators.auditing import Audit

CHUNK = 16384


def soft_labels(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model's folder, as fit writes it.")],
    out: Annotated[Path, typer.Option(help="Where the table goes: CSV, TSV, JSONL or Parquet.")],
    weak: Annotated[Path | None, typer.Option(help="Where the file of weak rows is, if it moved.")] = None,
    witnesses: Annotated[int, typer.Option(help="Strong rows named for each, at the most.", min=1)] = 3,
    encoder: Annotated[Path | None, typer.Option(help="Where the model's sentence encoder is, if it moved.")] = None,
    as_machine: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
) -> None:
    """Judge every weak label of the model's weak file: kept, corrected or ignored, and which strong rows say so."""
    from fwl.cli.own_model import open_model
    from fwl.cli.own_tables import chunks_of
    from fwl.cli.writing import check_place, write_chunks

    check_place(out)
    with saying(progress_for(quiet), "opening"):
        opened = open_model(model, encoder)
        path = opened.weak_file(weak)
        rows, chunks = chunks_of(path, opened.roles.as_text, CHUNK)
    counts: Counter[str] = Counter()
    judged = _judged(opened, path, chunks, witnesses, counts)
    write_chunks(judged, out, rows, "judging", progress_for(quiet))
    _tell(out, rows, counts, as_machine)


def _judged(
    model: OwnModel, path: Path, chunks: Iterator[pa.Table], witnesses: int, counts: Counter[str]
) -> Iterator[pa.Table]:
    from fwl.cli.own_tables import name_column
    from fwl.cli.roles import Sheet
    from fwl.estimators.auditing import audit

    done = 0
    for chunk in chunks:
        sheet = Sheet(path, chunk)
        found = audit(model.estimator, model.samples(sheet), model.weak(sheet), witnesses)
        counts.update(found.verdict.tolist())
        name, ids = name_column(chunk, model.roles, done)
        yield _table(model, name, ids, found)
        done += chunk.num_rows


def _table(model: OwnModel, name: str, ids: Any, found: Audit) -> pa.Table:
    import pyarrow as pa

    names = model.files["strong"]["names"]
    speaking = [[names[row] for row in rows if row >= 0] for rows in found.witnesses.rows.tolist()]
    probability = {"probability": found.probability} if model.classes else {}
    return pa.table(
        {
            name: ids,
            "weak_label": model.told(found.weak_label),
            "soft_label": model.told(found.soft_label),
            **probability,
            "uncertainty": found.uncertainty,
            "fidelity": found.fidelity,
            "verdict": pa.array(found.verdict.tolist()),
            "doubt": pa.array(found.doubt, from_pandas=True),  # NaN is an empty cell
            "witnesses": pa.array(speaking, pa.list_(pa.string())),
        }
    )


def _tell(out: Path, rows: int, counts: Counter[str], as_machine: bool) -> None:
    from fwl.learn.verdicts import CORRECTED, IGNORED, KEPT

    told = {verdict: counts[verdict] for verdict in (KEPT, CORRECTED, IGNORED)}
    if as_machine:
        typer.echo(json.dumps({"out": str(out), "rows": rows, **told}))
        return
    typer.echo(f"{rows:,} weak rows: " + ", ".join(f"{count:,} {verdict}" for verdict, count in told.items()))
    typer.echo(f"written: {out}")
