"""Students as plain values and arrays: enough to be the same student again. Sizes are read off the arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from fwl.errors import InvalidInput, OutputTrouble
from fwl.randomness import Chance
from fwl.students.contract import Reads, Student
from fwl.students.linear import LinearStudent
from fwl.students.perceptron import ACTIVATIONS, Perceptron
from fwl.students.text_cnn import TextCNN

Arrays = dict[str, npt.NDArray[Any]]
Spec = dict[str, Any]
Make = Callable[[Chance], Student]

OWN = "own"  # the kind of a student that only its user can make


def student_state(student: Student) -> tuple[Spec, Arrays]:
    """What a student is, and its weights."""
    arrays = {name: value.detach().numpy() for name, value in student.state_dict().items()}
    kind = type(student).__name__ if type(student) in _SPECS else OWN
    spec = _SPECS[type(student)](student) if type(student) in _SPECS else {}
    reads = list(student.reads) if isinstance(student.reads, tuple) else student.reads
    return {"kind": kind, "reads": reads, "double": _is_double(student), **spec}, arrays


def revive_student(spec: Spec, arrays: Arrays, own: Make | None = None) -> Student:
    """The student that `student_state` was taken from.

    Args:
        spec: its kind and what the arrays do not tell.
        arrays: its weights.
        own: makes a student of the user's own, to be given the weights.
    """
    if spec["kind"] == OWN and own is None:
        raise InvalidInput(
            "this model's student was made by a function of your own; give it to load_model as well: "
            "load_model(folder, student=function)"
        )
    try:
        student = own(Chance(0)) if spec["kind"] == OWN and own is not None else _MAKE[spec["kind"]](spec, arrays)
        if spec["double"]:
            student.double()
        student.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in arrays.items()})
    except (KeyError, IndexError, RuntimeError, AttributeError) as error:
        raise OutputTrouble(
            f"the weights do not fit the student they belong to ({str(error).splitlines()[0]})"
        ) from error
    student.reads = _as_reads(spec["reads"])
    return student.eval()


def _as_reads(reads: Any) -> Reads:
    return tuple(reads) if isinstance(reads, list) else reads


def _is_double(student: Student) -> bool:
    return any(parameter.dtype == torch.float64 for parameter in student.parameters())


def _perceptron_spec(student: Student) -> Spec:
    assert isinstance(student, Perceptron)
    names = {kind: name for name, kind in ACTIVATIONS.items()}
    return {"activation": names[type(student.hidden[1])]}


def _text_cnn_spec(student: Student) -> Spec:
    assert isinstance(student, TextCNN)
    shares = [part.p for part in student.hidden if isinstance(part, nn.Dropout)]
    return {
        "width": student.width,
        "beside": student.beside,
        "dropout": shares[0],
        "word_dropout": student.word_dropout,
    }


def _make_perceptron(spec: Spec, arrays: Arrays) -> Student:
    layers = _weights(arrays, "hidden.")
    hidden = [layer.shape[0] for layer in layers]
    outputs = arrays["output.weight"].shape[0]
    return Perceptron(layers[0].shape[1], outputs, hidden, spec["activation"], chance=Chance(0))


def _make_linear(spec: Spec, arrays: Arrays) -> Student:  # noqa: ARG001
    outputs, inputs = arrays["output.weight"].shape
    return LinearStudent(inputs, outputs, chance=Chance(0))


def _make_text_cnn(spec: Spec, arrays: Arrays) -> Student:
    convolutions = _weights(arrays, "convolutions.")
    return TextCNN(
        np.zeros(arrays["words.weight"].shape, dtype=np.float32),
        arrays["output.weight"].shape[0],
        filters=convolutions[0].shape[0],
        width=spec["width"],
        layers=len(convolutions),
        hidden=[layer.shape[0] for layer in _weights(arrays, "hidden.")],
        dropout=spec["dropout"],
        word_dropout=spec["word_dropout"],
        beside=spec["beside"],
        chance=Chance(0),
    )


def _weights(arrays: Arrays, prefix: str) -> list[npt.NDArray[Any]]:
    """The weight matrices below a name, in the order of their numbers."""
    named = {name: array for name, array in arrays.items() if name.startswith(prefix) and name.endswith(".weight")}
    return [named[name] for name in sorted(named, key=lambda name: int(name.split(".")[1]))]


_SPECS: dict[type[Student], Callable[[Student], Spec]] = {
    Perceptron: _perceptron_spec,
    LinearStudent: lambda _: {},
    TextCNN: _text_cnn_spec,
}
_MAKE: dict[str, Callable[[Spec, Arrays], Student]] = {
    "Perceptron": _make_perceptron,
    "LinearStudent": _make_linear,
    "TextCNN": _make_text_cnn,
}
