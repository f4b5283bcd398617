import math

import pytest
import torch
from torch import nn

from fwl.errors import InvalidInput, UnknownName
from fwl.randomness import Chance
from fwl.students import Perceptron
from fwl.students.perceptron import ACTIVATIONS, INITIALISATIONS
from tests import examples
from tests.refusals import expect_refusal


def layers(student: Perceptron) -> list[nn.Linear]:
    return [module for module in student.modules() if isinstance(module, nn.Linear)]


def test_the_default_is_the_papers_toy_student():
    student = Perceptron(1, chance=Chance(0))
    assert [(layer.in_features, layer.out_features) for layer in layers(student)] == [
        (1, 128),
        (128, 128),
        (128, 128),
        (128, 1),
    ]
    assert sum(isinstance(module, nn.Tanh) for module in student.modules()) == 3


def test_psi_is_the_last_hidden_layer():
    student = Perceptron(3, 2, hidden=(7, 5), chance=Chance(0))
    x = torch.randn(4, 3, generator=Chance(0).torch())
    psi = student.represent(x)
    assert psi.shape == (4, 5)
    assert torch.equal(student(x), student.output(psi))


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_each_activation_is_the_one_named(activation):
    student = Perceptron(3, hidden=(4,), activation=activation, chance=Chance(0))
    x = torch.randn(4, 3, generator=Chance(0).torch())
    assert torch.equal(student.represent(x), ACTIVATIONS[activation]()(layers(student)[0](x)))


@pytest.mark.parametrize("initialisation", INITIALISATIONS)
def test_the_same_chance_gives_the_same_student(initialisation):
    one, other, third = (Perceptron(3, initialisation=initialisation, chance=Chance(seed)) for seed in (0, 0, 1))
    assert examples.same_bits(one, other)
    assert not examples.same_bits(one, third)


@pytest.mark.parametrize("initialisation", INITIALISATIONS)
def test_building_leaves_the_global_generator_alone(initialisation):
    before = torch.get_rng_state()
    Perceptron(3, initialisation=initialisation, chance=Chance(0))
    assert torch.equal(torch.get_rng_state(), before)


BOUNDS = {
    "glorot": lambda i, o: math.sqrt(6 / (i + o)),
    "he": lambda i, o: math.sqrt(6 / i),
    "truncated_normal": lambda i, o: 0.04,
    "torch": lambda i, o: 1 / math.sqrt(i),
}


@pytest.mark.parametrize("initialisation", INITIALISATIONS)
def test_weights_fill_their_bounds(initialisation):
    for layer in layers(Perceptron(40, 30, hidden=(50, 60), initialisation=initialisation, chance=Chance(0))):
        bound, largest = BOUNDS[initialisation](layer.in_features, layer.out_features), layer.weight.abs().max().item()
        assert 0.9 * bound < largest <= bound * (1 + 1e-6)


@pytest.mark.parametrize("initialisation", sorted(INITIALISATIONS.keys() - {"torch"}))
def test_biases_start_at_zero(initialisation):
    student = Perceptron(3, initialisation=initialisation, chance=Chance(0))
    assert all(not layer.bias.any() for layer in layers(student))


def test_torchs_own_biases_do_not_start_at_zero():
    assert all(layer.bias.any() for layer in layers(Perceptron(3, initialisation="torch", chance=Chance(0))))


@pytest.mark.parametrize(
    ("n_inputs", "hidden", "n_outputs", "came"),
    [(3, (), 1, "[3], 1"), (0, (4,), 1, "[0, 4], 1"), (3, (4, 0), 1, "[3, 4, 0], 1"), (3, (4,), 0, "[3, 4], 0")],
)
def test_no_width_is_refused(n_inputs, hidden, n_outputs, came):
    with expect_refusal(InvalidInput, f"a perceptron needs hidden layers and widths of at least 1, got {came}"):
        Perceptron(n_inputs, n_outputs, hidden, chance=Chance(0))


def test_an_unknown_activation_is_answered_with_the_nearest():
    known = "tanh, relu, sigmoid, gelu, identity"
    with expect_refusal(UnknownName, f"unknown activation 'rely'; did you mean 'relu'? known: {known}"):
        Perceptron(3, activation="rely", chance=Chance(0))


def test_an_unknown_initialisation_is_answered_with_the_nearest():
    known = "glorot, he, truncated_normal, torch"
    with expect_refusal(UnknownName, f"unknown initialisation 'gloro'; did you mean 'glorot'? known: {known}"):
        Perceptron(3, initialisation="gloro", chance=Chance(0))
