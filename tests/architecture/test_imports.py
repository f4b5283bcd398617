"""Imports point down only; rooms on one level never import each other."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "fwl"
LEVELS = [
    {"records", "errors", "randomness", "progress", "storage", "threads"},
    {"text"},
    {"tables"},
    {"students", "teach", "annotate", "evaluate"},
    {"learn"},
    {"experiments", "estimators", "report"},
    {"cli"},
]
FOUNDATIONS = LEVELS[0]  # these may import each other
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py")


def room_of(path):
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def level_of(room):
    return next(level for level, rooms in enumerate(LEVELS) if room in rooms)


def imported_modules(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def may_import(room, other):
    if room == other or {room, other} <= FOUNDATIONS:
        return True
    return level_of(other) < level_of(room)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_only_from_the_rooms_below_it(path):
    own = [name for name in imported_modules(path) if name == "fwl" or name.startswith((".", "fwl."))]
    assert not [name for name in own if name == "fwl" or name.startswith(".")], "import rooms by their full name"
    upward = [name for name in own if not may_import(room_of(path), name.split(".")[1])]
    assert upward == []


def test_every_room_has_a_level():
    rooms = {room_of(path) for path in MODULES}
    assert rooms <= set().union(*LEVELS)


def test_the_check_would_notice():
    assert not may_import("students", "teach")
    assert not may_import("records", "learn")
    assert not may_import("report", "experiments")
    assert may_import("learn", "teach")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nothing_reads_or_writes_pickles_or_opens_sockets(path):
    forbidden = {"pickle", "cloudpickle", "dill", "shelve", "marshal", "socket", "urllib.request", "requests"}
    assert not forbidden & set(imported_modules(path))
    calls = {ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)}
    assert not calls & {"eval", "exec", "torch.load", "torch.save", "joblib.load", "joblib.dump", "np.load"}
