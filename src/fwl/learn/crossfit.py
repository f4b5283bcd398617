"""Cross-fitted representations: a fine-tuned psi for the teacher, without labels it will be judged on."""

from __future__ import annotations

import numpy as np

from fwl.evaluate.folds import folds
from fwl.learn.eyes import FoldStudents
from fwl.learn.finetune import finetune_on_strong
from fwl.learn.recipe import Problem
from fwl.randomness import Chance
from fwl.records import StrongSet
from fwl.students.contract import Student
from fwl.students.training import Training


def cross_fit(student: Student, problem: Problem, plan: Training, k: int, chance: Chance) -> FoldStudents:
    """Fine-tune a copy of the student on all folds of the strong labels but one, for each of k folds."""
    strong = problem.strong
    fold = np.empty(len(strong.X), dtype=np.int64)
    students = []
    for i, (kept, left_out) in enumerate(folds(len(strong.X), k, chance.child("cross-fit folds"))):
        seen = StrongSet(strong.X[kept], strong.y[kept])
        students.append(finetune_on_strong(student, seen, problem, plan, chance.child("cross-fit", i)))
        fold[left_out] = i
    return FoldStudents(tuple(students), fold)
