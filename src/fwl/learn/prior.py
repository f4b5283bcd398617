"""What a teacher believes before any strong label: nothing, the average label, or what student and annotator say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fwl.errors import InvalidInput, WrongShape
from fwl.learn.task import Task
from fwl.records import Array, StrongSet, as_matrix

# Factors on the directions that are expected before any strong label, where there are few of them: on WRENCH's youtube
# and chemprot, read by a sentence encoder, these were right within a few tenths (DECISIONS.md, D62).
EXPECTED: dict[str, tuple[float, ...]] = {"weak": (0.6,), "student": (0.6,), "student_and_weak": (0.4, 0.3)}
READ_WEAK = ("weak", "student_and_weak")  # the annotator's label of the sample itself


@dataclass(frozen=True, eq=False)
class PriorMean:
    """A base, and directions from it that the teacher takes as they are or shrinks as the evidence says.

        zero              0; one half where one column holds the second of two classes
        average           pi
        weak              b + a1 (w - b)                   w: the annotator's label
        student           b + a1 (p - b)                   p: the student's prediction
        student_and_weak  b + a1 (p - b) + a2 (w - b)

    The base b is pi, the average strong label, where labels are classes, and 0 where they are numbers.

    Attributes:
        kind: which of these.
        base: b, [C].
    """

    kind: str
    base: Array

    @property
    def asks_student(self) -> bool:
        """Whether the student's prediction is needed."""
        return self.kind in ("student", "student_and_weak")

    @property
    def asks_annotator(self) -> bool:
        """Whether the annotator's label of the sample is needed."""
        return self.kind in READ_WEAK

    def directions(self, prediction: Array | None, weak: Array | None) -> Array | None:
        """Directions from the base, [N, C, B], or None if there are none."""
        towards = []
        if self.asks_student:
            assert prediction is not None
            towards.append(prediction)
        if self.asks_annotator:
            towards.append(self._checked(weak, len(self.base) if prediction is None else prediction.shape))
        return np.stack([label - self.base for label in towards], axis=-1) if towards else None

    def _checked(self, weak: Array | None, expected: int | tuple[int, ...]) -> Array:
        if weak is None:
            raise InvalidInput(
                "this teacher reads the annotator's label of each sample and got none; give the weak labels too, or "
                "choose another prior mean"
            )
        weak = as_matrix(weak, "weak labels")
        shape = (len(weak), expected) if isinstance(expected, int) else expected
        if weak.shape != shape:  # numpy would stretch one column over all classes
            raise WrongShape(f"weak labels: expected shape {shape} like the labels, got {weak.shape}")
        return weak


def prior_for(kind: str, strong: StrongSet, task: Task) -> PriorMean:
    """The prior mean of that kind for these strong labels."""
    if kind == "zero" or (not task.has_classes and kind != "average"):
        return PriorMean(kind, np.full(strong.y.shape[1], task.indifferent))
    return PriorMean(kind, average_label(strong.y, task))


def average_label(y: Array, task: Task) -> Array:
    """The average strong label [C]; of classes their shares, as if each had been seen once more (Laplace)."""
    if not task.has_classes:
        return np.asarray(y.mean(axis=0))
    classes = max(2, y.shape[1])  # the one column of two classes stands for the second
    return np.asarray((y.sum(axis=0) + 1.0) / (len(y) + classes))
