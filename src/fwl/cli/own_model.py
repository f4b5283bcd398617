"""The model between commands: which estimator, with which settings, and what is noted of its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from fwl.cli.labels import CLASSIFY, told
from fwl.cli.own_tables import OwnTables, digest_of, read_weak, samples_of
from fwl.cli.roles import Roles, Sheet
from fwl.errors import InvalidInput, UnknownName
from fwl.estimators.classifier import FWLClassifier
from fwl.estimators.regressor import FWLRegressor
from fwl.estimators.saving import Estimator, load_model, load_notes
from fwl.experiments.provenance import made_with

_SETTABLE = (int, float, tuple)


@dataclass(frozen=True, eq=False)
class OwnModel:
    """A model that `fwl fit` wrote, and how the files it came from are read.

    Attributes:
        folder: where it is.
        estimator: fitted.
        roles: what each column is.
        task: classify or regress.
        label_kind: the type of the strong labels, as Arrow calls it.
        class_map: what weak classes stand for.
        files: `strong` and `weak`: paths, digests, names of rows.
        notes: all that was noted when it was fitted.
    """

    folder: Path
    estimator: Estimator
    roles: Roles
    task: str
    label_kind: str
    class_map: dict[str, str | None]
    files: dict[str, Any]
    notes: dict[str, Any]

    @property
    def classes(self) -> list[str]:
        """The classes' names."""
        return self.estimator.classes_.tolist() if isinstance(self.estimator, FWLClassifier) else []

    def samples(self, sheet: Sheet) -> Any:
        """The samples of a table, which has to have their columns."""
        sheet.check_has(self.roles.samples)
        return samples_of(sheet.table, self.roles)

    def weak(self, sheet: Sheet) -> Any:
        """The weak labels of a table, which has to have their columns."""
        return read_weak(sheet, self.roles, self.task, self.classes, self.class_map)

    def told(self, labels: Any) -> pa.Array:
        """Labels as the strong file has them."""
        return told(list(labels), self.label_kind)

    def weak_file(self, moved: Path | None) -> Path:
        """The file of weak rows it was fitted on: where it was, or where the user says; a changed one is refused."""
        path = moved or Path(self.files["weak"]["path"])
        if not path.is_file():
            raise InvalidInput(f"the weak rows of {self.folder} were in {path}, which is not there; name it by --weak")
        if digest_of(path) != self.files["weak"]["sha256"]:
            raise InvalidInput(f"{path} is not the file that {self.folder} was fitted on, or was changed; fit again")
        return path


def settings_for(own: OwnTables, named: dict[str, Any], combine: str, assignments: Sequence[str]) -> dict[str, Any]:
    """An estimator's parameters: those that have an option of their own, and those that `--set` names."""
    if own.task == CLASSIFY:
        named = {**named, "combine": combine, "class_map": own.class_map or None}
    defaults = _defaults(own.task)
    return {**named, **dict(_assigned(assignment, defaults) for assignment in assignments)}


def new_estimator(own: OwnTables, settings: dict[str, Any]) -> Estimator:
    """The estimator that the task asks for."""
    return FWLClassifier(**settings) if own.task == CLASSIFY else FWLRegressor(**settings)


def noted(own: OwnTables, strong: Sequence[Path]) -> dict[str, Any]:
    """What later commands need to know of the files."""
    return {
        "roles": own.roles.plain(),
        "task": own.task,
        "label_kind": own.label_kind,
        "class_map": own.class_map,
        "strong": {
            "paths": [str(path.resolve()) for path in strong],
            "sha256": [digest_of(path) for path in strong],
            "names": own.strong.names,
        },
        "weak": {"path": str(own.weak.path.resolve()), "sha256": digest_of(own.weak.path)},
        "made_with": made_with(),
    }


def open_model(folder: Path, encoder: Path | None = None) -> OwnModel:
    """A model that `fwl fit` wrote."""
    notes = load_notes(folder)
    if "roles" not in notes:
        raise InvalidInput(f"{folder} does not say which columns it reads; expected a model that `fwl fit --out` wrote")
    files = {name: notes[name] for name in ("strong", "weak")}
    model = load_model(folder, encoder=encoder)
    roles = Roles.from_plain(notes["roles"])
    return OwnModel(folder, model, roles, notes["task"], notes["label_kind"], notes["class_map"], files, notes)


def _defaults(task: str) -> dict[str, Any]:
    """Parameters that are numbers, or widths."""
    estimator = FWLClassifier() if task == CLASSIFY else FWLRegressor()
    given: dict[str, Any] = estimator.get_params(deep=False)
    return {name: value for name, value in given.items() if isinstance(value, _SETTABLE)}


def _assigned(assignment: str, defaults: dict[str, Any]) -> tuple[str, Any]:
    name, equals, text = (part.strip() for part in assignment.partition("="))
    if not equals:
        raise InvalidInput(f"--set {assignment}: expected key=value")
    if name not in defaults:
        raise UnknownName("setting", name, defaults)
    try:
        return name, _read(text, defaults[name])
    except ValueError as error:
        kind = "whole numbers with commas between" if isinstance(defaults[name], tuple) else "a number"
        raise InvalidInput(f"--set {assignment}: expected {kind}, such as {defaults[name]}") from error


def _read(text: str, default: Any) -> Any:
    if isinstance(default, tuple):
        return tuple(int(part) for part in text.split(","))
    return type(default)(text)
