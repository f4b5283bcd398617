"""A ranker on disk: one folder with all it needs to rank, except the sentence encoder.

    ranker/   what was chosen, teacher, student and the documents' vectors (safetensors and a JSON manifest)
    index/    the inverted index, which is mapped

Of the encoder only its place and a digest are kept: it is as large as everything else, and shared. Written to the side
and moved into place; what is damaged, or does not belong together, is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fwl.annotate.index import InvertedIndex
from fwl.errors import InvalidInput, OutputTrouble
from fwl.learn.search import Search
from fwl.learn.search_auto import Fusion, SearchModel
from fwl.learn.search_encoder import Encoding, FilePath, find_again
from fwl.learn.search_student import WeakStudent
from fwl.learn.searcher import Matrix, Searcher
from fwl.storage import MANIFEST, Stored, filled_aside, read_folder, write_folder
from fwl.teach.correction import Choice, Tried
from fwl.teach.query_document import QueryDocumentGP
from fwl.teach.state import State

KIND = "ranker"
RANKER, INDEX = "ranker", "index"
_VECTORS, _TEACHER, _STUDENT = "document_vectors", "teacher.", "student."


@dataclass(frozen=True, eq=False)
class StoredSearch:
    """What a folder holds: a ranker, and what whoever saved it wants to find again."""

    search: Search
    settings: dict[str, Any]


def save_search(search: Search, folder: FilePath, settings: Mapping[str, Any] | None = None) -> Path:
    """Write a ranker; a folder that was there is replaced if it held one.

    Args:
        search: the ranker.
        folder: where to.
        settings: what JSON can hold, for the caller's own use.
    """
    target = Path(folder)
    check_replaceable(target)
    try:
        with filled_aside(target) as beside:
            search.searcher.index.save(beside / INDEX)
            described = {**_described(search), "index": _digest(beside / INDEX), "settings": dict(settings or {})}
            write_folder(beside / RANKER, Stored(KIND, described, _arrays(search)))
    except OutputTrouble:
        raise
    except OSError as error:
        raise OutputTrouble(f"cannot write the ranker to {target} ({error.strerror or error})") from error
    return target


def load_search(folder: FilePath, encoder: FilePath | None = None) -> StoredSearch:
    """The ranker that was saved there, ready to rank.

    Args:
        folder: as `save_search` wrote it.
        encoder: where its sentence encoder lies now, if not where it lay then.
    """
    source = Path(folder)
    stored = _read(source)
    settings, arrays = stored.settings, stored.arrays
    index = InvertedIndex.load(source / INDEX)
    if _digest(source / INDEX) != settings["index"]:
        raise OutputTrouble(f"{source / INDEX} is not the index this ranker was saved with; save the ranker again")
    encoding = None if settings["encoder"] is None else find_again(**settings["encoder"], instead=encoder)
    searcher = Searcher(index) if encoding is None else _searcher(index, arrays[_VECTORS], encoding)
    search = Search(searcher, _model(settings, arrays), encoding, _student(settings, arrays, index))
    return StoredSearch(search, settings["settings"])


def check_replaceable(folder: FilePath) -> None:
    """Refuse a folder that holds anything but a ranker, whole or not."""
    target = Path(folder)
    if not target.exists() or (target.is_dir() and (_is_ranker(target) or not any(target.iterdir()))):
        return
    raise OutputTrouble(f"{target} exists and is not a saved ranker; name another folder, or remove it first")


def _is_ranker(folder: Path) -> bool:
    try:
        manifest = json.loads((folder / RANKER / MANIFEST).read_text(encoding="utf-8"))
        return manifest["kind"] == KIND and {path.name for path in folder.iterdir()} <= {RANKER, INDEX}
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _read(source: Path) -> Stored:
    if not (source / RANKER).is_dir():
        raise OutputTrouble(f"{source} is not a saved ranker; expected a folder that `fwl fit-ranker --out` wrote")
    stored = read_folder(source / RANKER)
    if stored.kind != KIND:
        raise OutputTrouble(f"{source / RANKER} holds a {stored.kind}, expected a {KIND}")
    return stored


def _digest(index: Path) -> str:
    """Of the manifest, which has those of all files."""
    return hashlib.sha256((index / MANIFEST).read_bytes()).hexdigest()


def _described(search: Search) -> dict[str, Any]:
    model, encoding = search.model, search.encoding
    return {
        "fusion": asdict(model.fusion),
        "tried": [[asdict(fusion), value] for fusion, value in model.tried.items()],
        "choice": None if model.choice is None else asdict(model.choice),
        "teacher": None if model.teacher is None else _state(model).settings,
        "student": None if search.student is None else search.student.state().settings,
        "encoder": None if encoding is None else {"place": encoding.place, "digest": encoding.encoder.digest},
    }


def _arrays(search: Search) -> dict[str, Any]:
    arrays: dict[str, Any] = {}
    if search.searcher.document_vectors is not None:
        arrays[_VECTORS] = search.searcher.document_vectors
    if search.model.teacher is not None:
        arrays |= {_TEACHER + name: array for name, array in _state(search.model).arrays.items()}
    if search.student is not None:
        arrays |= {_STUDENT + name: array for name, array in search.student.state().arrays.items()}
    return arrays


def _below(prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _state(model: SearchModel) -> State:
    if not isinstance(model.teacher, QueryDocumentGP):
        raise InvalidInput(f"a ranker with a {type(model.teacher).__name__} cannot be saved, only a QueryDocumentGP")
    return model.teacher.state()


def _model(settings: dict[str, Any], arrays: dict[str, Any]) -> SearchModel:
    state, teacher = settings["teacher"], None
    if state is not None:
        teacher = QueryDocumentGP.from_state(State(state, _below(_TEACHER, arrays)))
    tried = {Fusion(**fusion): value for fusion, value in settings["tried"]}
    return SearchModel(Fusion(**settings["fusion"]), teacher, _choice(settings["choice"]), tried)


def _student(settings: dict[str, Any], arrays: dict[str, Any], index: InvertedIndex) -> WeakStudent | None:
    if settings["student"] is None:
        return None
    return WeakStudent.from_state(State(settings["student"], _below(_STUDENT, arrays)), index)


def _choice(described: dict[str, Any] | None) -> Choice | None:
    if described is None:
        return None
    tried = tuple(Tried(**one) for one in described["tried"])
    return Choice(tried, Tried(**described["best"]), described["keep"], described["reason"])


def _searcher(index: InvertedIndex, vectors: Matrix, encoding: Encoding) -> Searcher:
    searcher = Searcher(index, vectors, encoding.encoder.vectors)
    searcher.document_vectors = vectors  # of unit length as they are: dividing again would change their last bits
    return searcher
