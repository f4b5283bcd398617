from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from fwl.experiments.taught import TEACHERS, method_named, with_few_strong
from fwl.learn.methods import METHODS
from fwl.learn.recipe import Problem, Recipe, Teaching
from fwl.randomness import Chance
from fwl.records import StrongSet, WeakSet
from fwl.students.perceptron import Perceptron
from fwl.students.training import Training
from fwl.teach.clustered import ClusteredGP
from fwl.teach.exact import ExactGP
from fwl.teach.kernels import RBF, White
from fwl.teach.reduced import Reduced

KERNEL = RBF(2.0) + White(0.1)


@dataclass(frozen=True)
class Settings:
    teacher_rows: int = 12
    components: int = 2


def problem():
    x = np.random.default_rng(0).normal(size=(60, 3))
    y = x[:, :1]
    return Problem(WeakSet(x[:40], y[:40] + 1), StrongSet(x[40:], y[40:], y[40:] + 1))


def recipe():
    return Recipe(
        lambda chance: Perceptron(3, 1, (8,), chance=chance),
        pretraining=Training(5),
        finetuning=Training(5),
        teaching=Teaching(partial(ClusteredGP, 2, kernel=KERNEL, smallest=3)),
    )


def test_methods_of_every_table_are_found_by_name():
    assert method_named("FWL", None) is METHODS["FWL"]


@pytest.mark.parametrize(("name", "kind"), list(zip(TEACHERS, (ExactGP, Reduced, ClusteredGP), strict=True)))
def test_each_is_fwl_by_its_teacher_on_the_same_few_strong_samples(name, kind):
    learned = method_named(name, Settings())(problem(), recipe(), Chance(0), None)
    teacher = learned.teacher.teacher
    assert isinstance(teacher, kind)
    assert len(teacher.leave_one_out().mean) == 12
    assert len(learned.soft.X) == 60  # the soft data is whole


def test_what_is_no_longer_strong_keeps_its_weak_label():
    whole = problem()
    few = with_few_strong(whole, 12, Chance(0))
    assert (len(few.weak.X), len(few.strong.X)) == (48, 12)
    assert np.array_equal(np.sort(few.all_samples, axis=0), np.sort(whole.all_samples, axis=0))
    assert np.allclose(few.weak.y, few.weak.X[:, :1] + 1)
    assert np.allclose(few.strong.y, few.strong.X[:, :1])


def test_few_strong_samples_stay_as_they_are():
    whole = problem()
    assert with_few_strong(whole, 20, Chance(0)) is whole
