"""FWL_auto's step 2: candidate teachers, and the one that strong labels speak for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from fwl.learn.crossfit import cross_fit
from fwl.learn.eyes import Eyes, OneStudent
from fwl.learn.fitted import FittedTeacher, fit_through, left_out
from fwl.learn.prior import EXPECTED, READ_WEAK, prior_for
from fwl.learn.recipe import PRIOR_MEANS, Auto, Problem, Recipe, Teaching
from fwl.learn.view import make_view
from fwl.randomness import Chance
from fwl.records import StrongSet
from fwl.students.contract import Student
from fwl.teach.clustered import ClusteredGP
from fwl.teach.contract import Teacher
from fwl.teach.evidence import Believed
from fwl.teach.exact import ExactGP
from fwl.teach.kernels import Kernel
from fwl.teach.selection import evidence_score, left_out_score, starting_kernel


@dataclass(frozen=True)
class Candidate:
    """One way to set up a teacher."""

    input: str
    prior_mean: str
    kernel: str
    clusters: int | None
    crossfit: bool

    def name(self, auto: Auto) -> str:
        """Its choices with commas between; those that had no alternative are left out."""
        parts = [self.input, self.prior_mean]
        parts += [self.kernel] if len(auto.kernels) > 1 else []
        parts += [f"K={self.clusters or 'auto'}"] if len(auto.clusters) > 1 else []
        parts += ["cross-fitted"] if self.crossfit else []
        return ", ".join(parts)


@dataclass(frozen=True)
class NewTeacher:
    """Makes the unfitted teacher of a candidate: exact for one cluster, clustered for more."""

    kernel: Kernel
    clusters: int | None
    largest: int
    hyperparameters: str = "evidence_with_prior"
    believed: Believed | None = None

    def __call__(self) -> Teacher:
        """A new one."""
        if self.clusters == 1:
            return ExactGP(self.kernel, self.hyperparameters, shrink_mean=True, believed=self.believed)
        return ClusteredGP(
            self.clusters, self.largest, self.kernel, self.hyperparameters, shrink_mean=True, precision="double"
        )


def choose_teacher(
    student: Student, problem: Problem, recipe: Recipe, chance: Chance, eyes: Eyes | None = None
) -> tuple[FittedTeacher, dict[str, dict[str, float]]]:
    """The fitted teacher with the highest score, and the scores of every candidate by its name.

    Args:
        student: after step 1; cross-fitted candidates start from it.
        problem: the strong labels decide.
        recipe: in `auto`, what is compared.
        chance: where rows and folds are drawn from.
        eyes: what the teacher looks through; the student's by default.
    """
    auto, fitted, scores = recipe.auto, {}, {}
    tried = _some(problem, auto.kernel_rows, chance)
    for seen_through, candidate in _candidates(student, eyes or OneStudent(student), tried, auto, chance):
        name = candidate.name(auto)
        fitted[name] = _fit(seen_through, candidate, tried, auto)
        scores[name] = _scores(fitted[name], tried)
    best = fitted[max(scores, key=lambda name: scores[name][auto.criterion])]
    return (best if tried is problem else _taught_all(best, problem, auto)), scores


def _some(problem: Problem, most: int | None, chance: Chance) -> Problem:
    """The problem with at most so many of its strong labels."""
    strong = problem.strong
    if most is None or len(strong.X) <= most:
        return problem
    rows = chance.child("kernel rows").numpy().permutation(len(strong.X))[:most]
    weak = None if strong.weak is None else strong.weak[rows]
    return replace(problem, strong=StrongSet(strong.X[rows], strong.y[rows], weak))


def _taught_all(fitted: FittedTeacher, problem: Problem, auto: Auto) -> FittedTeacher:
    """The same teacher, with the kernel it has, on all strong labels."""
    kernel = fitted.teacher.kernel_  # type: ignore[attr-defined]
    clusters = 1 if len(problem.strong.X) <= auto.largest else None
    new_teacher = NewTeacher(kernel, clusters, auto.largest, "fixed", _believed(fitted.prior.kind, auto))
    teaching = replace(fitted.teaching, new_teacher=new_teacher)
    prior = prior_for(fitted.prior.kind, problem.strong, problem.task)
    return fit_through(fitted.view, new_teacher(), problem.strong, prior, teaching, problem.task)


def _candidates(
    student: Student, eyes: Eyes, problem: Problem, auto: Auto, chance: Chance
) -> Iterator[tuple[Eyes, Candidate]]:
    grid = list(product(auto.inputs, _prior_means(problem, auto), auto.kernels, auto.clusters))
    for choices in grid:
        yield eyes, Candidate(*choices, crossfit=False)
    if auto.crossfit:
        fold_students = cross_fit(student, problem, auto.finetuning, auto.crossfit, chance)
        for choices in grid:
            if choices[0] != "x" or choices[1] in ("student", "student_and_weak"):  # others use no student at all
                yield fold_students, Candidate(*choices, crossfit=True)


def _prior_means(problem: Problem, auto: Auto) -> list[str]:
    unasked = ("weak",) if problem.task.has_classes else ("weak", "average")
    suitable = [m for m in PRIOR_MEANS if m not in unasked]
    asked = problem.strong.weak is not None
    return [m for m in auto.prior_means or suitable if asked or m not in READ_WEAK]


def _fit(eyes: Eyes, candidate: Candidate, problem: Problem, auto: Auto) -> FittedTeacher:
    task, strong, everything = problem.task, problem.strong, problem.all_samples
    view = make_view(eyes, everything, candidate.input, standardise=True)
    prior = prior_for(candidate.prior_mean, strong, task)
    new_teacher = NewTeacher(
        starting_kernel(view(everything), strong.y - prior.base, candidate.kernel, task.has_classes),
        _clusters(candidate, len(strong.X), auto),
        auto.largest,
        believed=_believed(candidate.prior_mean, auto),
    )
    teaching = Teaching(new_teacher, candidate.input, True, candidate.prior_mean, calibrate=task.has_classes)
    return fit_through(view, new_teacher(), strong, prior, teaching, task)


def _believed(prior_mean: str, auto: Auto) -> Believed | None:
    if not auto.believed_rows or prior_mean not in EXPECTED:
        return None
    return Believed(EXPECTED[prior_mean], auto.believed_rows)


def _clusters(candidate: Candidate, n: int, auto: Auto) -> int | None:
    return 1 if candidate.clusters is None and n <= auto.largest else candidate.clusters


def _scores(fitted: FittedTeacher, problem: Problem) -> dict[str, float]:
    y = problem.strong.y
    return {
        "evidence": evidence_score(fitted.teacher, len(y)),
        "left_out": left_out_score(left_out(fitted, problem.strong), y),
    }
