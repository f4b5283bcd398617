"""How far predictions are from the truth."""

from __future__ import annotations

import numpy as np

from fwl.errors import WrongShape
from fwl.records import Array, as_matrix


def rmse(truth: Array, prediction: Array) -> float:
    """Root of the mean squared error over samples and outputs.

    >>> rmse(np.array([0.0, 0.0]), np.array([3.0, 4.0]))
    3.5355339059327378
    """
    truth, prediction = as_matrix(truth, "truth"), as_matrix(prediction, "prediction")
    if truth.shape != prediction.shape:
        raise WrongShape(
            f"truth has shape {truth.shape} and prediction has shape {prediction.shape}; expected the same"
        )
    return float(np.sqrt(np.mean((truth - prediction) ** 2)))


def positive_negative_f1(truth: Array, prediction: Array) -> float:
    """SemEval's official measure: the mean of F1 over the positive and the negative class; neutral only errs.

    Both are [N, 3] in the order negative, neutral, positive; the largest column decides.
    """
    truth, prediction = as_matrix(truth, "truth"), as_matrix(prediction, "prediction")
    if truth.shape != prediction.shape or truth.shape[1] != 3:
        raise WrongShape(
            f"truth has shape {truth.shape} and prediction has shape {prediction.shape}; expected [N, 3] for both"
        )
    is_so, said_so = np.eye(3)[truth.argmax(axis=1)], np.eye(3)[prediction.argmax(axis=1)]
    both, either = (is_so * said_so).sum(axis=0), is_so.sum(axis=0) + said_so.sum(axis=0)
    f1 = 2.0 * both / np.maximum(either, 1.0)  # nowhere and never said: 0, as scikit-learn has it
    return float((f1[0] + f1[2]) / 2.0)
