"""Lines of a text file, plain or gzipped, each with its number: whatever is wrong with a line can name it."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from fwl.errors import InvalidInput

GZIP, BYTE_ORDER_MARK = b"\x1f\x8b", b"\xef\xbb\xbf"
ENCODING_REMEDY = "convert the file to UTF-8, e.g. with iconv -f latin-1 -t utf-8"


def open_bytes(path: str | os.PathLike[str]) -> IO[bytes]:
    """A file's content, unpacked if it is gzipped: its first bytes say so, not its name."""
    try:
        with Path(path).open("rb") as file:
            packed = file.read(2) == GZIP
        return cast(IO[bytes], gzip.open(path, "rb")) if packed else Path(path).open("rb")
    except OSError as error:
        raise InvalidInput(f"{path} cannot be opened ({error.strerror}); expected a file that can be read") from error


@contextmanager
def damage_told(path: str | os.PathLike[str]) -> Iterator[None]:
    """While a file is read: what cannot be unpacked is refused with its name."""
    try:
        yield
    except (EOFError, OSError, zlib.error) as error:
        raise InvalidInput(f"{path} is damaged or cut off ({error}); copy it again") from error


def numbered_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, bytes]]:
    """Every line with its number from 1, one at a time: the file may be larger than the memory."""
    with open_bytes(path) as file, damage_told(path):
        for number, line in enumerate(file, 1):
            yield number, line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line


def decoded(line: bytes, path: str | os.PathLike[str], number: int) -> str:
    """A line as text; what is not UTF-8 is named by line and byte."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{path}, line {number}: byte 0x{line[error.start]:02x} at position {error.start} is not UTF-8; "
            f"{ENCODING_REMEDY}"
        ) from error


def text_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Every line that is not blank, as text without its end, with its number."""
    for number, line in numbered_lines(path):
        if line.strip():
            yield number, decoded(line.rstrip(b"\r\n"), path, number)


def glance(value: str | bytes, most: int = 60) -> str:
    """A value as a message quotes it: not longer than a line."""
    text = repr(value)
    return text if len(text) <= most else text[: most - 3] + "..."
