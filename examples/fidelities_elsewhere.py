"""Fidelities in another library: soft labels and `sample_weight` are all that it needs (made up: data/flats)."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor

import fwl

FLATS = Path(__file__).parent / "data" / "flats"
strong, weak, test = (pd.read_csv(FLATS / f"{name}.csv") for name in ("strong", "weak", "test"))

columns = ["area", "distance", "age", "balcony", "heating"]
pool = fwl.WeakSet(weak[columns], weak["estimate"])
model = fwl.FWLRegressor(random_state=0).fit(strong[columns], strong["rent"], weak=pool, y_weak=strong["estimate"])

# One row for each sample, weak ones first, then the strong ones: other libraries take them as they are.
everything = pd.concat([weak, strong])[columns]
soft_labels, fidelities = model.soft_labels_, model.fidelity_
print(
    f"fidelities from {fidelities.min():.3f} to {fidelities.max():.3f}: the more they differ, the more weights matter"
)


def numbers(frame):
    """Trees want numbers: words become columns of 0 and 1, missing ages stay missing."""
    return pd.get_dummies(frame[columns], dtype=float)


def show(name, new_learner):
    """What a learner makes of each kind of label, as the mean error on rents that nobody used."""
    learned = {
        "strong labels alone": new_learner().fit(numbers(strong), strong["rent"]),
        "weak labels alone": new_learner().fit(numbers(weak), weak["estimate"]),
        "soft labels": new_learner().fit(numbers(everything), soft_labels),
        "soft labels, weighted": new_learner().fit(numbers(everything), soft_labels, sample_weight=fidelities),
    }
    for labels, learner in learned.items():
        error = np.abs(learner.predict(numbers(test)) - test["rent"]).mean()
        print(f"{error:6.1f}  {name}, {labels}")


show("scikit-learn's trees", lambda: HistGradientBoostingRegressor(min_samples_leaf=5, random_state=0))
if find_spec("xgboost"):
    import xgboost

    show("XGBoost", lambda: xgboost.XGBRegressor(n_estimators=100, max_depth=3, n_jobs=1, random_state=0))
print(f"{np.abs(model.predict(test[columns]) - test['rent']).mean():6.1f}  the model itself")
