"""Weak-then-strong students, of which several methods of one table want the same: each is trained once."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from fwl.learn.finetune import finetune_on_strong
from fwl.learn.pretrain import pretrain
from fwl.learn.recipe import Problem, Recipe
from fwl.randomness import Chance
from fwl.students.contract import Student
from fwl.students.training import Training

_Key = tuple[int, int, Chance, Training, Training]
# For as long as the pre-trained student lives that methods hand to each other; nobody changes a trained student.
# The problem is kept beside it, so that no other can take over its id.
_TRAINED: WeakKeyDictionary[Student, dict[_Key, tuple[Problem, Student]]] = WeakKeyDictionary()


def weak_then_strong_student(
    problem: Problem, recipe: Recipe, chance: Chance, pretrained: Student | None = None, number: int = 0
) -> Student:
    """Member `number` of a committee of weak-then-strong students; the first starts from `pretrained` if it is given.

    Every member has draws of its own, so member 3 is the same student whichever method asks for it.
    """
    own = chance if number == 0 else chance.child("member", number)
    if pretrained is None:
        return _trained(problem, recipe, own, None)
    known = _TRAINED.setdefault(pretrained, {})
    key = (number, id(problem), chance, recipe.pretraining, recipe.finetuning)
    if key not in known:
        known[key] = problem, _trained(problem, recipe, own, pretrained if number == 0 else None)
    return known[key][1]


def _trained(problem: Problem, recipe: Recipe, chance: Chance, pretrained: Student | None) -> Student:
    student = pretrained or pretrain(problem, recipe, chance)
    return finetune_on_strong(student, problem.strong, problem, recipe.finetuning, chance)
