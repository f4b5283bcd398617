"""Which student suits which samples: a perceptron for numbers and vectors, a convolutional one for words; or one's own.

A student of the user's own is made by a function `(samples, outputs, chance) -> student`: a few samples as it will read
them, how many columns its output has, and where initial weights are drawn from. A plain torch module will do too, if
its last layer is a linear one: what goes into that layer is its representation.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from fwl.errors import InvalidInput, UnknownName
from fwl.estimators.text_inputs import TOKENS, WORDING, SentenceInputs, TextInputs
from fwl.learn.view import VECTOR
from fwl.randomness import Chance
from fwl.students.contract import Student
from fwl.students.perceptron import Perceptron
from fwl.students.text_cnn import TextCNN
from fwl.students.wrapped import WrappedStudent
from fwl.threads import one_thread

AUTO, PERCEPTRON, TEXT_CNN, ENCODER, TUNED_ENCODER = "auto", "perceptron", "text_cnn", "encoder", "tuned_encoder"
NAMES = (AUTO, PERCEPTRON, TEXT_CNN, ENCODER, TUNED_ENCODER)

NewStudent = Callable[[Chance], Student]
OwnStudent = Callable[[npt.NDArray[Any], int, Chance], nn.Module]


@dataclass(frozen=True)
class NewPerceptron:
    """Makes perceptrons."""

    n_inputs: int
    n_outputs: int
    hidden: tuple[int, ...]
    reads: str | None = None

    def __call__(self, chance: Chance) -> Student:
        """A new one."""
        student = Perceptron(self.n_inputs, self.n_outputs, self.hidden, chance=chance)
        student.reads = self.reads
        return student


@dataclass(frozen=True)
class NewTextCNN:
    """Makes convolutional students of word ids that read a vector of the text beside them: a part of samples."""

    words: int
    n_outputs: int
    beside: int
    hidden: tuple[int, ...]
    part: str = VECTOR

    def __call__(self, chance: Chance) -> Student:
        """A new one."""
        student = TextCNN(
            self.words,
            self.n_outputs,
            filters=100,
            hidden=self.hidden,
            columns=50,
            beside=self.beside,
            word_dropout=0.2,
            chance=chance,
        )
        if self.beside:
            student.reads = (TOKENS, self.part)
        return student


@dataclass(frozen=True, eq=False)
class NewOwn:
    """Makes students by a function of the user's."""

    make: OwnStudent
    samples: npt.NDArray[Any]
    n_outputs: int

    def __call__(self, chance: Chance) -> Student:
        """A new one; what it draws from torch's own generator is drawn by chance."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(chance.child("own").integer())
            made = self.make(self.samples, self.n_outputs, chance)
        return made if isinstance(made, Student) else as_student(made, _reads(self.samples))


def as_student(module: nn.Module, reads: str | None = None) -> Student:
    """A plain module as a student: all but its last layer represent, the last one predicts."""
    layers = list(module.children())
    if not isinstance(module, nn.Sequential) or len(layers) < 2:
        raise InvalidInput(
            f"a {type(module).__name__} does not say where its representation ends; give an nn.Sequential whose last "
            "layer predicts, or wrap it: fwl.WrappedStudent(module, represent, predict_from)"
        )
    return WrappedStudent(module, lambda m, x: m[:-1](x), lambda m, psi: m[-1](psi), reads)  # type: ignore[index]


def new_student_for(
    samples: npt.NDArray[Any],
    n_outputs: int,
    student: str | OwnStudent,
    hidden: tuple[int, ...],
    words: int = 0,
    encoded: bool = False,
) -> NewStudent:
    """What makes the students of an estimator.

    Args:
        samples: encoded, at least one.
        n_outputs: columns of the output.
        student: a name in `NAMES`, or a function of the user's.
        hidden: width of each hidden layer.
        words: ids of the vocabulary, where samples have tokens.
        encoded: whether their vectors are a sentence encoder's.
    """
    if not isinstance(student, str):
        if not callable(student):
            raise InvalidInput(f"student: expected a name or a function that makes one, got {student!r:.60}")
        return NewOwn(student, samples[:2], n_outputs)
    if student not in NAMES:
        raise UnknownName("student", student, NAMES)
    in_order = _has_tokens(samples) and not encoded  # an encoder has read the words in their order
    _check_suits(student, samples, in_order)
    numbers = samples if samples.dtype.names is None else samples[VECTOR]
    columns = int(np.prod(numbers.shape[1:]))
    if student == TEXT_CNN or (student == AUTO and in_order):
        return NewTextCNN(words, n_outputs, columns, hidden)
    return NewPerceptron(columns, n_outputs, hidden, _reads(samples))


def second_kind_for(
    samples: npt.NDArray[Any], n_outputs: int, student: str | OwnStudent, hidden: tuple[int, ...], words: int
) -> NewStudent | None:
    """What makes a committee's students of a second kind: where an encoder reads texts, those that do without it."""
    if student not in (AUTO, ENCODER, TUNED_ENCODER) or not words or WORDING not in (samples.dtype.names or ()):
        return None
    return NewTextCNN(words, n_outputs, samples[WORDING].shape[1], hidden, WORDING)


def threads_for(student: str | OwnStudent) -> AbstractContextManager[None]:
    """One thread for our own students, whose batches are small; all there are for a user's, which may be large."""
    return one_thread() if isinstance(student, str) else nullcontext()


def words_of(inputs: Any) -> int:
    """The ids of the vocabulary that texts are read with; 0 where there is none."""
    words = inputs.words if isinstance(inputs, TextInputs | SentenceInputs) else None
    return 0 if words is None else len(words.vocabulary)


def is_encoded(inputs: Any) -> bool:
    """Whether a sentence encoder reads the samples."""
    return isinstance(inputs, SentenceInputs)


def _has_tokens(samples: npt.NDArray[Any]) -> bool:
    return samples.dtype.names is not None and TOKENS in samples.dtype.names


def _check_suits(student: str, samples: npt.NDArray[Any], in_order: bool) -> None:
    names = samples.dtype.names
    if student == TEXT_CNN and not in_order:
        raise InvalidInput("student='text_cnn' reads texts; give a list of texts, without a sentence encoder")
    if student in (ENCODER, TUNED_ENCODER) and (in_order or names is None or VECTOR not in names):
        raise InvalidInput(f"student={student!r} needs texts and the folder of a sentence encoder: encoder=FOLDER")
    if names is not None and VECTOR not in names:
        raise InvalidInput(
            f"samples with the parts {', '.join(names)} need a student of your own: student=function(samples, outputs, "
            "chance)"
        )


def _reads(samples: npt.NDArray[Any]) -> str | None:
    return None if samples.dtype.names is None else VECTOR
