"""The toy problem of the paper: learn sin(x) from ten noisy observations and a weak function that is far off."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fwl.annotate.formula import Formula
from fwl.errors import InvalidInput, UnknownName
from fwl.evaluate.measures import rmse
from fwl.experiments.declare import Outcome, Score
from fwl.learn.eyes import OneStudent
from fwl.learn.fitted import FittedTeacher, fit_teacher
from fwl.learn.learned import Learned
from fwl.learn.methods import METHODS
from fwl.learn.pretrain import pretrain
from fwl.learn.recipe import Auto, Problem, Recipe, Teaching
from fwl.learn.worth import effective_share
from fwl.randomness import Chance
from fwl.records import Array, StrongSet, WeakSet
from fwl.students.contract import Student
from fwl.students.inference import predict
from fwl.students.perceptron import Perceptron
from fwl.students.training import Training
from fwl.teach.contract import Teacher
from fwl.teach.exact import ExactGP
from fwl.teach.given import HYPERPARAMETERS
from fwl.teach.kernels import RBF, White

ANNOTATOR = "WA"
SKEW = "effective share of D_sw"  # of its fidelities, 1 where all are the same


@dataclass(frozen=True)
class ToySettings:
    """Every number of the toy problem; where the paper gives none, DECISIONS.md tells why it is this one.

    Attributes:
        seed: the first seed; the others follow.
        true: the function to learn.
        weak: the weak annotator's function.
        x_range: samples are uniform in [-x_range, x_range].
        n_weak: weak samples.
        n_strong: strong samples.
        strong_noise: standard deviation of the noise on strong labels.
        n_test: test points, evenly spaced over the range.
        hidden: width of each hidden layer.
        activation: of the hidden layers.
        initialisation: of the weights.
        optimiser: of all phases.
        learning_rate: of all phases.
        batch_size: of all phases.
        l2: factor of the L2 term in all phases.
        pretrain_steps: updates of step 1.
        finetune_steps: updates of step 3, and of fine-tuning on strong labels.
        teacher_input: "x", "psi" or "both".
        standardise: whether teacher inputs are standardised.
        prior_mean: "zero" or "student".
        lengthscale: of the teacher's RBF kernel.
        white: constant of the teacher's White kernel.
        hyperparameters: "fixed", or "evidence" to fit the kernel.
        uncertainty: "raw" or "relative".
        beta: of eta2 = exp(-beta Sigma).
        auto_pretrain_steps: updates of FWL_auto's step 1, at the most.
        auto_finetune_steps: updates of FWL_auto's step 3.
        auto_folds: folds of FWL_auto's cross-validation of beta.
    """

    seed: int = 0
    true: str = "sin(x)"
    weak: str = "2*sinc(x)"
    x_range: float = 6.5
    n_weak: int = 100
    n_strong: int = 10
    strong_noise: float = 0.05
    n_test: int = 200
    hidden: tuple[int, ...] = (128, 128, 128)
    activation: str = "tanh"
    initialisation: str = "glorot"
    optimiser: str = "adam"
    learning_rate: float = 1e-3
    batch_size: int = 32
    l2: float = 0.0
    pretrain_steps: int = 200
    finetune_steps: int = 600
    teacher_input: str = "x"
    standardise: bool = False
    prior_mean: str = "zero"
    lengthscale: float = 1.0
    white: float = 0.01
    hyperparameters: str = "fixed"
    uncertainty: str = "raw"
    beta: float = 1.0
    auto_pretrain_steps: int = 2000
    auto_finetune_steps: int = 1000
    auto_folds: int = 3

    def __post_init__(self) -> None:
        # Whoever will read a setting later refuses it now, before any work is done.
        recipe = recipe_of(self)
        recipe.new_student(Chance(self.seed)), recipe.teaching.new_teacher()
        if self.hyperparameters not in HYPERPARAMETERS:
            raise UnknownName("choice of hyperparameters", self.hyperparameters, HYPERPARAMETERS)
        self._check_numbers()
        for formula in (self.true, self.weak):
            Formula(formula).annotate(test_points(self))

    def _check_numbers(self) -> None:
        for name, least in (("n_weak", 1), ("n_strong", 1), ("n_test", 2), ("auto_folds", 2)):
            if getattr(self, name) < least:
                raise InvalidInput(f"setting {name}={getattr(self, name)}: expected at least {least}")
        if self.n_strong == 1:
            raise InvalidInput(
                "setting n_strong=1: expected at least 2; from one strong sample nobody can tell signal from noise"
            )
        if not (np.isfinite(self.x_range) and self.x_range > 0):
            raise InvalidInput(f"setting x_range={self.x_range}: expected a number above 0")
        if not (np.isfinite(self.strong_noise) and self.strong_noise >= 0):
            raise InvalidInput(f"setting strong_noise={self.strong_noise}: expected a number from 0 up")


def measure_toy(
    settings: ToySettings,
    dataset: str,
    methods: tuple[str, ...],
    seed: int,
    with_curves: bool,
    with_skew: bool = False,
) -> Outcome:
    """The RMSE of each method against the true function, under one seed; if asked, how even its fidelities are."""
    problem, chance = draw_problem(settings, seed), Chance(seed)
    x = test_points(settings)
    truth = Formula(settings.true).annotate(x)
    student = pretrain(problem, recipe_of(settings), chance)
    learned = {m: METHODS[m](problem, recipe_of(settings), chance, student) for m in methods if m != ANNOTATOR}
    weak = Formula(settings.weak).annotate(x)
    predictions = {m: learned[m].predict(x) if m in learned else weak for m in methods}
    scores = [Score(dataset, m, "rmse", True, rmse(truth, p)) for m, p in predictions.items()]
    if with_skew:
        scores += [Score(dataset, m, SKEW, False, skew) for m, one in learned.items() for skew in skews(one)]
    curves = _curves(problem, settings, student, x, predictions) if with_curves else {}
    return Outcome(tuple(scores), _digest(problem), curves)


def skews(learned: Learned) -> list[float]:
    """How even the fidelities of the soft dataset are, where there is one: its effective share."""
    return [] if learned.soft is None else [effective_share(learned.soft.fidelity)]


def draw_problem(settings: ToySettings, seed: int) -> Problem:
    """Weak and strong samples of one seed."""
    chance = Chance(seed).child("toy data")

    def uniform(purpose: str, n: int) -> Array:
        drawn: Array = chance.child(purpose).numpy().uniform(-settings.x_range, settings.x_range, (n, 1))
        return drawn

    x_weak, x_strong = uniform("weak x", settings.n_weak), uniform("strong x", settings.n_strong)
    noise = settings.strong_noise * chance.child("strong noise").numpy().standard_normal((settings.n_strong, 1))
    weak = WeakSet(x_weak, Formula(settings.weak).annotate(x_weak))
    strong = StrongSet(x_strong, Formula(settings.true).annotate(x_strong) + noise)
    return Problem(weak, strong)


def recipe_of(settings: ToySettings) -> Recipe:
    """The settings as the recipe that all methods share."""
    return Recipe(
        new_student=_NewStudent(settings),
        pretraining=_plan(settings, settings.pretrain_steps),
        finetuning=_plan(settings, settings.finetune_steps),
        teaching=Teaching(_NewTeacher(settings), settings.teacher_input, settings.standardise, settings.prior_mean),
        beta=settings.beta,
        uncertainty=settings.uncertainty,
        auto=Auto(
            pretraining=_plan(settings, settings.auto_pretrain_steps, patience=25, check_every=20),
            finetuning=_plan(settings, settings.auto_finetune_steps),
            folds=settings.auto_folds,
        ),
    )


def test_points(settings: ToySettings) -> Array:
    """Evenly spaced points over the range, [n_test, 1]."""
    return np.linspace(-settings.x_range, settings.x_range, settings.n_test)[:, None]


@dataclass(frozen=True)
class _NewStudent:
    settings: ToySettings

    def __call__(self, chance: Chance) -> Student:
        s = self.settings
        return Perceptron(1, 1, s.hidden, s.activation, s.initialisation, chance=chance)


@dataclass(frozen=True)
class _NewTeacher:
    settings: ToySettings

    def __call__(self) -> Teacher:
        s = self.settings
        return ExactGP(RBF(s.lengthscale) + White(s.white), s.hyperparameters)


def _plan(settings: ToySettings, steps: int, **changes: Any) -> Training:
    s = settings
    return Training(steps, s.batch_size, s.optimiser, s.learning_rate, l2=s.l2, **changes)


def _curves(
    problem: Problem, settings: ToySettings, student: Student, x: Array, predictions: dict[str, Array]
) -> dict[str, Any]:
    """What the four-panel figure draws, as plain lists."""
    posterior = _teacher_of(problem, settings, student).posterior(x)
    lines = {
        "x": x,
        "true": Formula(settings.true).annotate(x),
        "weak": Formula(settings.weak).annotate(x),
        "teacher": posterior.mean,
        "teacher_sd": np.sqrt(posterior.variance),
        "student_weak": predict(student, x),
        **{f"method:{name}": values for name, values in predictions.items()},
        "weak_x": problem.weak.X,
        "weak_y": problem.weak.y,
        "strong_x": problem.strong.X,
        "strong_y": problem.strong.y,
    }
    return {name: [round(float(v), 6) for v in values[:, 0]] for name, values in lines.items()}


def _teacher_of(problem: Problem, settings: ToySettings, student: Student) -> FittedTeacher:
    teaching = recipe_of(settings).teaching
    return fit_teacher(OneStudent(student), problem.strong, problem.all_samples, teaching, problem.task)


def _digest(problem: Problem) -> str:
    parts: Sequence[Array] = (problem.weak.X, problem.weak.y, problem.strong.X, problem.strong.y)
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()
