"""Which kind of table a file holds: its ending says so."""

from __future__ import annotations

import os
from pathlib import Path

from fwl.errors import InvalidInput

CSV, TSV, JSONL, PARQUET = "csv", "tsv", "jsonl", "parquet"
ENDINGS = {".csv": CSV, ".tsv": TSV, ".jsonl": JSONL, ".ndjson": JSONL, ".parquet": PARQUET, ".pq": PARQUET}
DELIMITERS = {CSV: ",", TSV: "\t"}


def format_of(path: str | os.PathLike[str]) -> str:
    """The format of a table by its name's ending; a `.gz` behind it changes nothing, but for Parquet.

    >>> format_of("rows.csv"), format_of("rows.jsonl.gz")
    ('csv', 'jsonl')
    """
    name = Path(path).name.lower()
    ending = Path(name.removesuffix(".gz")).suffix
    if ending not in ENDINGS or (ENDINGS[ending] == PARQUET and name.endswith(".gz")):
        known = ", ".join(ENDINGS)
        raise InvalidInput(f"{path}: cannot tell what kind of table this is; expected a name that ends in {known}")
    return ENDINGS[ending]
