import pytest
import torch
from torch import nn
from torch.optim import SGD, Adam, SparseAdam

from fwl.randomness import Chance
from fwl.students import Training, train
from fwl.students.optimisers import OPTIMISERS, dense_parameters, make_optimisers
from tests import examples


def covered(optimisers) -> list[int]:
    return sorted(id(p) for o in optimisers for group in o.param_groups for p in group["params"])


@pytest.mark.parametrize("name", OPTIMISERS)
@pytest.mark.parametrize("make", [examples.perceptron, examples.sparse])
def test_every_parameter_is_covered_once(name, make):
    student = make()
    assert covered(make_optimisers(student, name, 0.1)) == sorted(id(p) for p in student.parameters())


@pytest.mark.parametrize("name", OPTIMISERS)
def test_every_optimiser_has_the_rate_it_was_given(name):
    for optimiser in make_optimisers(examples.sparse(), name, 0.123):
        assert [group["lr"] for group in optimiser.param_groups] == [0.123]


def test_sparse_gradients_get_the_sparse_sister():
    assert [type(o) for o in make_optimisers(examples.sparse(), "adam", 0.1)] == [Adam, SparseAdam]
    assert [type(o) for o in make_optimisers(examples.sparse(), "sgd", 0.1)] == [SGD]
    assert [type(o) for o in make_optimisers(examples.perceptron(), "adam", 0.1)] == [Adam]


def test_only_embeddings_need_no_dense_optimiser():
    assert [type(o) for o in make_optimisers(nn.Embedding(3, 2, sparse=True), "adam", 0.1)] == [SparseAdam]


@pytest.mark.parametrize("name", OPTIMISERS)
def test_frozen_parameters_are_left_out(name):
    student = examples.sparse()
    student.module["words"].requires_grad_(False)
    assert covered(make_optimisers(student, name, 0.1)) == sorted(id(p) for p in student.module["out"].parameters())


def test_l2_touches_dense_parameters_only():
    student = examples.sparse()
    assert [id(p) for p in dense_parameters(student)] == [id(p) for p in student.module["out"].parameters()]
    assert len(dense_parameters(examples.perceptron())) == 6


@pytest.mark.parametrize("name", OPTIMISERS)
def test_words_never_seen_stay_where_they_are(name):
    student, lesson = examples.sparse(), examples.word_lesson()
    unseen = 10
    lesson.X[unseen == lesson.X] = 0
    before = student.module["words"].weight.detach().clone()
    train(student, lesson, Training(steps=5, optimiser=name, l2=0.1), Chance(0))
    after = student.module["words"].weight.detach()
    assert torch.equal(before[unseen], after[unseen])
    assert not torch.equal(before[0], after[0])


def test_adam_is_adam():
    """Its first step moves every parameter by the learning rate against the sign of its slope."""
    student, before = examples.perceptron(), examples.perceptron()
    train(student, examples.lesson(), Training(steps=1, learning_rate=0.01), Chance(0))
    moved = torch.cat([(a - b).abs().flatten() for a, b in zip(student.parameters(), before.parameters(), strict=True)])
    torch.testing.assert_close(moved, torch.full_like(moved, 0.01), rtol=1e-3, atol=0)
