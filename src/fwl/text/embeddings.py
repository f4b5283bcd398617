"""Word embeddings: read from the usual files, trained on one's own texts, laid out for a vocabulary.

A file is known by its content. It is read as a stream and only the rows that are asked for are kept, so that its size
does not matter. Nothing in it can run code: object arrays are refused.
"""

from __future__ import annotations

import math
import os
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from fwl.errors import InvalidInput, NotFinite, WrongShape
from fwl.randomness import Chance
from fwl.text.files import damage_told, decoded, glance, numbered_lines, open_bytes
from fwl.text.vocabulary import FIRST, PADDING, Vocabulary

NPY = b"\x93NUMPY"
HEADER = re.compile(rb"(\d+)[ \t]+(\d+)\s*")
SNIFFED = 2**16  # bytes looked at to know the format
CHUNK = 2**20  # bytes of a binary file read at a time
LONGEST_WORD = 10_000  # bytes; a binary file without a space in so many is no list of words
LONGEST_TEXT = 10_000  # tokens; gensim drops the rest of a longer text in silence
SCALE_ROWS = 10_000  # rows that are enough to tell a scale
KNOWN_FORMATS = (
    "word2vec text or binary (first line: words columns), GloVe text (word number number ...) or .npy with a word list"
)

Path_ = str | os.PathLike[str]
Row = tuple[int, bytes, bytes]  # its number, its word, its numbers as the file has them


@dataclass(frozen=True, eq=False)
class Embeddings:
    """A vector for each of some words.

    Attributes:
        words: in the order of the rows.
        vectors: [words, m], possibly still on disk (a memory map).
    """

    words: tuple[str, ...]
    vectors: npt.NDArray[Any]

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or self.vectors.dtype.kind != "f":
            shape, kind = self.vectors.shape, self.vectors.dtype
            raise WrongShape(f"embeddings: expected a matrix of floats [words, m], got shape {shape} of {kind}")
        if len(self.words) != len(self.vectors):
            raise WrongShape(
                f"embeddings: {len(self.words)} words and {len(self.vectors)} vectors; expected one vector a word"
            )

    @cached_property
    def row(self) -> dict[str, int]:
        """The row of each word; of a word that stands there twice, the first."""
        return {word: number for number, word in reversed(list(enumerate(self.words)))}

    def coverage(self, vocabulary: Vocabulary) -> float:
        """The share of a vocabulary's words that have a vector."""
        known = sum(word in self.row for word in vocabulary.words)
        return known / len(vocabulary.words) if vocabulary.words else 1.0

    def for_vocabulary(
        self, vocabulary: Vocabulary, chance: Chance, like: npt.NDArray[Any] | None = None
    ) -> npt.NDArray[np.float32]:
        """A matrix [V, m] to start a student's embedding from, a row for each id.

        Known words have their vectors; the others, and the unknown word, are normal draws of the same scale, so that
        they neither drown the known ones nor vanish beside them; padding is zero.

        Args:
            vocabulary: which word has which id.
            chance: where the draws come from; the draw of an id does not depend on which words are known.
            like: vectors whose scale the draws have; by default the known words' own.
        """
        pairs = [(place, self.row[word]) for word, place in vocabulary.place.items() if word in self.row]
        places, rows = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        known = np.asarray(self.vectors[rows], dtype=np.float32)
        _check_rows(known, [vocabulary.words[place - FIRST] for place in places])
        scale = _scale(like if like is not None else known if len(known) else self.vectors)
        matrix = chance.numpy().normal(scale=scale, size=(len(vocabulary), self.vectors.shape[1])).astype(np.float32)
        matrix[places] = known
        matrix[PADDING] = 0
        return matrix


def read_embeddings(path: Path_, words: Collection[str] | None = None, word_list: Path_ | None = None) -> Embeddings:
    """Read word2vec text, word2vec binary, GloVe text (all of them gzipped or not) or `.npy` with a list of words.

    Args:
        path: the file; for `.npy` the matrix, whose words are expected beside it: for `glove_f16.npy` in
            `glove_f16_words.txt`, `.txt` or `.vocab`, or the same with `glove`.
        words: keep only these; all by default (a `.npy` matrix is then left on disk).
        word_list: the list of words of a `.npy` matrix, one a line, where it is elsewhere.
    """
    wanted = None if words is None else frozenset(words)
    with open_bytes(path) as file, damage_told(path):
        head = file.read(SNIFFED)
    if head.startswith(NPY):
        return _read_npy(Path(path), wanted, word_list)
    header = HEADER.fullmatch(head.partition(b"\n")[0])
    if header and not _is_text(head.partition(b"\n")[2]):
        return _gathered(_binary_rows(path, int(header[1]), int(header[2])), _from_bytes, path, wanted)
    columns = int(header[2]) if header else _columns_of(head, path)
    rows = _text_rows(path, columns, int(header[1]) if header else None)
    return _gathered(rows, _from_text, path, wanted)


def train_word2vec(
    token_lists: Iterable[Sequence[str]],
    size: int = 100,
    window: int = 5,
    at_least: int = 2,
    epochs: int = 5,
    *,
    chance: Chance,
    workers: int = 1,
) -> Embeddings:
    """Skip-gram embeddings of one's own texts, through gensim (extra `text`).

    Args:
        token_lists: the tokens of each text.
        size: columns of a vector.
        window: how many words to either side a word predicts at most.
        at_least: how often a word has to occur.
        epochs: passes over the texts.
        chance: starts, windows and negative samples.
        workers: threads; with one the same texts and chance give the same bits, with more they do not.
    """
    word2vec = _require_word2vec()
    for name, number in (("size", size), ("window", window), ("at_least", at_least), ("epochs", epochs)):
        if number < 1:
            raise InvalidInput(f"{name}: expected a whole number from 1 up, got {number}")
    texts = [piece for tokens in token_lists for piece in _pieces(tokens)]
    if not Vocabulary.of(texts, at_least).words:
        raise InvalidInput(
            f"no word occurs {at_least} times or more in {len(texts)} texts; give more of them, or a smaller at_least"
        )
    model = word2vec(
        texts,
        vector_size=size,
        window=window,
        min_count=at_least,
        epochs=epochs,
        sg=1,
        seed=chance.integer(),
        workers=workers,
        hashfxn=_stable_hash,
    )
    return Embeddings(tuple(model.wv.index_to_key), np.array(model.wv.vectors, dtype=np.float32))


def _read_npy(path: Path, wanted: frozenset[str] | None, word_list: Path_ | None) -> Embeddings:
    try:
        matrix = np.lib.format.open_memmap(path, mode="r")
    except ValueError as error:
        raise InvalidInput(f"{path} cannot be mapped as a matrix of numbers ({error}); save it again") from error
    source = Path(word_list) if word_list is not None else _beside(path)
    words = [decoded(line.rstrip(b"\r\n"), source, number) for number, line in numbered_lines(source)]
    if matrix.ndim != 2 or len(words) != len(matrix):
        raise WrongShape(f"{path} has shape {matrix.shape} and {source} {len(words)} words; expected one row a word")
    if wanted is None:
        return Embeddings(tuple(words), matrix)
    first = {word: row for row, word in reversed(list(enumerate(words))) if word in wanted}
    rows = sorted(first.values())
    found = tuple(words[row] for row in rows)
    _check_found(found, wanted, path)
    return Embeddings(found, np.asarray(matrix[rows], dtype=np.float32))


def _beside(path: Path) -> Path:
    """The list of words next to a matrix."""
    stems = [path.stem, path.stem.rpartition("_")[0]]
    names = [f"{stem}{ending}" for stem in stems if stem for ending in ("_words.txt", ".txt", ".vocab")]
    for name in names:
        if path.with_name(name).is_file():
            return path.with_name(name)
    raise InvalidInput(
        f"{path} has no list of words beside it; expected one of {', '.join(names)}, or name it: word_list=..."
    )


def _is_text(rest: bytes) -> bool:
    """Whether the numbers after the first word are written out; four bytes each are never all printable."""
    numbers = rest.partition(b"\n")[0].partition(b" ")[2].strip()
    return all(32 <= byte < 127 or byte == 9 for byte in numbers)


def _columns_of(head: bytes, path: Path_) -> int:
    """How many numbers a GloVe file's first row has; its word may hold spaces."""
    fields = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].split()
    columns = 0
    while columns < len(fields) - 1 and _is_number(fields[-1 - columns]):
        columns += 1
    if not columns:
        came = f"begins with {glance(head[:40])}" if head else "is empty"
        raise InvalidInput(f"{path} {came}; expected {KNOWN_FORMATS}")
    return columns


def _text_rows(path: Path_, columns: int, promised: int | None) -> Iterator[Row]:
    found = 0
    for number, line in numbered_lines(path):
        line = line.rstrip().replace(b"\t", b" ")
        if line and (number > 1 or promised is None):
            found += 1
            yield number, *_split(line, columns, path, number)
    if promised is not None and found != promised:
        raise InvalidInput(f"{path} has {found} rows and its first line says {promised}; it is cut off or was edited")


def _split(line: bytes, columns: int, path: Path_, number: int) -> tuple[bytes, bytes]:
    """A row's word and numbers; the rare word that holds a space is told from a row that is too long."""
    if line.count(b" ") == columns:
        word, _, numbers = line.partition(b" ")
        return word, numbers
    fields = line.split()
    extra = len(fields) - 1 - columns
    if extra < 0 or any(_is_number(field) for field in fields[1 : 1 + extra]):
        raise WrongShape(
            f"{path}, line {number}: expected a word and {columns} numbers as in the first row, got {len(fields) - 1}"
        )
    return b" ".join(fields[: 1 + extra]), b" ".join(fields[1 + extra :])


def _binary_rows(path: Path_, count: int, columns: int) -> Iterator[Row]:
    width = 4 * columns
    with open_bytes(path) as file, damage_told(path):
        file.readline()
        buffer, at = b"", 0
        for number in range(1, count + 1):
            end = buffer.find(b" ", at)
            while end < 0 or len(buffer) < end + 1 + width:
                buffer, at = _refilled(file, buffer[at:], path, number, count), 0
                end = buffer.find(b" ")
            yield number, buffer[at:end].lstrip(b"\n"), buffer[end + 1 : end + 1 + width]
            at = end + 1 + width


def _refilled(file: IO[bytes], rest: bytes, path: Path_, number: int, count: int) -> bytes:
    more = file.read(CHUNK)
    buffer = rest + more
    if not more or (len(buffer) > LONGEST_WORD and b" " not in buffer[:LONGEST_WORD]):
        raise InvalidInput(
            f"{path} breaks off in row {number} of the {count} its first line promises; it is cut off, or no word2vec"
        )
    return buffer


def _gathered(rows: Iterator[Row], vector_of: Any, path: Path_, wanted: frozenset[str] | None) -> Embeddings:
    vectors: dict[str, npt.NDArray[np.float32]] = {}
    for number, raw, numbers in rows:
        word = decoded(raw, path, number)
        if word not in vectors and (wanted is None or word in wanted):
            vectors[word] = vector_of(numbers, path, number)
    _check_found(vectors, wanted, path)
    return Embeddings(tuple(vectors), np.stack(list(vectors.values())))


def _from_text(numbers: bytes, path: Path_, number: int) -> npt.NDArray[np.float32]:
    fields = numbers.split(b" ")
    try:
        values = list(map(float, fields))
    except ValueError:
        wrong = next(field for field in fields if not _is_number(field))
        raise InvalidInput(
            f"{path}, line {number}: {glance(wrong.decode('utf-8', 'replace'))} is not a number"
        ) from None
    if not math.isfinite(math.fsum(values)):
        raise NotFinite(f"{path}, line {number}: NaN or infinity among its numbers; drop the line")
    return np.array(values, dtype=np.float32)


def _from_bytes(numbers: bytes, path: Path_, number: int) -> npt.NDArray[np.float32]:
    vector = np.frombuffer(numbers, dtype="<f4")
    if not np.isfinite(vector).all():
        raise NotFinite(f"{path}, row {number}: NaN or infinity among its numbers; the file is damaged")
    return vector.astype(np.float32)


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _check_found(found: Collection[str], wanted: frozenset[str] | None, path: Path_) -> None:
    if found:
        return
    if wanted is None:
        raise InvalidInput(f"{path} holds no word; expected {KNOWN_FORMATS}")
    raise InvalidInput(
        f"none of the {len(wanted)} words asked for is in {path}; are they written as there (upper or lower case)?"
    )


def _check_rows(vectors: npt.NDArray[np.float32], words: list[str]) -> None:
    broken = ~np.isfinite(vectors).all(axis=1)
    if broken.any():
        raise NotFinite(f"embeddings: NaN or infinity in the vector of {words[int(broken.argmax())]!r}; leave it out")


def _scale(vectors: npt.NDArray[Any]) -> float:
    return float(np.std(np.asarray(vectors[:SCALE_ROWS], dtype=np.float64)))


def _pieces(tokens: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(tokens), LONGEST_TEXT):
        yield list(tokens[start : start + LONGEST_TEXT])


def _stable_hash(word: str) -> int:
    """Python's own hash of a text differs from process to process."""
    return zlib.crc32(word.encode("utf-8"))


def _require_word2vec() -> Any:
    try:
        from gensim.models import Word2Vec
    except ImportError as error:
        raise InvalidInput("train_word2vec needs gensim; install it with: pip install 'fwl[text]'") from error
    return Word2Vec
