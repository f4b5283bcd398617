"""An index on disk: a folder with raw little-endian arrays, which are mapped, and a JSON manifest.

    manifest.json   format, version, kind, settings, size and SHA-256 of every file, and its own SHA-256
    NAME.bin        one array each

Written to the side and moved into place. What is truncated, changed or newer than this version is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from fwl.errors import InvalidInput, OutputTrouble
from fwl.storage import MANIFEST

FORMAT = 1
KIND = "inverted index"
DTYPES = {
    "document_ids": "u1",
    "document_id_ends": "<i8",
    "terms": "u1",
    "term_ends": "<i8",
    "lengths": "<i4",
    "offsets": "<i8",
    "documents": "<i4",
    "frequencies": "<u2",
}
Arrays = dict[str, npt.NDArray[Any]]


class Writer:
    """Files of a folder that nobody sees before it is whole.

    Attributes:
        target: the folder that it will be.
        folder: where its files are meanwhile.
    """

    def __init__(self, target: Path, folder: Path) -> None:
        self.target, self.folder = target, folder
        self._files: dict[str, IO[bytes]] = {}
        self._hashes = {name: hashlib.sha256() for name in DTYPES}

    def append(self, name: str, content: bytes | npt.NDArray[Any]) -> None:
        """More of an array; every name of `DTYPES` is written in the end, empty if nothing came."""
        data = np.ascontiguousarray(content, DTYPES[name]).data if isinstance(content, np.ndarray) else content
        try:
            if name not in self._files:
                self._files[name] = _path(self.folder, name).open("wb")
            self._files[name].write(data)
        except OSError as error:
            raise _trouble(self.target, error) from error
        self._hashes[name].update(data)

    def mapped(self, name: str) -> npt.NDArray[Any]:
        """What was written so far."""
        self._files[name].flush()
        return _mapped(self.folder, name)

    def close(self) -> None:
        """Nothing more comes."""
        for file in self._files.values():
            file.close()

    def seal(self, settings: Mapping[str, Any]) -> None:
        """Write the manifest."""
        for name in DTYPES:
            self.append(name, b"")
        self.close()
        files = {
            _path(self.folder, name).name: {"bytes": _path(self.folder, name).stat().st_size, "sha256": h.hexdigest()}
            for name, h in self._hashes.items()
        }
        manifest = {"format": FORMAT, "version": _version(), "kind": KIND, "settings": settings, "files": files}
        text = json.dumps({**manifest, "sha256": _digest(manifest)}, indent=1, sort_keys=True)
        (self.folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


@contextmanager
def writing(folder: str | os.PathLike[str], settings: Mapping[str, Any]) -> Iterator[Writer]:
    """A writer whose files become the folder if all goes well; an index that was there is replaced."""
    target = Path(folder)
    _check_settings(settings)
    _check_replaceable(target)
    beside, old = (target.with_name(f".{target.name}.{os.getpid()}.{end}") for end in ("part", "old"))
    writer = Writer(target, beside)
    with output_told(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        beside.mkdir()
    try:
        yield writer
        with output_told(target):
            writer.seal(settings)
            _swap(target, beside, old)
    finally:
        writer.close()
        shutil.rmtree(beside, ignore_errors=True)


def read_arrays(folder: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Settings and mapped arrays, if all of it is whole, unchanged and not from a newer version."""
    source = Path(folder)
    manifest = _read_manifest(source)
    for name, recorded in manifest["files"].items():
        _check_file(source / name, recorded)
    missing = {_path(source, name).name for name in DTYPES} - set(manifest["files"])
    if missing:
        raise OutputTrouble(f"{source} has no {', '.join(sorted(missing))}; the index has to be built again")
    return manifest["settings"], {name: _mapped(source, name) for name in DTYPES}


@contextmanager
def output_told(target: Path) -> Iterator[None]:
    """While something is written: what the system refuses is told with the folder's name."""
    try:
        yield
    except OutputTrouble:
        raise
    except OSError as error:
        raise _trouble(target, error) from error


def _trouble(target: Path, error: OSError) -> OutputTrouble:
    return OutputTrouble(f"cannot write the index to {target} ({error.strerror or error}); free space, or name another")


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name}.bin"


def _mapped(folder: Path, name: str) -> npt.NDArray[Any]:
    """A file as an array that is read as it is needed; an empty file cannot be mapped."""
    path = _path(folder, name)
    if path.stat().st_size == 0:
        return np.empty(0, dtype=DTYPES[name])
    return np.memmap(path, dtype=DTYPES[name], mode="r").view(np.ndarray)


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if not path.is_file():
        raise OutputTrouble(f"{folder} is not a saved index: it has no {MANIFEST}")
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        format_, kind, recorded = manifest["format"], manifest["kind"], manifest.pop("sha256")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OutputTrouble(f"{path} cannot be read; it is truncated or no manifest of an index") from error
    if kind != KIND:
        raise OutputTrouble(f"{folder} holds a {kind!r}, expected an {KIND!r}")
    if not isinstance(format_, int) or format_ > FORMAT:
        raise OutputTrouble(
            f"{folder} has format {format_!r} and was saved by version {manifest.get('version')}; "
            f"this version reads up to format {FORMAT}: upgrade fwl, or build the index again with this one"
        )
    if recorded != _digest(manifest):
        raise OutputTrouble(f"{path} was changed after it was saved: its SHA-256 does not match; build the index again")
    return manifest


def _check_file(path: Path, recorded: dict[str, Any]) -> None:
    if not path.is_file():
        raise OutputTrouble(f"{path} is missing; the index has to be built again")
    size = path.stat().st_size
    if size != recorded["bytes"]:
        raise OutputTrouble(
            f"{path} has {size} bytes, expected {recorded['bytes']}: it is truncated; build the index again"
        )
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != recorded["sha256"]:
        raise OutputTrouble(f"{path} was changed after it was saved: its SHA-256 does not match; build the index again")


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


def _check_settings(settings: Mapping[str, Any]) -> None:
    try:
        json.dumps(settings)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"settings: expected what JSON can hold ({error})") from error


def _check_replaceable(target: Path) -> None:
    if not target.exists() or (target.is_dir() and (_is_index(target) or not any(target.iterdir()))):
        return
    raise OutputTrouble(f"{target} exists and is not a saved index; name another folder, or remove it first")


def _is_index(folder: Path) -> bool:
    """Whether a folder holds an index, whole or not, and nothing else."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        its_own = {MANIFEST, *manifest["files"]} if manifest["kind"] == KIND else set()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False
    return {path.name for path in folder.iterdir()} <= its_own


def _digest(manifest: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def _version() -> str:
    try:
        return version("fwl")
    except PackageNotFoundError:
        return "not installed"
