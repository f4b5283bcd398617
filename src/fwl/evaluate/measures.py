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
