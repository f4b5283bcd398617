"""Weak-then-strong students, of which several methods of one table want the same: each is trained once.

So is its step 1, which the cells of a sweep over strong labels share.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from weakref import WeakKeyDictionary

from fwl.learn.finetune import finetune_on_strong
from fwl.learn.pretrain import pretrain, pretrain_until_it_generalises
from fwl.learn.recipe import Problem, Recipe
from fwl.randomness import Chance
from fwl.students.contract import Student
from fwl.students.training import Training

_Key = tuple[int, int, Chance, Training, Training]
# For as long as the pre-trained student lives that methods hand to each other; nobody changes a trained student.
# The problem is kept beside it, so that no other can take over its id.
_TRAINED: WeakKeyDictionary[Student, dict[_Key, tuple[Problem, Student]]] = WeakKeyDictionary()

KEPT = 8  # students after step 1, the latest: a committee's, of both kinds
_Start = tuple[int, int, Callable[[Chance], Student], Training, Chance]
Starts = OrderedDict[_Start, tuple[Problem, Student, int]]
_STARTS: ContextVar[Starts | None] = ContextVar("starts", default=None)


@contextmanager
def sharing(starts: Starts) -> Iterator[None]:
    """Inside, step 1 is done once for problems of the same weak and validation sets, whatever their strong labels."""
    token = _STARTS.set(starts)
    try:
        yield
    finally:
        _STARTS.reset(token)


@contextmanager
def shared_starts() -> Iterator[None]:
    """Inside, step 1 is shared: with whoever shares it already, or among those inside."""
    if _STARTS.get() is not None:
        yield
        return
    with sharing(OrderedDict()):
        yield


def member_chance(chance: Chance, number: int) -> Chance:
    """Where member `number` of a committee draws from."""
    return chance if number == 0 else chance.child("member", number)


def started(problem: Problem, recipe: Recipe, chance: Chance) -> Student:
    """A student after step 1; where that is shared, others have it too, so copy it to change it."""
    plan = recipe.pretraining
    return _shared(problem, recipe, plan, chance, lambda: (pretrain(problem, recipe, chance), plan.steps))[0]


def started_until_it_generalises(problem: Problem, recipe: Recipe, chance: Chance) -> tuple[Student, int]:
    """The same, stopped where held-out weak labels stop getting better, and after how many steps that was."""
    plan = recipe.auto.pretraining
    return _shared(problem, recipe, plan, chance, lambda: pretrain_until_it_generalises(problem, recipe, chance))


def _shared(
    problem: Problem, recipe: Recipe, plan: Training, chance: Chance, make: Callable[[], tuple[Student, int]]
) -> tuple[Student, int]:
    starts = _STARTS.get()
    if starts is None:
        return make()
    key = (id(problem.weak), id(problem.validation), recipe.new_student, plan, chance)
    if key not in starts:
        starts[key] = problem, *make()  # the problem, so that no other takes over its ids
    starts.move_to_end(key)
    while len(starts) > KEPT:
        starts.popitem(last=False)
    _, student, steps = starts[key]
    return student, steps


def weak_then_strong_student(
    problem: Problem, recipe: Recipe, chance: Chance, pretrained: Student | None = None, number: int = 0
) -> Student:
    """Member `number` of a committee of weak-then-strong students; the first starts from `pretrained` if it is given.

    Every member has draws of its own, so member 3 is the same student whichever method asks for it.
    """
    own = member_chance(chance, number)
    if pretrained is None:
        return _trained(problem, recipe, own, None)
    known = _TRAINED.setdefault(pretrained, {})
    key = (number, id(problem), chance, recipe.pretraining, recipe.on_strong(len(problem.strong.X)))
    if key not in known:
        known[key] = problem, _trained(problem, recipe, own, pretrained if number == 0 else None)
    return known[key][1]


def _trained(problem: Problem, recipe: Recipe, chance: Chance, pretrained: Student | None) -> Student:
    student = pretrained or started(problem, recipe, chance)
    return finetune_on_strong(student, problem.strong, problem, recipe.on_strong(len(problem.strong.X)), chance)
