"""Where an experiment, or each part of a study, reads its data: `--data DIR` as settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from fwl.errors import InvalidInput
from fwl.experiments.declare import Experiment, Study

Note = Callable[[str], None]  # hears what a user should know and no error is


def data_setting(experiment: Experiment, data: Path | None, size: str, note: Note) -> list[str]:
    """The data folder as a setting, where the experiment reads one."""
    if data is None and experiment.needs_data and size != "tiny":
        raise InvalidInput(
            f"{experiment.name} reads real data; name its folder by --data DIR, or give --size tiny for made-up data"
        )
    if data is None:
        return []
    if not experiment.needs_data:
        note(f"{experiment.name} makes its own data; --data {data} is not read")
        return []
    return [f"data={_existing(data)}"]


def data_settings(study: Study, data: Path | None) -> dict[str, list[str]]:
    """The folder of each part that reads one, below a root that has them all, as a setting."""
    if data is None:
        return {}
    root = _existing(data)
    reading = [task for task, part in study.parts.items() if part.needs_data]
    return {task: [f"data={FOLDERS[task](root)}"] for task in reading}


def _existing(data: Path) -> Path:
    if not data.is_dir():
        raise InvalidInput(f"--data {data}: there is no such folder")
    return data


def _sentiment(root: Path) -> Path:
    folder = root / "sentiment"
    if not folder.is_dir():
        raise _nothing_there(root, "sentiment")
    return folder


def _smallest_collection(root: Path) -> Path:
    """The collection with the smallest corpus file: a study trains many students on it."""
    found = sorted(root.glob("ranking/*/corpus.jsonl*"), key=lambda path: (path.stat().st_size, path))
    if not found:
        raise _nothing_there(root, "ranking/COLLECTION")
    return found[0].parent


def _nothing_there(root: Path, wanted: str) -> InvalidInput:
    return InvalidInput(
        f"--data {root}: there is no {wanted} in it; a study of all tasks expects a folder that has sentiment and "
        "ranking/COLLECTION below it"
    )


FOLDERS: dict[str, Callable[[Path], Path]] = {"sentiment": _sentiment, "ranking": _smallest_collection}
