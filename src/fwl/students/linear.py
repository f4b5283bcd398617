"""The simplest student: outputs straight from the numbers of a sample, the control for everything deeper."""

from __future__ import annotations

import torch

from fwl.errors import InvalidInput, WrongShape
from fwl.randomness import Chance
from fwl.records import Array
from fwl.students.contract import Reads, Student
from fwl.students.perceptron import INITIALISATIONS, bare_layer


class LinearStudent(Student):
    """One linear layer; psi is the sample itself.

    Args:
        n_inputs: columns of x.
        n_outputs: columns of the output.
        reads: the part that it reads of samples with named parts.
        chance: where the initial weights are drawn from.
    """

    def __init__(self, n_inputs: int, n_outputs: int = 1, reads: Reads = None, *, chance: Chance) -> None:
        super().__init__()
        if min(n_inputs, n_outputs) < 1:
            raise InvalidInput(f"a linear student needs widths of at least 1, got {n_inputs}, {n_outputs}")
        self.reads = reads
        self.output = bare_layer(n_inputs, n_outputs)
        INITIALISATIONS["glorot"](self.output, chance.torch())

    def represent(self, x: torch.Tensor) -> torch.Tensor:
        """The sample as it is: [N, ...] -> [N, n_inputs]."""
        return x.flatten(start_dim=1)

    def predict_from(self, psi: torch.Tensor) -> torch.Tensor:
        """The linear layer: [N, n_inputs] -> [N, n_outputs]."""
        output: torch.Tensor = self.output(psi)
        return output

    def set_weights(self, weight: Array, bias: Array) -> None:
        """Take over what a closed form or another library found: [n_outputs, n_inputs] and [n_outputs]."""
        if weight.shape != self.output.weight.shape or bias.shape != self.output.bias.shape:
            raise WrongShape(
                f"weights of shape {weight.shape} and {bias.shape}; expected {tuple(self.output.weight.shape)} "
                f"and {tuple(self.output.bias.shape)}"
            )
        with torch.no_grad():
            self.output.weight.copy_(torch.from_numpy(weight))
            self.output.bias.copy_(torch.from_numpy(bias))
