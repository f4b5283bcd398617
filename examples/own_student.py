"""A student of your own: any torch module, told where its representation ends (made up: data/flats)."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import nn

import fwl

FLATS = Path(__file__).parent / "data" / "flats"
COLUMNS = ["area", "distance", "age", "balcony", "heating"]
strong, weak, test = (pd.read_csv(FLATS / f"{name}.csv") for name in ("strong", "weak", "test"))


class Residual(nn.Module):
    """Two layers beside a shortcut, and a last one that predicts."""

    def __init__(self, inputs: int, outputs: int, width: int = 32) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.second = nn.Linear(width, width)
        self.last = nn.Linear(width, outputs)

    def before_the_last(self, x: torch.Tensor) -> torch.Tensor:
        """What the teacher looks through: flats that the student takes for alike are near each other here."""
        hidden = torch.tanh(self.first(x))
        return hidden + torch.tanh(self.second(hidden))


def new_student(samples, outputs, chance):
    """Makes a student: samples as it will read them (encoded, standardised), columns of its output, and chance.

    An nn.Sequential that ends in its predicting layer could be returned as it is.
    """
    module = Residual(samples.shape[1], outputs)
    return fwl.WrappedStudent(module, Residual.before_the_last, lambda module, psi: module.last(psi))


pool = fwl.WeakSet(weak[COLUMNS], weak["estimate"])
model = fwl.FWLRegressor(student=new_student, random_state=0)
model.fit(strong[COLUMNS], strong["rent"], weak=pool, y_weak=strong["estimate"])
print(f"{np.abs(model.predict(test[COLUMNS]) - test['rent']).mean():.1f}  mean error with a student of one's own")

# A saved model holds numbers, no code: whoever loads it brings the student along.
with tempfile.TemporaryDirectory() as folder:
    fwl.save_model(model, f"{folder}/model")
    again = fwl.load_model(f"{folder}/model", student=new_student)
print("loaded, it predicts the same:", np.array_equal(again.predict(test[COLUMNS]), model.predict(test[COLUMNS])))
