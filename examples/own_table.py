"""Your own table in five lines: 40 rents that were checked, 600 guessed by a rule of thumb (made up: data/flats)."""

from pathlib import Path

import pandas as pd

import fwl

FLATS = Path(__file__).parent / "data" / "flats"
COLUMNS = ["area", "distance", "age", "balcony", "heating"]  # words are encoded, missing ages filled in

# The five lines. What the rule says of the checked flats (`y_weak`) shows the teacher how it errs; leave it away if
# nobody asked the rule there.
strong, weak, test = (pd.read_csv(FLATS / f"{name}.csv") for name in ("strong", "weak", "test"))
model = fwl.FWLRegressor(random_state=0)
model.fit(strong[COLUMNS], strong["rent"], weak=fwl.WeakSet(weak[COLUMNS], weak["estimate"]), y_weak=strong["estimate"])
predicted = model.predict(test[COLUMNS])

# Is it any good? Rents that nobody used, beside what one could have had without a model of ours.
alone = fwl.FWLRegressor(method="LR_S", random_state=0).fit(strong[COLUMNS], strong["rent"])
guesses = {
    "the rule of thumb": test["estimate"],
    "a linear model of the 40 checked rents": alone.predict(test[COLUMNS]),
    "FWL, from both": predicted,
}
for name, guess in guesses.items():
    print(f"{(guess - test['rent']).abs().mean():6.1f}  mean error of {name}")
