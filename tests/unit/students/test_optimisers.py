import pytest
import torch
from torch import nn
from torch.optim import SGD, Adam

from fwl.randomness import Chance
from fwl.students import Training, train
from fwl.students.optimisers import OPTIMISERS, RowAdam, dense_parameters, make_optimisers
from tests import examples
from tests.tolerances import SINGLE


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
    assert [type(o) for o in make_optimisers(examples.sparse(), "adam", 0.1)] == [Adam, RowAdam]
    assert [type(o) for o in make_optimisers(examples.sparse(), "sgd", 0.1)] == [SGD]
    assert [type(o) for o in make_optimisers(examples.perceptron(), "adam", 0.1)] == [Adam]


def test_only_embeddings_need_no_dense_optimiser():
    assert [type(o) for o in make_optimisers(nn.Embedding(3, 2, sparse=True), "adam", 0.1)] == [RowAdam]


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


def test_adam_by_rows_is_a_dense_adam_without_momentum():
    """Rows come and go for hundreds of steps; those that are not read stay to the bit."""
    generator = Chance(0).torch()
    rows, dense = (nn.Parameter(torch.ones(9, 4, dtype=torch.float64)) for _ in range(2))
    lazy, plain = RowAdam([rows], lr=0.01), Adam([dense], lr=0.01, betas=(0.0, 0.999))
    for step in range(300):
        read = torch.randint(0, 3 if step % 50 else 8, (5,), generator=generator)
        slope = torch.randn(5, 4, dtype=torch.float64, generator=generator)
        rows.grad = torch.sparse_coo_tensor(read[None], slope, rows.shape, check_invariants=True)
        dense.grad = rows.grad.to_dense()
        lazy.step()
        plain.step()
    torch.testing.assert_close(rows, dense, rtol=SINGLE, atol=SINGLE)
    assert torch.equal(rows[8], torch.ones(4))


def test_the_first_step_of_adam_by_rows_has_the_length_of_the_rate():
    student, before = examples.sparse(), examples.sparse()
    train(student, examples.word_lesson(), Training(steps=1, learning_rate=0.01), Chance(0))
    moved = (student.module["words"].weight - before.module["words"].weight).detach().abs()
    torch.testing.assert_close(moved, torch.full_like(moved, 0.01), rtol=1e-3, atol=0)
