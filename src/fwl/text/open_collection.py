"""A collection by the name that a user gives: a folder, or an id."""

from __future__ import annotations

from pathlib import Path

from fwl.errors import InvalidInput
from fwl.text.beir import BeirFolder
from fwl.text.collection import Collection
from fwl.text.ir_datasets_bridge import IrDataset


def open_collection(where: str) -> Collection:
    """The collection in a folder of BEIR's layout, or else the one that ir_datasets knows by this id.

    TREC's own files are three: open them with `TrecFiles`.
    """
    if Path(where).is_dir():
        return BeirFolder(where)
    try:
        return IrDataset(where)
    except InvalidInput as error:
        raise InvalidInput(f"{where!r} is neither a folder nor an id that can be opened: {error}") from error
