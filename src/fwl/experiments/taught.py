"""FWL by each of the paper's teachers, all of which know the same strong samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fwl.learn.fidelity_weighted import fidelity_weighted
from fwl.learn.learned import Learned
from fwl.learn.methods import METHODS, Method
from fwl.learn.pretrain import pretrain
from fwl.learn.recipe import Problem, Recipe
from fwl.randomness import Chance
from fwl.records import StrongSet, WeakSet
from fwl.students.contract import Student
from fwl.teach.clustered import ClusteredGP
from fwl.teach.contract import Teacher
from fwl.teach.exact import ExactGP
from fwl.teach.reduced import Reduced

SINGLE, AFTER_PCA, CLUSTERED = "FWL_GP", "FWL_PCA->GP", "FWL_clusteredGP"
TEACHERS = (SINGLE, AFTER_PCA, CLUSTERED)


def method_named(name: str, settings: Any) -> Method:
    """A method by its name; one of `TEACHERS` where the settings say how many strong samples they know."""
    if name in METHODS:
        return METHODS[name]
    return partial(taught_by, name, settings.teacher_rows, settings.components)


def taught_by(
    name: str,
    rows: int,
    components: int,
    problem: Problem,
    recipe: Recipe,
    chance: Chance,
    pretrained: Student | None = None,
) -> Learned:
    """FWL whose teacher is one of `TEACHERS`, with the kernel of the recipe's clustered one.

    Args:
        name: which.
        rows: strong samples that the teacher knows, drawn by chance, at the most: the cost of a single process grows
            with their cube. The clustered one could do with more, and would then win for that alone.
        components: of the PCA.
        problem: as for every method.
        recipe: as for every method; its teacher is a `ClusteredGP`.
        chance: as for every method.
        pretrained: as for every method.
    """
    student = pretrained or pretrain(problem, recipe, chance)
    clustered = recipe.teaching.new_teacher()
    assert isinstance(clustered, ClusteredGP)
    single = partial(ExactGP, clustered.kernel)
    kinds: dict[str, Callable[[], Teacher]] = {
        SINGLE: single,
        AFTER_PCA: partial(Reduced, single, components),
        CLUSTERED: recipe.teaching.new_teacher,
    }
    teaching = replace(recipe.teaching, new_teacher=kinds[name])
    few = with_few_strong(problem, rows, chance.child("strong samples of the teacher"))
    return fidelity_weighted(few, recipe.but(teaching=teaching), chance, student)


def with_few_strong(problem: Problem, most: int, chance: Chance) -> Problem:
    """The same samples, of which at most so many, drawn by chance, are strong; the others keep their weak label."""
    strong, weak = problem.strong, problem.weak
    if len(strong.X) <= most:
        return problem
    assert strong.weak is not None
    order = chance.numpy().permutation(len(strong.X))
    kept, others = np.sort(order[:most]), np.sort(order[most:])
    return replace(
        problem,
        weak=WeakSet(np.concatenate([weak.X, strong.X[others]]), np.concatenate([weak.y, strong.weak[others]])),
        strong=StrongSet(strong.X[kept], strong.y[kept], strong.weak[kept]),
    )
