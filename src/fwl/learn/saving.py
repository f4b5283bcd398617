"""What a method made as plain values and arrays: students, teacher, view, prior mean, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fwl.errors import InvalidInput, UnknownName
from fwl.learn.eyes import Eyes, FoldStudents, OneStudent, SeveralStudents
from fwl.learn.fitted import FittedTeacher
from fwl.learn.learned import Learned
from fwl.learn.prior import PriorMean
from fwl.learn.recipe import PRIOR_MEANS, Teaching
from fwl.learn.task import TASKS
from fwl.learn.view import View
from fwl.students.contract import Student
from fwl.students.saving import OWN, Arrays, Make, Spec, revive_student, student_state
from fwl.teach.calibration import Calibration
from fwl.teach.state import State, kind_and_state, revive


def learned_state(learned: Learned) -> State:
    """The students and how they are put together; the teacher and the soft labels are saved by whoever keeps them."""
    arrays: Arrays = {}
    students = _students_state("student", learned.students, arrays)
    second_kind = _students_state("second_kind", learned.second_kind, arrays)
    guest = None
    if learned.guest is not None:
        guest, its = _guest_state(learned.guest)
        arrays |= prefixed("guest", its)
    settings = {
        "students": students,
        "second_kind": second_kind,
        "task": learned.task.name,
        "choices": learned.choices,
        "with_teacher": learned.with_teacher,
        "teacher_share": learned.teacher_share,
        "guest": guest,
        "guest_share": learned.guest_share,
        "rebalance": learned.rebalance,
    }
    return State(settings, arrays)


def _students_state(name: str, students: Sequence[Student], arrays: Arrays) -> list[Spec]:
    """What the students are; their numbers are put among the arrays, below that name."""
    saved = [student_state(student) for student in students]
    for i, (_, its) in enumerate(saved):
        arrays |= prefixed(f"{name}.{i}", its)
    return [spec for spec, _ in saved]


def _guest_state(guest: Student) -> tuple[Spec, Arrays]:
    spec, arrays = student_state(guest)
    if spec["kind"] == OWN:
        raise InvalidInput("a committee with a guest of your own cannot be saved; leave auto.guest at None")
    return spec, arrays


def revive_learned(state: State, teacher: FittedTeacher, own: Make | None = None) -> Learned:
    """The same again, with this teacher."""
    settings = state.settings
    students = _revive_students("student", settings["students"], state.arrays, own)
    second_kind = _revive_students("second_kind", settings.get("second_kind", []), state.arrays)
    guest = settings.get("guest")
    return Learned(
        students,
        _task(settings["task"]),
        teacher,
        choices=settings["choices"],
        with_teacher=bool(settings["with_teacher"]),
        teacher_share=float(settings.get("teacher_share", 0.5)),
        second_kind=second_kind,
        guest=None if guest is None else revive_student(guest, below("guest", state.arrays)),
        guest_share=float(settings.get("guest_share", 0.0)),
        rebalance=float(settings["rebalance"]),
    )


def _revive_students(name: str, specs: list[Spec], arrays: Arrays, own: Make | None = None) -> tuple[Student, ...]:
    return tuple(revive_student(spec, below(f"{name}.{i}", arrays), own) for i, spec in enumerate(specs))


def teacher_state(fitted: FittedTeacher) -> State:
    """A teacher with all that it sees samples through."""
    kind, inner = kind_and_state(fitted.teacher)
    eyes, eyes_arrays = _eyes_state(fitted.view.eyes)
    settings: dict[str, Any] = {
        "kind": kind,
        "settings": inner.settings,
        "eyes": eyes,
        "input": fitted.view.input,
        "prior_mean": fitted.prior.kind,
        "standardise": fitted.teaching.standardise,
        "calibrate": fitted.teaching.calibrate,
        "rebalance": fitted.teaching.rebalance,
        "task": fitted.task.name,
        "calibration": None if fitted.calibration is None else vars(fitted.calibration),
    }
    arrays = {
        **prefixed("process", inner.arrays),
        **prefixed("eyes", eyes_arrays),
        "centre": fitted.view.centre,
        "scale": fitted.view.scale,
        "base": fitted.prior.base,
        "shares": fitted.shares,
    }
    return State(settings, arrays)


def revive_teacher(state: State, own: Make | None = None) -> FittedTeacher:
    """The same teacher again; nothing is fitted anew."""
    settings, arrays = state.settings, state.arrays
    if settings["prior_mean"] not in PRIOR_MEANS:
        raise UnknownName("prior mean", str(settings["prior_mean"]), PRIOR_MEANS)
    eyes = _revive_eyes(settings["eyes"], below("eyes", arrays), own)
    teaching = Teaching(
        input=settings["input"],
        standardise=settings["standardise"],
        prior_mean=settings["prior_mean"],
        calibrate=settings["calibrate"],
        rebalance=settings["rebalance"],
    )
    found = settings["calibration"]
    calibration = None
    if found is not None:
        calibration = Calibration(found["temperature"], found["floor"], tuple(found["bias"]))
    return FittedTeacher(
        revive(settings["kind"], State(settings["settings"], below("process", arrays))),
        View(eyes, settings["input"], arrays["centre"], arrays["scale"]),
        PriorMean(settings["prior_mean"], arrays["base"]),
        teaching,
        _task(settings["task"]),
        arrays["shares"],
        calibration,
    )


def prefixed(name: str, arrays: Arrays) -> Arrays:
    """Arrays below a name."""
    return {f"{name}.{key}": array for key, array in arrays.items()}


def below(name: str, arrays: Arrays) -> Arrays:
    """The arrays that `prefixed` put there."""
    return {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}


def _eyes_state(eyes: Eyes) -> tuple[dict[str, Any], Arrays]:
    if isinstance(eyes, OneStudent):
        spec, arrays = student_state(eyes.student)
        return {"students": [spec]}, prefixed("0", arrays)
    if not isinstance(eyes, FoldStudents | SeveralStudents):
        raise InvalidInput(f"a teacher that looks through {type(eyes).__name__} cannot be saved")
    saved = [student_state(student) for student in eyes.students]
    all_arrays: Arrays = {"fold": eyes.fold} if isinstance(eyes, FoldStudents) else {}
    for i, (_, arrays) in enumerate(saved):
        all_arrays |= prefixed(str(i), arrays)
    return {"students": [spec for spec, _ in saved], "folds": "fold" in all_arrays}, all_arrays


def _revive_eyes(settings: dict[str, Any], arrays: Arrays, own: Make | None) -> Eyes:
    students = [revive_student(spec, below(str(i), arrays), own) for i, spec in enumerate(settings["students"])]
    if settings.get("folds"):
        return FoldStudents(tuple(students), arrays["fold"].astype(np.int64))
    return OneStudent(students[0]) if len(students) == 1 else SeveralStudents(tuple(students))


def _task(name: str) -> Any:
    if name not in TASKS:
        raise UnknownName("task", name, TASKS)
    return TASKS[name]
