"""Save a fitted estimator and load it again: a folder of numbers and plain values, nothing that runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fwl.errors import FWLError, InvalidInput, OutputTrouble, UnknownName
from fwl.estimators.classifier import FWLClassifier
from fwl.estimators.fitting import Fitted, keep_fitted
from fwl.estimators.inputs import Inputs, revive_inputs
from fwl.estimators.labels import LABELS, ClassLabels, Labels
from fwl.estimators.new_students import NewOwn
from fwl.estimators.regressor import FWLRegressor
from fwl.estimators.telling import Softened
from fwl.learn.saving import below, learned_state, prefixed, revive_learned, revive_teacher, teacher_state
from fwl.learn.soften import Softener
from fwl.storage import Stored, read_folder, write_folder
from fwl.teach.state import State

KIND = "estimator"
ESTIMATORS: dict[str, type[FWLClassifier] | type[FWLRegressor]] = {
    "FWLClassifier": FWLClassifier,
    "FWLRegressor": FWLRegressor,
}
_NUMBERS = {name: np.dtype(name) for name in ("<f4", "<f8", "<i4", "<i8", "|u1", "|b1", "|i1")}
_SOFT = ("label", "uncertainty", "fidelity")

Estimator = FWLClassifier | FWLRegressor
OwnStudent = Callable[..., Any]


def save_model(estimator: Estimator, folder: str | os.PathLike[str], notes: dict[str, Any] | None = None) -> Path:
    """Write a fitted estimator to a folder (safetensors and a JSON manifest).

    Args:
        estimator: fitted.
        folder: a model that was there is replaced.
        notes: plain values to keep beside it, such as where its data came from; `load_notes` reads them.
    """
    name = type(estimator).__name__
    if name not in ESTIMATORS or not hasattr(estimator, "_fitted"):
        raise InvalidInput(f"a {name} that is not fitted cannot be saved; fit an {' or '.join(ESTIMATORS)} first")
    fitted: Fitted = estimator._fitted
    parts = {
        "inputs": fitted.inputs.state(),
        "labels": fitted.labels.state(),
        "learned": learned_state(fitted.learned),
        "teacher": teacher_state(fitted.teacher),
    }
    settings = {
        "estimator": name,
        "parameters": _plain_parameters(estimator),
        "columns": _columns_of(estimator),
        "kinds": {"inputs": type(fitted.inputs).__name__, "labels": type(fitted.labels).__name__},
        "samples": fitted.kind,
        "example": _shape_of(fitted.example),
        "pool_rows": fitted.pool_rows,
        "softener": {"beta": fitted.softener.beta, "uncertainty": fitted.softener.uncertainty},
        "report": fitted.report,
        "notes": notes or {},
        **{part: state.settings for part, state in parts.items()},
    }
    arrays = {f"soft.{part}": getattr(fitted.soft, part) for part in _SOFT}
    for part, state in parts.items():
        arrays |= prefixed(part, state.arrays)
    return write_folder(folder, Stored(KIND, settings, arrays))


def load_model(
    folder: str | os.PathLike[str],
    student: OwnStudent | None = None,
    encoder: str | os.PathLike[str] | None = None,
) -> Estimator:
    """The estimator that was saved there; its predictions are the same to the bit.

    Args:
        folder: what `save_model` wrote.
        student: the function that made the students, where that is your own.
        encoder: the folder of the sentence encoder, where that has moved.
    """
    stored = _read(folder)
    try:
        return _revived(stored, student, None if encoder is None else str(encoder))
    except FWLError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RuntimeError) as error:
        raise OutputTrouble(
            f"{folder} is not a model that this version can read ({type(error).__name__}: {error}); save it again"
        ) from error


def load_notes(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """The plain values that were saved beside a model."""
    notes: dict[str, Any] = _read(folder).settings.get("notes", {})
    return notes


def _read(folder: str | os.PathLike[str]) -> Stored:
    stored = read_folder(folder)
    if stored.kind != KIND:
        raise OutputTrouble(f"{folder} holds a {stored.kind}, expected an {KIND}")
    return stored


def _revived(stored: Stored, student: OwnStudent | None, encoder: str | None) -> Estimator:
    settings = stored.settings
    if settings["estimator"] not in ESTIMATORS:
        raise UnknownName("estimator", str(settings["estimator"]), ESTIMATORS)
    estimator = ESTIMATORS[settings["estimator"]](**settings["parameters"])
    if student is not None:
        estimator.student = student
    for name, value in settings["columns"].items():
        setattr(estimator, name, np.array(value, dtype=object) if name == "feature_names_in_" else int(value))
    keep_fitted(estimator, _fitted(stored, student, encoder))
    if isinstance(estimator, FWLClassifier):
        labels = estimator._fitted.labels
        assert isinstance(labels, ClassLabels)
        estimator.classes_ = labels.classes
    return estimator


def _fitted(stored: Stored, student: OwnStudent | None, encoder: str | None) -> Fitted:
    settings, kinds = stored.settings, stored.settings["kinds"]
    part = {
        name: State(settings[name], below(name, stored.arrays)) for name in ("inputs", "labels", "learned", "teacher")
    }
    if kinds["labels"] not in LABELS:
        raise UnknownName("kind of labels", str(kinds["labels"]), LABELS)
    inputs: Inputs = revive_inputs(kinds["inputs"], part["inputs"], encoder)
    labels: Labels = LABELS[kinds["labels"]].from_state(part["labels"])
    soft = Softened(*(stored.arrays[f"soft.{name}"] for name in _SOFT))
    example = _example(settings["example"])
    own = None if student is None else NewOwn(student, example, soft.label.shape[1])
    teacher = revive_teacher(part["teacher"], own)
    learned = revive_learned(part["learned"], teacher, own)
    kind, rows, report = settings["samples"], settings["pool_rows"], settings["report"]
    softener = Softener(teacher, settings["softener"]["beta"], settings["softener"]["uncertainty"])
    return Fitted(inputs, labels, kind, learned, teacher, soft, rows, softener, report, example)


def _plain_parameters(estimator: Estimator) -> dict[str, Any]:
    """The constructor's parameters; a function or object of the user's own is left at its default."""
    given: dict[str, Any] = estimator.get_params(deep=False)
    for name in ("student", "teacher", "combine"):
        if name in given and not isinstance(given[name], str):
            del given[name]
    for name in ("class_map", "classes"):  # saved with the labels
        given.pop(name, None)
    return {name: _plain(value) for name, value in given.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return list(value) if isinstance(value, tuple) else value


def _columns_of(estimator: Estimator) -> dict[str, Any]:
    found = {}
    if hasattr(estimator, "n_features_in_"):
        found["n_features_in_"] = estimator.n_features_in_
    if hasattr(estimator, "feature_names_in_"):
        found["feature_names_in_"] = estimator.feature_names_in_.tolist()
    return found


def _shape_of(samples: npt.NDArray[Any]) -> dict[str, Any]:
    """The parts of a sample, or its one: type and shape."""
    names = samples.dtype.names
    described = {name: samples[name] for name in names} if names is not None else {"": samples}
    return {name: [part.dtype.str, list(part.shape[1:])] for name, part in described.items()}


def _example(shape: dict[str, Any]) -> npt.NDArray[Any]:
    """Two samples of that shape, all zero."""
    parts = [(name, _NUMBERS[dtype], tuple(size)) for name, (dtype, size) in shape.items()]
    if parts[0][0] == "":
        return np.zeros((2, *parts[0][2]), dtype=parts[0][1])
    return np.zeros(2, dtype=parts)
