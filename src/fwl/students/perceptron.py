"""The feed-forward student of the paper's toy problem, of any depth and width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import nn

from fwl.errors import InvalidInput, UnknownName
from fwl.randomness import Chance
from fwl.students.contract import Student

ACTIVATIONS: dict[str, type[nn.Module]] = {
    "tanh": nn.Tanh,
    "relu": nn.ReLU,
    "sigmoid": nn.Sigmoid,
    "gelu": nn.GELU,
    "identity": nn.Identity,
}


class Perceptron(Student):
    """Hidden layers of one activation, then a linear output layer.

    psi is the last hidden layer's activation, phi the output layer.

    Args:
        n_inputs: columns of x.
        n_outputs: columns of the output.
        hidden: width of each hidden layer, first to last; the paper's toy student is (128, 128, 128).
        activation: a name in `ACTIVATIONS`.
        initialisation: a name in `INITIALISATIONS`; biases start at zero, except under torch's own.
        chance: where the initial weights are drawn from.
    """

    def __init__(
        self,
        n_inputs: int,
        n_outputs: int = 1,
        hidden: Sequence[int] = (128, 128, 128),
        activation: str = "tanh",
        initialisation: str = "glorot",
        *,
        chance: Chance,
    ) -> None:
        super().__init__()
        widths = [n_inputs, *hidden]
        if len(widths) < 2 or min(*widths, n_outputs) < 1:
            raise InvalidInput(f"a perceptron needs hidden layers and widths of at least 1, got {widths}, {n_outputs}")
        if activation not in ACTIVATIONS:
            raise UnknownName("activation", activation, ACTIVATIONS)
        if initialisation not in INITIALISATIONS:
            raise UnknownName("initialisation", initialisation, INITIALISATIONS)
        layers = [bare_layer(i, o) for i, o in pairwise(widths)]
        self.hidden = nn.Sequential(*(part for layer in layers for part in (layer, ACTIVATIONS[activation]())))
        self.output = bare_layer(widths[-1], n_outputs)
        generator = chance.torch()
        for layer in [*layers, self.output]:
            INITIALISATIONS[initialisation](layer, generator)

    def represent(self, x: torch.Tensor) -> torch.Tensor:
        """The last hidden layer: [N, n_inputs] -> [N, hidden[-1]]."""
        hidden: torch.Tensor = self.hidden(x)
        return hidden

    def predict_from(self, psi: torch.Tensor) -> torch.Tensor:
        """The output layer: [N, hidden[-1]] -> [N, n_outputs]."""
        output: torch.Tensor = self.output(psi)
        return output


def bare_layer(n_in: int, n_out: int) -> nn.Linear:
    """A linear layer without values: torch would draw them from its global generator, behind our back."""
    layer: nn.Linear = nn.utils.skip_init(nn.Linear, n_in, n_out)  # type: ignore[no-untyped-call]
    return layer


def _glorot(layer: nn.Linear, generator: torch.Generator) -> None:
    nn.init.xavier_uniform_(layer.weight, generator=generator)
    nn.init.zeros_(layer.bias)


def _he(layer: nn.Linear, generator: torch.Generator) -> None:
    nn.init.kaiming_uniform_(layer.weight, nonlinearity="relu", generator=generator)
    nn.init.zeros_(layer.bias)


def _truncated_normal(layer: nn.Linear, generator: torch.Generator) -> None:
    nn.init.trunc_normal_(layer.weight, std=0.02, a=-0.04, b=0.04, generator=generator)
    nn.init.zeros_(layer.bias)


def _torch_default(layer: nn.Linear, generator: torch.Generator) -> None:
    bound = layer.in_features**-0.5
    nn.init.uniform_(layer.weight, -bound, bound, generator=generator)
    nn.init.uniform_(layer.bias, -bound, bound, generator=generator)


INITIALISATIONS: dict[str, Callable[[nn.Linear, torch.Generator], None]] = {
    "glorot": _glorot,
    "he": _he,
    "truncated_normal": _truncated_normal,
    "torch": _torch_default,
}
