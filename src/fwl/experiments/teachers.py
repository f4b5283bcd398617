"""The paper's teacher table: FWL taught by a single Gaussian process, one after PCA, and a clustered one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fwl.annotate.formula import Formula
from fwl.errors import InvalidInput, UnknownName
from fwl.evaluate.calibration import accuracy, expected_calibration_error, negative_log_likelihood
from fwl.evaluate.measures import rmse
from fwl.experiments.declare import Outcome, Score
from fwl.experiments.synthetic import SmoothClasses
from fwl.experiments.taught import AFTER_PCA, SINGLE
from fwl.experiments.toy import ToySettings, draw_problem, recipe_of, test_points
from fwl.learn.fidelity_weighted import fidelity_weighted
from fwl.learn.learned import Learned
from fwl.learn.pretrain import pretrain
from fwl.learn.recipe import Problem, Recipe, Teaching
from fwl.learn.task import MULTICLASS
from fwl.randomness import Chance
from fwl.records import Array, StrongSet, WeakSet
from fwl.students.contract import Student
from fwl.students.perceptron import Perceptron
from fwl.students.training import Training
from fwl.teach.clustered import ClusteredGP
from fwl.teach.contract import Teacher
from fwl.teach.exact import ExactGP
from fwl.teach.kernels import RBF, Kernel, Linear, White
from fwl.teach.reduced import Reduced

TASKS = ("toy", "classes")


@dataclass(frozen=True)
class TeacherSettings:
    """Every number of the teacher table.

    Attributes:
        seed: the first seed; the others follow.
        task: "toy", or "classes": smooth random classes with a known posterior and an annotator of planted quality.
        n_weak: weak samples of "classes".
        n_strong: strong samples of "classes"; the toy has its own ten.
        n_test: test samples of "classes".
        columns: of x in "classes".
        classes: how many there are.
        sharpness: of their logits.
        distortion: of the annotator's view of them.
        flips: share of the annotator's labels drawn at random.
        hidden: width of each hidden layer of the student of "classes".
        pretrain_steps: updates of step 1 on "classes".
        finetune_steps: updates of step 3 on "classes".
        calibrate: whether class probabilities are calibrated, or the softmax of the teacher's mean as the paper has it.
        beta: of eta2 = exp(-beta Sigma).
        components: of the PCA.
        clusters: of the clustered teacher.
        smallest: clusters of fewer strong samples are merged.
    """

    seed: int = 0
    task: str = "classes"
    n_weak: int = 4000
    n_strong: int = 600
    n_test: int = 2000
    columns: int = 20
    classes: int = 3
    sharpness: float = 3.0
    distortion: float = 0.3
    flips: float = 0.2
    hidden: tuple[int, ...] = (64, 64)
    pretrain_steps: int = 1000
    finetune_steps: int = 1000
    calibrate: bool = False
    beta: float = 1.0
    components: int = 10
    clusters: int = 5
    smallest: int = 10

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise UnknownName("task", self.task, TASKS)
        least = {"n_weak": 1, "n_strong": 2, "n_test": 1, "components": 1, "clusters": 1, "smallest": 1}
        for name, number in least.items():
            if getattr(self, name) < number:
                raise InvalidInput(f"setting {name}={getattr(self, name)}: expected at least {number}")
        _recipe_of_classes(self).new_student(Chance(self.seed))
        _task(self, Chance(self.seed))


# From what was learned to (metric, whether lower is better, value).
Marks = Callable[[Learned], list[tuple[str, bool, float]]]


@dataclass(frozen=True)
class _Setup:
    """One task under one seed: the problem, the recipe that all teachers share, how to score, and psi's columns."""

    problem: Problem
    recipe: Recipe
    marks: Marks
    width: int


def measure_teachers(
    settings: TeacherSettings,
    dataset: str,
    methods: tuple[str, ...],
    seed: int,
    with_curves: bool,  # noqa: ARG001
) -> Outcome:
    """The student's and the teacher's scores for each kind of teacher, under one seed."""
    setup = (_set_up_toy if settings.task == "toy" else _set_up_classes)(settings, seed)
    student = pretrain(setup.problem, setup.recipe, Chance(seed))
    scores = [
        Score(dataset, method, metric, lower, value)
        for method in methods
        for metric, lower, value in setup.marks(_taught(setup, settings, seed, student, method))
    ]
    return Outcome(tuple(scores), _digest(setup.problem))


def new_teacher(method: str, kernel: Kernel, settings: TeacherSettings) -> Teacher:
    """The unfitted teacher of one row; all start from one kernel and fit it by evidence."""
    single = partial(ExactGP, kernel, "evidence_with_prior", starts=1)
    if method == SINGLE:
        return single()
    if method == AFTER_PCA:
        return Reduced(single, settings.components)
    return ClusteredGP(
        settings.clusters, kernel=kernel, hyperparameters="evidence_with_prior", smallest=settings.smallest
    )


def _taught(setup: _Setup, settings: TeacherSettings, seed: int, student: Student, method: str) -> Learned:
    # Between standardised rows every distance is about the root of twice their columns: l starts at half of that.
    kernel = RBF(float(np.sqrt(0.5 * setup.width))) + Linear(0.0, 0.1 / setup.width) + White(0.05)
    teaching = Teaching(
        partial(new_teacher, method, kernel, settings), input="psi", standardise=True, calibrate=settings.calibrate
    )
    recipe = setup.recipe.but(teaching=teaching, beta=settings.beta)
    return fidelity_weighted(setup.problem, recipe, Chance(seed), student)


def _set_up_toy(_: TeacherSettings, seed: int) -> _Setup:
    toy = ToySettings()
    x = test_points(toy)
    truth = Formula(toy.true).annotate(x)

    def marks(learned: Learned) -> list[tuple[str, bool, float]]:
        assert learned.teacher is not None
        return [
            ("rmse", True, rmse(truth, learned.predict(x))),
            ("rmse of the teacher", True, rmse(truth, learned.teacher.predict(x))),
        ]

    # The paper's recipe otherwise; the three teachers differ on psi only, where there is something to reduce.
    return _Setup(draw_problem(toy, seed), recipe_of(toy), marks, toy.hidden[-1])


def _set_up_classes(settings: TeacherSettings, seed: int) -> _Setup:
    chance = Chance(seed).child("classes")
    task = _task(settings, chance)
    samples = [task.draw(n, chance.child(part)) for part, n in _parts(settings)]
    weak, strong, test = samples
    truth = task.label(test, chance.child("test labels"))

    def marks(learned: Learned) -> list[tuple[str, bool, float]]:
        assert learned.teacher is not None
        said = learned.teacher.predict(test)
        return [
            ("accuracy", False, accuracy(truth, learned.predict(test))),
            ("accuracy of the teacher", False, accuracy(truth, said)),
            ("NLL of the teacher", True, negative_log_likelihood(truth, said)),
            ("ECE of the teacher", True, expected_calibration_error(truth, said)),
        ]

    problem = Problem(
        WeakSet(weak, task.annotate(weak, chance.child("annotator"))),
        StrongSet(strong, task.label(strong, chance.child("strong labels"))),
        MULTICLASS,
    )
    return _Setup(problem, _recipe_of_classes(settings), marks, settings.hidden[-1])


def _parts(settings: TeacherSettings) -> tuple[tuple[str, int], ...]:
    return ("weak x", settings.n_weak), ("strong x", settings.n_strong), ("test x", settings.n_test)


def _task(settings: TeacherSettings, chance: Chance) -> SmoothClasses:
    s = settings
    return SmoothClasses(
        s.columns,
        s.classes,
        chance=chance,
        informative=min(4, s.columns),
        sharpness=s.sharpness,
        distortion=s.distortion,
        flips=s.flips,
    )


def _recipe_of_classes(settings: TeacherSettings) -> Recipe:
    plan = Training(settings.pretrain_steps, 64)
    return Recipe(
        _NewStudent(settings.columns, settings.classes, settings.hidden),
        pretraining=plan,
        finetuning=replace(plan, steps=settings.finetune_steps),
        beta=settings.beta,
    )


@dataclass(frozen=True)
class _NewStudent:
    columns: int
    classes: int
    hidden: tuple[int, ...]

    def __call__(self, chance: Chance) -> Student:
        return Perceptron(self.columns, self.classes, self.hidden, "relu", chance=chance)


def _digest(problem: Problem) -> str:
    parts: tuple[Array, ...] = (problem.weak.X, problem.weak.y, problem.strong.X, problem.strong.y)
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()
