"""The one training loop: plain, weighted, sampled, alternating and resumed training all pass through it.

It reads as a staircase: `train` takes steps, a step takes a batch, a batch has a weighted loss.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from fwl.errors import InvalidInput, NumericalTrouble, UnknownName
from fwl.progress import Progress, Silent
from fwl.randomness import Chance
from fwl.records import Array, as_matrix, as_samples, as_vector, check_same_length
from fwl.students.batches import Batches, LikeLengths, Shuffled
from fwl.students.checkpoint import Checkpoint, fingerprint
from fwl.students.contract import Student
from fwl.students.inference import Rows, as_input, chunk_by_chunk
from fwl.students.losses import Loss, squared_error
from fwl.students.optimisers import OPTIMISERS, dense_parameters, make_optimisers
from fwl.students.schedules import SCHEDULES

Watch = Callable[[Array, Array], float]


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a student is trained on.

    Attributes:
        X: samples, [N, ...].
        y: targets, [N, C].
        weight: the scale of each sample's step, [N]; None for one each.
    """

    X: npt.NDArray[Any]
    y: Array
    weight: Array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", as_samples(self.X, "lesson"))
        object.__setattr__(self, "y", as_matrix(self.y, "lesson labels"))
        check_same_length("lesson samples", self.X, "lesson labels", self.y)
        if self.weight is not None:
            object.__setattr__(self, "weight", as_vector(self.weight, "lesson weights"))
            check_same_length("lesson weights", self.weight, "lesson labels", self.y)


@dataclass(frozen=True)
class Training:
    """How long, how fast and by which rule.

    Attributes:
        steps: parameter updates, at the most.
        batch_size: samples per update.
        optimiser: "adam" or "sgd"; sparse gradients get `RowAdam` beside Adam.
        learning_rate: eta1 at step 0.
        annealing: how eta1(t) falls from there; a name in `schedules.SCHEDULES`.
        l2: factor of the squared parameters in the loss.
        patience: checks without a better held-out loss (or what `train` is told to watch) before training stops; None
            trains to the end.
        check_every: steps between two such checks.
    """

    steps: int = 1000
    batch_size: int = 32
    optimiser: str = "adam"
    learning_rate: float = 1e-3
    annealing: str = "constant"
    l2: float = 0.0
    patience: int | None = None
    check_every: int = 10

    def __post_init__(self) -> None:
        if self.optimiser not in OPTIMISERS:
            raise UnknownName("optimiser", self.optimiser, OPTIMISERS)
        if self.annealing not in SCHEDULES:
            raise UnknownName("annealing", self.annealing, SCHEDULES)
        for name, least in (("steps", 0), ("batch_size", 1), ("check_every", 1), ("l2", 0)):
            if not getattr(self, name) >= least:
                raise InvalidInput(f"{name} is at least {least}, got {getattr(self, name)}")
        if not self.learning_rate > 0:
            raise InvalidInput(f"learning_rate is above 0, got {self.learning_rate}")
        if self.patience is not None and self.patience < 1:
            raise InvalidInput(f"patience is at least 1 or None, got {self.patience}")


@dataclass
class History:
    """What happened: the loss of every step, the held-out loss (or what was watched) of every check, why it ended."""

    loss: list[float] = field(default_factory=list)
    held_out: list[float] = field(default_factory=list)
    checked_at: list[int] = field(default_factory=list)
    best_step: int = 0
    stopped_early: bool = False


def train(
    student: Student,
    lesson: Lesson,
    plan: Training,
    chance: Chance,
    *,
    loss: Loss = squared_error,
    batches: Batches | None = None,
    held_out: Lesson | None = None,
    watch: Watch | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> History:
    """Train a student in place.

    Args:
        student: the network; its parameters change.
        lesson: samples, targets and the weight of each.
        plan: optimiser, steps, early stopping.
        chance: where batches (and dropout) draw from; the same chance gives the same student to the bit.
        loss: per sample, unreduced.
        batches: which rows each step sees; by default shuffled epochs, of batches of like length where the student's
            samples have lengths.
        held_out: the set that early stopping watches; with it and `plan.patience` the best student seen is kept.
        watch: what early stopping wants small, a function of the student's outputs for the held-out set and its
            targets, both [N, C] and in its order: an error rate, say, or a macro-F1 with a minus sign. By default the
            mean of the loss, weighted as the held-out set says; a watch sees no weights.
        progress: hears of every step.
        checkpoint: where to save now and then, and to resume from if something is there.

    Returns:
        The losses and why training ended.
    """
    if plan.patience is not None and held_out is None:
        raise InvalidInput("early stopping (patience) needs a held-out set to watch; give held_out or patience=None")
    batches = batches or _epochs(student, lesson, plan, chance.child("batches"))
    # Dropout draws from torch's global generator: lend it one of ours and give the global one back after.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(chance.child("dropout").integer())
        run = _Run(student, lesson, plan, loss, batches, held_out, watch)
        if checkpoint is not None:
            checkpoint.resume(run, key=fingerprint(plan, chance, lesson, held_out, *_kinds(run)))
        student.train()
        return _take_steps(run, progress or Silent(), checkpoint)


def _epochs(student: Student, lesson: Lesson, plan: Training, chance: Chance) -> Batches:
    lengths = student.lengths(lesson.X)
    if lengths is None:
        return Shuffled(len(lesson.X), plan.batch_size, chance)
    return LikeLengths(lengths, plan.batch_size, chance)


def _take_steps(run: _Run, progress: Progress, checkpoint: Checkpoint | None) -> History:
    progress.start(run.plan.steps, "training")
    progress.advance(run.step)
    try:
        while run.step < run.plan.steps and not run.history.stopped_early:
            run.take_step()
            progress.advance()
            if checkpoint is not None and checkpoint.is_due(run.step):
                checkpoint.save(run)
    finally:
        progress.finish()
    run.keep_best()
    return run.history


class _Run:
    """The moving parts of one training: student, optimisers, step counter, best student so far."""

    def __init__(
        self,
        student: Student,
        lesson: Lesson,
        plan: Training,
        loss: Loss,
        batches: Batches,
        held_out: Lesson | None,
        watch: Watch | None = None,
    ) -> None:
        self.student, self.lesson, self.plan, self.loss, self.batches = student, lesson, plan, loss, batches
        self.held_out, self.watch = held_out, watch
        self.X, y, weight = _tensors(lesson, student)
        self.table = torch.cat([y, weight[:, None]], dim=1)  # [N, C + 1]: labels, and the weight in the last column
        self.watched = None if held_out is None or plan.patience is None else _Watched(student, held_out)
        self.optimisers = make_optimisers(student, plan.optimiser, plan.learning_rate)
        self.decayed = dense_parameters(student) if plan.l2 else []
        self.eta1 = SCHEDULES[plan.annealing]
        self.step, self.history = 0, History()
        self.best = copy.deepcopy(student.state_dict()) if self.watched else {}

    def take_step(self) -> None:
        """One update of the parameters, and a look at the held-out set when it is due."""
        self._anneal()
        rows = torch.from_numpy(self.batches.rows(self.step))
        for optimiser in self.optimisers:
            optimiser.zero_grad()
        loss = self._backpropagate(rows)
        for optimiser in self.optimisers:
            optimiser.step()
        self.step += 1
        self._check_finite("loss", loss)
        self.history.loss.append(loss)
        if self.watched is not None and self.step % self.plan.check_every == 0:
            self._check()

    def _backpropagate(self, rows: torch.Tensor) -> float:
        """The gradient of the mean over the batch of eta2 (l + R), the paper's update; returns that mean.

        Each sample's gradient is scaled by its weight on its way back, which costs less than a weighted sum would.
        """
        # One gather for labels and weights together, by index_select: both are measurable parts of a small step.
        table = self.table.index_select(0, rows)
        losses = self.loss(self.student(self.X.index_select(0, rows)), table[:, :-1])
        if losses.ndim != 1:
            raise InvalidInput(f"a loss is per sample, [N]; got shape {tuple(losses.shape)}: do not reduce it")
        share = table[:, -1] / len(rows)
        losses.backward(share)  # type: ignore[no-untyped-call]
        loss = torch.dot(losses.detach(), share)
        return (loss + self._penalise(share.sum())).item() if self.decayed else loss.item()

    def _penalise(self, scale: torch.Tensor) -> torch.Tensor:
        """The L2 term, scaled by the batch's mean weight like every other part of its step."""
        penalty = scale * self.plan.l2 * torch.stack([p.square().sum() for p in self.decayed]).sum()
        penalty.backward()  # type: ignore[no-untyped-call]
        return penalty.detach()

    def _anneal(self) -> None:
        if self.plan.annealing == "constant":
            return
        rate = self.plan.learning_rate * self.eta1(self.step, self.plan.steps)
        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = rate

    def _check_finite(self, what: str, loss: float) -> None:
        if not math.isfinite(loss):
            raise NumericalTrouble(
                f"the {what} became {loss} at step {self.step}; "
                f"try a smaller learning rate (now {self.plan.learning_rate}) or standardised inputs"
            )

    def _check(self) -> None:
        """Early stopping: remember the best student on the held-out set, stop when patience is used up."""
        loss, history = self._held_out_loss(), self.history
        self._check_finite("held-out loss" if self.watch is None else "watched quantity", loss)
        if not history.held_out or loss < min(history.held_out):
            self.best, history.best_step = copy.deepcopy(self.student.state_dict()), self.step
        history.held_out.append(loss)
        history.checked_at.append(self.step)
        patience = (self.plan.patience or 0) * self.plan.check_every
        history.stopped_early = self.step - history.best_step >= patience

    def _held_out_loss(self) -> float:
        assert self.watched is not None
        outputs, y = self.watched.outputs(self.student), self.watched.y
        if self.watch is not None:
            return float(self.watch(outputs.double().numpy(), y.double().numpy()))
        return float((self.loss(outputs, y) * self.watched.weight).mean())

    def keep_best(self) -> None:
        """Put back the student that did best on the held-out set, if one was watched."""
        if self.history.held_out:
            self.student.load_state_dict(self.best)
        else:
            self.history.best_step = self.step
        self.student.eval()


class _Watched:
    """The held-out set, and what a student says of it."""

    def __init__(self, student: Student, lesson: Lesson) -> None:
        self.X, self.y, self.weight = _tensors(lesson, student)
        self.lengths = student.lengths(lesson.X)

    def outputs(self, student: Student) -> torch.Tensor:
        """The student's outputs in the order of the set, dropout off, a chunk at a time."""

        def ask(rows: Rows) -> torch.Tensor:
            outputs: torch.Tensor = student(self.X[rows])
            return outputs

        student.eval()
        with torch.no_grad():
            outputs = chunk_by_chunk(ask, len(self.X), self.lengths)
        student.train()
        return outputs


def _kinds(run: _Run) -> tuple[Any, ...]:
    """What else tells one training from another: the student's shapes, and what it was given to use, by name."""
    shapes = {name: tuple(value.shape) for name, value in run.student.state_dict().items()}
    watch = () if run.watch is None else (_name(run.watch),)
    return shapes, _name(run.loss), type(run.batches).__name__, *watch


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", type(function).__name__)


def _tensors(lesson: Lesson, student: Student) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    weight = np.ones(len(lesson.X)) if lesson.weight is None else lesson.weight
    return as_input(lesson.X, student.reads), _single(lesson.y), _single(weight)


def _single(array: Array) -> torch.Tensor:
    return torch.from_numpy(array.astype(np.float32))
