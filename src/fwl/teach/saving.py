"""Save a fitted teacher and load it again."""

from __future__ import annotations

import os
from pathlib import Path

from fwl.errors import OutputTrouble
from fwl.storage import Stored, read_folder, write_folder
from fwl.teach.contract import Teacher
from fwl.teach.state import State, kind_and_state, revive

KIND = "teacher"


def save_teacher(teacher: Teacher, folder: str | os.PathLike[str]) -> Path:
    """Write a fitted teacher to a folder (safetensors and a JSON manifest)."""
    kind, state = kind_and_state(teacher)
    return write_folder(folder, Stored(KIND, {"teacher": kind, "settings": state.settings}, state.arrays))


def load_teacher(folder: str | os.PathLike[str]) -> Teacher:
    """The teacher that was saved there, ready to judge; nothing is fitted anew."""
    stored = read_folder(folder)
    if stored.kind != KIND:
        raise OutputTrouble(f"{folder} holds a {stored.kind}, expected a {KIND}")
    teacher: Teacher = revive(stored.settings["teacher"], State(stored.settings["settings"], stored.arrays))
    return teacher
