from typing import Self

import numpy as np
import pytest

from fwl.errors import InvalidInput, UnknownName
from fwl.teach import ClusteredGP, Divided, ExactGP, Reduced, SparseClassifierGP, SparseGP
from fwl.teach import state as state_module
from fwl.teach.state import State, kind_and_state, nested, revive, revive_part, storable
from tests.refusals import expect_refusal

Z = np.random.default_rng(0).normal(size=(30, 2))
Y = np.sin(Z[:, :1])


class Constant:
    """Always says the same."""

    def __init__(self, value: float) -> None:
        self.value = value

    def state(self) -> State:
        return State({"kind": "of no matter"}, {"value": np.array([self.value])})

    @classmethod
    def from_state(cls, state: State) -> Self:
        return cls(float(state.arrays["value"][0]))


@pytest.fixture
def known(monkeypatch):
    monkeypatch.setattr(state_module, "KINDS", {})
    return storable(Constant)


def test_the_teachers_that_can_be_saved_are_known_by_name():
    for kind in (ExactGP, ClusteredGP, Divided, Reduced, SparseGP, SparseClassifierGP):
        assert state_module.KINDS[kind.__name__] is kind


def test_a_class_is_known_once_it_says_so(known):
    assert known is Constant
    kind, state = kind_and_state(Constant(3.0))
    assert kind == "Constant"
    assert revive(kind, state).value == 3.0


def test_a_class_that_is_not_known_is_refused(known):
    with expect_refusal(InvalidInput, "a object cannot be saved; teachers that can: Constant"):
        kind_and_state(object())


def test_a_class_that_borrows_a_name_is_refused(known):
    impostor = type("Constant", (), {})
    with expect_refusal(InvalidInput, "a Constant cannot be saved; teachers that can: Constant"):
        kind_and_state(impostor())


def test_a_kind_that_is_not_known_is_answered_with_the_nearest(known):
    with expect_refusal(UnknownName, "unknown kind of teacher 'Constnt'; did you mean 'Constant'? known: Constant"):
        revive("Constnt", State({}, {}))


def test_states_within_a_state_keep_apart(known):
    both = nested({"own": 1}, {"value": np.zeros(1)}, {"first": Constant(1.0), "second": Constant(2.0)})
    assert both.settings["own"] == 1
    assert sorted(both.arrays) == ["first.value", "second.value", "value"]
    assert revive_part(both, "first").value == 1.0
    assert revive_part(both, "second").value == 2.0


def test_names_that_begin_alike_keep_apart(known):
    many = nested({}, {}, {f"teacher{k}": Constant(float(k)) for k in range(12)})
    assert [revive_part(many, f"teacher{k}").value for k in range(12)] == list(range(12))


@pytest.mark.parametrize(
    "teacher",
    [
        ExactGP(hyperparameters="evidence"),
        ClusteredGP(2, smallest=3, shrink_mean=True, smooth_edges=True, random_state=5),
        ClusteredGP(largest=15, hyperparameters="evidence", shared=False, starts=2, precision="double"),
        Divided(ExactGP, 2, smallest=3, jobs=1, random_state=4),
        Reduced(ExactGP, components=1),
    ],
    ids=lambda teacher: type(teacher).__name__,
)
def test_a_teacher_from_its_state_has_the_settings_it_had(teacher):
    kind, state = kind_and_state(teacher.fit(Z, Y))
    again = revive(kind, state)
    for name, value in vars(teacher).items():
        if isinstance(value, int | float | str):
            assert getattr(again, name) == value
    assert again.log_evidence_ == teacher.log_evidence_
    np.testing.assert_array_equal(again.posterior(Z).mean, teacher.posterior(Z).mean)


@pytest.mark.parametrize("new", [lambda: ClusteredGP(2, smallest=3), lambda: Divided(ExactGP, 2, smallest=3)])
def test_a_partition_survives(new):
    teacher = new().fit(Z, Y)
    again = revive(*kind_and_state(teacher))
    np.testing.assert_array_equal(again.cluster_, teacher.cluster_)
    np.testing.assert_array_equal(again.partition_.centroids, teacher.partition_.centroids)
    np.testing.assert_array_equal(again.partition_.cluster_of, teacher.partition_.cluster_of)


def test_a_teacher_that_is_not_known_cannot_hide_in_another():
    stranger = type("Stranger", (ExactGP,), {})
    known = "ClusteredGP, Divided, ExactGP, Reduced, SparseClassifierGP, SparseGP"
    with expect_refusal(InvalidInput, f"a Stranger cannot be saved; teachers that can: {known}"):
        kind_and_state(Reduced(stranger).fit(Z, Y))
