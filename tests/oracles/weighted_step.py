"""The paper's third step for one batch, one sample at a time: w <- w - eta1 eta2(x) (grad l + grad R), averaged."""

import numpy as np
import torch

from fwl.students import Student


def weighted_step(student: Student, X: np.ndarray, y: np.ndarray, weight: np.ndarray, rate: float, l2: float) -> None:
    """One SGD step in place: each sample's own gradient, scaled by its own weight, then their mean."""
    parameters = list(student.parameters())
    moves = [torch.zeros_like(p) for p in parameters]
    for x_i, y_i, eta2 in zip(X, y, weight, strict=True):
        output = student(torch.tensor(x_i[None], dtype=torch.float32))[0]
        loss = (output - torch.tensor(y_i, dtype=torch.float32)).square().mean()
        penalty = l2 * sum(p.square().sum() for p in parameters)
        for move, gradient in zip(moves, torch.autograd.grad(loss + penalty, parameters), strict=True):
            move += float(eta2) * gradient / len(X)
    with torch.no_grad():
        for parameter, move in zip(parameters, moves, strict=True):
            parameter -= rate * move
