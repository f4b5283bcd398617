"""`results.json`: the one file from which every table, figure and page is rendered."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

from fwl.errors import OutputTrouble
from fwl.records import Result, Row


def as_json(result: Result) -> dict[str, Any]:
    """A result as plain JSON."""
    plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(result)))
    return plain


def write_result(result: Result, folder: Path) -> Path:
    """Write `results.json` into a run's folder."""
    text = json.dumps(as_json(result), indent=1) + "\n"
    return write_aside(folder / "results.json", text.encode())


def read_result(folder: Path) -> Result:
    """The result stored in a run's folder."""
    path = folder / "results.json"
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        rows = tuple(_row(entry) for entry in stored.pop("rows"))
        return Result(rows=rows, **stored)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise OutputTrouble(
            f"no results.json in {folder}; run `fwl reproduce EXPERIMENT --out {folder}` first"
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise OutputTrouble(f"{path} is not a results file of this version ({error})") from error


def write_aside(path: Path, content: bytes) -> Path:
    """Write to the side and move into place, so that no reader ever sees half a file."""
    beside = path.with_name(path.name + ".part")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except OSError as error:
        raise OutputTrouble(f"cannot write {path} ({error.strerror}); name another with --out") from error
    return path


def _row(entry: dict[str, Any]) -> Row:
    return Row(**{**entry, "values": tuple(entry["values"]), "better_than": tuple(entry["better_than"])})
