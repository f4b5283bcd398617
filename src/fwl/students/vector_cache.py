"""Sentence vectors on disk, by content: what was encoded once is read the next time.

    CACHE/<digest of the encoder>/<unique name>.safetensors    keys [n, 16] and vectors [n, D], a few thousand rows

A key is a digest of its text. Files are written to the side, moved into place and never changed after, so a kill loses
at most the part in work, and processes that run at once only ever add to each other. A file that is damaged counts as
not there: its texts are encoded again.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors
import safetensors.numpy

from fwl.errors import OutputTrouble
from fwl.progress import Progress, Silent
from fwl.students.encoder import SentenceEncoder, Vectors, as_texts

PART = 4096  # texts between two writes
KEY_BYTES = 16
_SUFFIX = ".safetensors"

Places = dict[bytes, int]  # where each text's vector belongs, by the text's key


def cached_vectors(
    texts: Iterable[str],
    encoder: SentenceEncoder,
    cache_folder: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Vectors:
    """What `encoder.vectors` gives, [N, columns], encoding only texts that this encoder has not seen before.

    Args:
        texts: one for each row; a text that comes twice is encoded once.
        encoder: a cache belongs to its weights, config, tokeniser, length and precision.
        cache_folder: where vectors are kept; `default_cache_folder()` by default.
        progress: hears of different texts as they are found or stored.
    """
    given, listener = as_texts(texts), progress or Silent()
    folder = Path(default_cache_folder() if cache_folder is None else cache_folder) / encoder.digest[:32]
    first, same_as = _places(given)
    vectors = np.empty((len(given), encoder.columns), dtype=np.float32)
    listener.start(len(first), "encoding")
    try:
        missing = _fill_from(folder, first, vectors)
        listener.advance(len(first) - len(missing))
        _encode(given, missing, encoder, folder, vectors, listener)
    finally:
        listener.finish()
    again = np.flatnonzero(same_as != np.arange(len(given)))
    vectors[again] = vectors[same_as[again]]
    return vectors


def keep_newest(count: int, cache_folder: Path) -> None:
    """Forget all encoders in a cache but those whose vectors were written last."""
    written = {folder: _age(folder) for folder in cache_folder.glob("*/")}
    for folder in sorted(written, key=written.__getitem__, reverse=True)[count:]:
        shutil.rmtree(folder, ignore_errors=True)  # whoever reads it now encodes again


def _age(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:  # another process has just forgotten it
        return 0.0


def default_cache_folder() -> Path:
    """`fwl/encoder` in the user's cache: XDG_CACHE_HOME if that is set, else ~/.cache."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "fwl" / "encoder"


def _places(texts: list[str]) -> tuple[Places, npt.NDArray[np.intp]]:
    """The first row of each different text by its key, and for every row the first with the same text."""
    first: Places = {}
    same_as = np.empty(len(texts), dtype=np.intp)
    for row, text in enumerate(texts):
        same_as[row] = first.setdefault(_key(text), row)
    return first, same_as


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=KEY_BYTES).digest()


def _fill_from(folder: Path, wanted: Places, vectors: Vectors) -> Places:
    """Read what is on disk into its rows, one file at a time; returns what is missing."""
    missing = dict(wanted)
    for path in sorted(folder.glob(f"*{_SUFFIX}")) if missing else ():
        for key, vector in _read(path, missing, vectors.shape[1]).items():
            vectors[missing.pop(key)] = vector
        if not missing:
            break
    return missing


def _read(path: Path, wanted: Places, width: int) -> dict[bytes, Vectors]:
    """The wanted vectors of one file; none of a file that is damaged. Only keys are read where nothing is wanted."""
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            keys: npt.NDArray[np.uint8] = file.get_tensor("keys")
            found = {key: row for row, key in enumerate(_as_bytes(keys)) if key in wanted}
            if not found:
                return {}
            stored: Vectors = file.get_tensor("vectors")
            recorded = (file.metadata() or {}).get("sha256")
    except (safetensors.SafetensorError, OSError):
        return {}
    if stored.shape != (len(keys), width) or recorded != _checksum(keys, stored):
        return {}
    return {key: stored[row] for key, row in found.items()}


def _encode(
    texts: list[str], missing: Places, encoder: SentenceEncoder, folder: Path, vectors: Vectors, listener: Progress
) -> None:
    """Encode the missing texts a part at a time, each stored before the next is begun."""
    entries = list(missing.items())
    for start in range(0, len(entries), PART):
        keys, rows = zip(*entries[start : start + PART], strict=True)
        part = encoder.vectors([texts[row] for row in rows])
        _write(folder, keys, part)
        vectors[list(rows)] = part
        listener.advance(len(rows))


def _write(folder: Path, keys: Iterable[bytes], vectors: Vectors) -> None:
    name = uuid.uuid4().hex  # its own: whoever else writes at the same time cannot meet it
    table = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(len(vectors), KEY_BYTES)
    beside = folder / f".{name}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            arrays: dict[str, npt.NDArray[Any]] = {"keys": table, "vectors": vectors}
            beside.write_bytes(safetensors.numpy.save(arrays, metadata={"sha256": _checksum(table, vectors)}))
            beside.replace(folder / f"{name}{_SUFFIX}")
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise OutputTrouble(
            f"cannot write vectors to {folder} ({error.strerror or error}); name another cache_folder, or free space"
        ) from error


def _as_bytes(keys: npt.NDArray[np.uint8]) -> list[bytes]:
    content = keys.tobytes()
    return [content[i : i + KEY_BYTES] for i in range(0, len(content), KEY_BYTES)]


def _checksum(keys: npt.NDArray[np.uint8], vectors: Vectors) -> str:
    return hashlib.sha256(keys.tobytes() + vectors.tobytes()).hexdigest()
