"""A model on disk: a folder with arrays in safetensors and a JSON manifest. Nothing in it can run code.

    manifest.json        format, version, kind, settings, size and SHA-256 of every file, and its own SHA-256
    arrays.safetensors   the numbers

Written to the side and moved into place. What is truncated, changed or newer than this version is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy

from fwl.errors import InvalidInput, OutputTrouble

FORMAT = 1
MANIFEST, ARRAYS = "manifest.json", "arrays.safetensors"
PAGE = "report.html"  # what `fwl report` adds to it; a new model takes the place of both


@dataclass(frozen=True, eq=False)
class Stored:
    """What a folder holds: the kind of model, its plain settings and its arrays by name."""

    kind: str
    settings: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]


def write_folder(folder: str | os.PathLike[str], stored: Stored) -> Path:
    """Write a model; a folder that was there is replaced if it held one."""
    target = Path(folder)
    _check_replaceable(target)
    try:
        with filled_aside(target) as beside:
            _fill(beside, stored)
    except (OSError, safetensors.SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise OutputTrouble(f"cannot write the model to {target} ({reason})") from error
    return target


def check_writable(folder: str | os.PathLike[str]) -> None:
    """Refuse a place where no model can be written: to be asked before work that takes long."""
    target = Path(folder)
    _check_replaceable(target)
    above = next(parent for parent in target.absolute().parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK):
        reason = "Permission denied" if above.is_dir() else f"{above} is not a folder"
        raise OutputTrouble(f"cannot write the model to {target} ({reason}); name another folder")


def read_folder(folder: str | os.PathLike[str]) -> Stored:
    """Read a model, if it is whole, unchanged and not from a newer version."""
    source = Path(folder)
    manifest = _read_manifest(source)
    for name, recorded in manifest["files"].items():
        _check_file(source / name, recorded)
    try:
        arrays = safetensors.numpy.load_file(source / ARRAYS)
    except (safetensors.SafetensorError, OSError) as error:
        raise OutputTrouble(f"{source / ARRAYS} cannot be read ({error}); the model has to be saved again") from error
    return Stored(manifest["kind"], manifest["settings"], arrays)


@contextmanager
def filled_aside(target: Path) -> Iterator[Path]:
    """A new folder beside the target, which takes the target's place in the end; after an error it is gone."""
    beside, old = (target.with_name(f".{target.name}.{os.getpid()}.{end}") for end in ("part", "old"))
    target.parent.mkdir(parents=True, exist_ok=True)
    beside.mkdir()
    try:
        yield beside
        _swap(target, beside, old)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _fill(folder: Path, stored: Stored) -> None:
    arrays = {name: np.asarray(array, order="C") for name, array in stored.arrays.items()}
    content = safetensors.numpy.save(arrays)  # its own save_file leaves a file that nobody else may read
    (folder / ARRAYS).write_bytes(content)
    manifest = {
        "format": FORMAT,
        "version": _version(),
        "kind": stored.kind,
        "settings": stored.settings,
        "files": {ARRAYS: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}},
    }
    text = json.dumps({**manifest, "sha256": _digest(manifest)}, indent=1, sort_keys=True, default=_as_plain)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if not path.is_file():
        raise OutputTrouble(f"{folder} is not a saved model: it has no {MANIFEST}")
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        format_, recorded = manifest["format"], manifest.pop("sha256")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OutputTrouble(f"{path} cannot be read; it is truncated or no manifest of a model") from error
    if not isinstance(format_, int) or format_ > FORMAT:
        raise OutputTrouble(
            f"{folder} has format {format_!r} and was saved by version {manifest.get('version')}; "
            f"this version reads up to format {FORMAT}: upgrade fwl, or save the model again with this one"
        )
    if recorded != _digest(manifest):
        raise OutputTrouble(f"{path} was changed after it was saved: its SHA-256 does not match; save the model again")
    return manifest


def _check_file(path: Path, recorded: dict[str, Any]) -> None:
    if not path.is_file():
        raise OutputTrouble(f"{path} is missing; the model has to be saved again")
    content = path.read_bytes()
    if len(content) != recorded["bytes"]:
        raise OutputTrouble(
            f"{path} has {len(content)} bytes, expected {recorded['bytes']}: it is truncated; save the model again"
        )
    if hashlib.sha256(content).hexdigest() != recorded["sha256"]:
        raise OutputTrouble(f"{path} was changed after it was saved: its SHA-256 does not match; save the model again")


def _swap(target: Path, new: Path, old: Path) -> None:
    """Move the new folder into place; whatever goes wrong, the target is the new one or the old one."""
    if not target.exists():
        new.replace(target)
        return
    target.replace(old)
    try:
        new.replace(target)
    except BaseException:
        old.replace(target)
        raise
    shutil.rmtree(old)


def _check_replaceable(target: Path) -> None:
    if not target.exists() or (target.is_dir() and (_is_model(target) or not any(target.iterdir()))):
        return
    raise OutputTrouble(f"{target} exists and is not a saved model; name another folder, or remove it first")


def _is_model(folder: Path) -> bool:
    """Whether a folder holds a model, whole or not, and nothing else: other programs write a manifest.json too."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        its_own = {MANIFEST, PAGE, *manifest["files"]} if {"format", "kind"} <= manifest.keys() else set()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return {path.name for path in folder.iterdir()} <= its_own


def _digest(manifest: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True, default=_as_plain).encode()).hexdigest()


def _as_plain(number: object) -> Any:
    """NumPy's numbers as Python's."""
    if isinstance(number, np.generic):
        return number.item()
    raise InvalidInput(f"a {type(number).__name__} cannot be saved as a setting; expected numbers, texts or lists")


def _version() -> str:
    try:
        return version("fwl")
    except PackageNotFoundError:
        return "not installed"
