"""The choices of one run, apart from its data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fwl.errors import InvalidInput, UnknownName, WrongShape
from fwl.learn.prior import READ_WEAK
from fwl.learn.task import REGRESSION, Task
from fwl.randomness import Chance
from fwl.records import Array, StrongSet, WeakSet, check_encoded
from fwl.students.contract import Student
from fwl.students.training import Training
from fwl.teach.contract import Teacher
from fwl.teach.exact import ExactGP
from fwl.teach.selection import KERNELS

TEACHER_INPUTS = ("x", "psi", "both")
PRIOR_MEANS = ("zero", "average", "weak", "student", "student_and_weak")
UNCERTAINTIES = ("raw", "relative")
ROUNDING = 1e-6  # how far a distribution may be from summing to one
CRITERIA = ("evidence", "left_out")
FIDELITY_USES = ("step", "sampling", "nothing")
LEAST_UPDATES = 50  # of a step 3, however few strong samples there are


@dataclass(frozen=True)
class Problem:
    """What is to be learned from: many weak labels and at least two strong ones.

    Attributes:
        weak: D_w.
        strong: D_s.
        task: what the labels are.
        validation: further strong labels, on which trainings with a patience are stopped; never learned from.
    """

    weak: WeakSet
    strong: StrongSet
    task: Task = REGRESSION
    validation: StrongSet | None = None

    def __post_init__(self) -> None:
        if len(self.strong.X) < 2:
            raise InvalidInput(
                "got 1 sample with a strong label, expected at least 2: from one sample nobody can tell signal from "
                "noise; check a second one by hand, or train on the weak labels alone"
            )
        check_encoded(self.weak)
        _check_alike("samples", self.weak.X, self.strong.X)
        _check_alike("labels", self.weak.y, self.strong.y)
        if self.validation is not None:
            _check_alike("samples", self.validation.X, self.strong.X, "validation")
            _check_alike("labels", self.validation.y, self.strong.y, "validation")
        if self.task.has_classes:
            for name, y in (("weak", self.weak.y), ("strong", self.strong.y)):
                _check_probabilities(name, y, self.task.name)

    @property
    def all_samples(self) -> npt.NDArray[Any]:
        """The samples of D_sw: the weak ones, then the strong ones."""
        return np.concatenate([self.weak.X, self.strong.X])

    @property
    def all_weak_labels(self) -> Array | None:
        """What the annotator says of all samples, in the same order; None if it was not asked about the strong ones."""
        return None if self.strong.weak is None else np.concatenate([self.weak.y, self.strong.weak])


@dataclass(frozen=True)
class Teaching:
    """How the teacher is set up.

    Attributes:
        new_teacher: makes an unfitted teacher.
        input: what it sees: "x", "psi" (the paper's) or "both".
        standardise: whether each input column is brought to mean 0 and deviation 1 over all samples first.
        prior_mean: what the teacher believes before it sees strong labels, so that it learns where that is wrong:
            "zero" (the paper's), the "average" strong label (of classes: their shares), the annotator's label of the
            sample ("weak"), the "student"'s prediction, or "student_and_weak" (see `PriorMean`).
        calibrate: whether class probabilities are calibrated on left-out strong labels; else the task's link makes them
            (the paper's).
        rebalance: how far soft labels are moved from the classes' own shares towards equal ones, 0 to 1, so that a rare
            class is heard where all classes count alike (macro-F1): 0 leaves them calibrated, ½ is a good choice for
            decisions (DECISIONS.md, D24). Needs `calibrate`.
    """

    new_teacher: Callable[[], Teacher] = ExactGP
    input: str = "psi"
    standardise: bool = False
    prior_mean: str = "zero"
    calibrate: bool = False
    rebalance: float = 0.0

    def __post_init__(self) -> None:
        _check_known("teacher input", self.input, TEACHER_INPUTS)
        _check_known("prior mean", self.prior_mean, PRIOR_MEANS)
        if self.rebalance and not self.calibrate:
            raise InvalidInput("rebalance moves calibrated probabilities; set calibrate=True as well, or leave it at 0")
        if not 0.0 <= self.rebalance <= 1.0:
            raise InvalidInput(f"rebalance={self.rebalance}: expected 0 (as they are) to 1 (equal classes)")


@dataclass(frozen=True)
class Auto:
    """What FWL_auto may choose from, and how long it trains.

    Attributes:
        held_out_share: of the weak labels, kept back to stop step 1.
        pretraining: step 1, with its patience.
        finetuning: step 3.
        inputs: teacher inputs to compare.
        prior_means: prior means to compare, None for all that suit the task (for numbers, "average" is left
            out: standardised labels have it at zero; "weak" has to be asked for). Those that read the annotator's label
            are left out where it was not asked about the strong samples.
        kernels: names in `fwl.teach.selection.KERNELS` to compare.
        clusters: numbers of clusters to compare; None for as many as the strong samples need (one up to `largest`).
        largest: the most strong samples of one cluster.
        criterion: what they are compared by: the log "evidence" of the strong labels, or their log density when each is
            "left_out" in turn.
        crossfit: folds of fold students whose psi is compared with the pre-trained one; 0 for none.
        kernel_rows: the most strong samples on which candidates are compared and the kernel is fitted; the one chosen
            then learns from all of them with that kernel. None for all.
        betas: values to compare by cross-validation on the strong samples, at half the length of step 3.
        folds: of that cross-validation.
        committee: weak-then-strong students whose mean is averaged with the teacher's own prediction, instead of one
            student taught by it; 0 for none (DECISIONS.md, D38). For classes.
        second_kind: makes students of another kind for a committee with chosen shares; its students' side is then the
            average of both kinds (DECISIONS.md, D70). None for one kind.
        of_second_kind: so many of them.
        many_eyes: whether the committee's teacher looks through all of its (first) students after step 1, or one alone.
        share_folds: folds of the strong samples on which the shares of teacher, students and a linear model of the
            strong labels are chosen (DECISIONS.md, D65); 0 for halves, without a linear model.
        believed_rows: how many strong samples the factors expected of a prior mean count for (`learn.prior.EXPECTED`)
            in an exact teacher; 0 for none, as where there are thousands.
        rebalance: how far the committee's probabilities are moved towards equal classes (see `Teaching.rebalance`).
        guest: makes a trained student of another kind that joins the committee with the share,
            none included, that suits the validation set best; None for no such student.
    """

    held_out_share: float = 0.1
    pretraining: Training = field(default_factory=lambda: Training(steps=2000, patience=25, check_every=20))
    finetuning: Training = field(default_factory=lambda: Training(steps=1000))
    inputs: tuple[str, ...] = TEACHER_INPUTS
    prior_means: tuple[str, ...] | None = None
    kernels: tuple[str, ...] = ("rbf",)
    clusters: tuple[int | None, ...] = (None,)
    largest: int = 1000
    criterion: str = "evidence"
    crossfit: int = 0
    kernel_rows: int | None = None
    betas: tuple[float, ...] = (0.0, 1.0, 5.0)
    folds: int = 3
    committee: int = 0
    second_kind: Callable[[Chance], Student] | None = None
    of_second_kind: int = 2
    many_eyes: bool = False
    share_folds: int = 0
    believed_rows: float = 0.0
    rebalance: float = 0.0
    guest: Callable[[Problem], Student] | None = None

    def __post_init__(self) -> None:
        for name in self.inputs:
            _check_known("teacher input", name, TEACHER_INPUTS)
        for name in self.prior_means or ():
            _check_known("prior mean", name, PRIOR_MEANS)
        for name in self.kernels:
            _check_known("kernel", name, tuple(KERNELS))
        _check_known("criterion", self.criterion, CRITERIA)
        self._check_numbers()
        self._check_committee()

    def _check_numbers(self) -> None:
        for name in ("inputs", "kernels", "clusters", "betas"):
            if not getattr(self, name):
                raise InvalidInput(f"auto: {name} is empty; name at least one to choose from")
        if self.prior_means is not None and not self.prior_means:
            raise InvalidInput("auto: prior_means is empty; name at least one, or None for all that suit the task")
        if not 0.0 < self.held_out_share < 1.0:
            raise InvalidInput(f"auto: held_out_share={self.held_out_share}: expected a share between 0 and 1")
        if self.folds < 2 or self.crossfit == 1 or self.crossfit < 0:
            raise InvalidInput(
                f"auto: folds={self.folds}, crossfit={self.crossfit}: expected at least 2 folds, or crossfit=0 for none"
            )
        if any(not (np.isfinite(beta) and beta >= 0) for beta in self.betas):
            raise InvalidInput(f"auto: betas={self.betas}: expected numbers from 0 up")

    def _check_second_kind(self) -> None:
        if self.second_kind is not None and not self.share_folds:
            raise InvalidInput("auto: students of a second kind belong to chosen shares; give share_folds from 2")
        if self.of_second_kind < 1:
            raise InvalidInput(f"auto: of_second_kind={self.of_second_kind}: expected a number of students from 1")

    def _check_committee(self) -> None:
        if self.committee < 0:
            raise InvalidInput(f"auto: committee={self.committee}: expected a number of students, 0 for none")
        if self.share_folds == 1 or self.share_folds < 0:
            raise InvalidInput(
                f"auto: share_folds={self.share_folds}: expected at least 2 folds, or 0 for equal shares"
            )
        if self.share_folds and self.guest is not None:
            raise InvalidInput("auto: with share_folds a linear model is the guest; leave guest at None, or folds at 0")
        self._check_second_kind()
        if not (np.isfinite(self.believed_rows) and self.believed_rows >= 0):
            raise InvalidInput(f"auto: believed_rows={self.believed_rows}: expected a number of rows, 0 for none")
        if self.kernel_rows is not None and self.kernel_rows < 2:
            raise InvalidInput(f"auto: kernel_rows={self.kernel_rows}: expected at least 2, or None for all")
        if not 0.0 <= self.rebalance <= 1.0:
            raise InvalidInput(f"auto: rebalance={self.rebalance}: expected 0 (as they are) to 1 (equal classes)")


@dataclass(frozen=True)
class Recipe:
    """Everything that Algorithm 1 leaves to be chosen.

    Attributes:
        new_student: makes an untrained student.
        pretraining: step 1.
        finetuning: step 3.
        strong_passes: the most passes over the strong samples in a step 3 that sees nothing else; None for as many as
            its updates make.
        teaching: step 2.
        beta: how strongly uncertainty lowers fidelity: eta2 = exp(-beta Sigma).
        uncertainty: Sigma "raw", the posterior variance itself (the paper's), or "relative": the share of the signal's
            prior variance that the strong labels left unexplained.
        fidelity_as: eta2 scales the "step" (FWL), drives the "sampling" (FWL_s), or does "nothing" (FWL_noSigma).
        auto: the choices left to FWL_auto.
    """

    new_student: Callable[[Chance], Student]
    pretraining: Training = field(default_factory=Training)
    finetuning: Training = field(default_factory=Training)
    strong_passes: int | None = None
    teaching: Teaching = field(default_factory=Teaching)
    beta: float = 1.0
    uncertainty: str = "raw"
    fidelity_as: str = "step"
    auto: Auto = field(default_factory=Auto)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.beta) and self.beta >= 0):
            raise InvalidInput(
                f"beta={self.beta}: expected a number from 0 up; 0 trusts the teacher everywhere, "
                "larger values stay closer to the weak labels"
            )
        if self.strong_passes is not None and self.strong_passes < 1:
            raise InvalidInput(f"strong_passes={self.strong_passes}: expected at least 1, or None for no limit")
        _check_known("uncertainty", self.uncertainty, UNCERTAINTIES)
        _check_known("use of fidelity", self.fidelity_as, FIDELITY_USES)

    def but(self, **changes: Any) -> Recipe:
        """The same recipe with some choices changed."""
        return replace(self, **changes)

    def on_strong(self, n: int) -> Training:
        """Step 3 where it sees n strong samples and nothing else: a few of them are not gone over hundreds of times."""
        if self.strong_passes is None:
            return self.finetuning
        most = max(LEAST_UPDATES, math.ceil(self.strong_passes * n / self.finetuning.batch_size))
        return replace(self.finetuning, steps=min(self.finetuning.steps, most))


def check_answerable(problem: Problem, prior_means: Sequence[str]) -> None:
    """Refuse, before any work is done, to ask for the annotator's label of strong samples where none was given."""
    if prior_means and set(prior_means) <= set(READ_WEAK) and problem.strong.weak is None:
        raise InvalidInput(
            f'prior mean "{prior_means[0]}" needs what the annotator says of the strong samples; '
            "give it as StrongSet(X, y, weak=...), or choose another prior mean"
        )


def _check_probabilities(name: str, y: Array, task: str) -> None:
    one = y.shape[1] == 1
    broken = (y < 0).any(axis=1) | (y > 1).any(axis=1) | (False if one else np.abs(y.sum(axis=1) - 1.0) > ROUNDING)
    if not broken.any():
        return
    row = int(np.flatnonzero(broken)[0])
    expected = "a probability" if one else f"a distribution over {y.shape[1]} classes, one-hot for a single one"
    raise InvalidInput(
        f"{name} labels of a {task} task: expected {expected} in each row, got {y[row].tolist()} in row {row}"
    )


def _check_known(kind: str, name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        raise UnknownName(kind, name, known)


def _check_alike(what: str, some: npt.NDArray[Any], strong: npt.NDArray[Any], name: str = "weak") -> None:
    if some.shape[1:] != strong.shape[1:]:
        raise WrongShape(
            f"{name} {what} have shape {some.shape} and strong {what} {strong.shape}; expected the same columns in both"
        )
