"""Labels from a language model: 2,000 messages that it labelled, 150 that a person did (made up: data/support).

What does the model make of it, which labels should be doubted, and which messages are worth reading next?
"""

from pathlib import Path

import numpy as np
import pandas as pd

import fwl

SUPPORT = Path(__file__).parent / "data" / "support"

# An empty cell is a label that the language model did not give: an abstention, and none is an answer of its own.
strong, weak, test = (pd.read_csv(SUPPORT / f"{name}.csv", dtype=str) for name in ("strong", "weak", "test"))
X, texts = strong["text"].tolist(), weak["text"].tolist()

model = fwl.FWLClassifier(random_state=0)
model.fit(X, strong["intent"], weak=fwl.WeakSet(texts, weak["llm"]), y_weak=strong["llm"])

judged = model.report_["annotators"][0]
print(f"the language model is right on {judged['accuracy']:.0%} of the {judged['compared']} strong rows it labelled")

# Messages that nobody learned from. `predict` needs the text only; where the language model's label of a new message
# is at hand too, the teacher reads it.
alone = fwl.FWLClassifier(method="LR_S", random_state=0).fit(X, strong["intent"])
new = test["text"].tolist()
guesses = {
    "the language model": test["llm"],
    "a linear model of the 150 strong rows": alone.predict(new),
    "FWL": model.predict(new),
    "FWL, reading the language model's label": model.predict(new, weak=test["llm"]),
}
for name, guess in guesses.items():
    print(f"{np.mean(guess == test['intent']):6.1%}  of {len(test)} new messages are labelled right by {name}")

# Which weak labels to doubt: the teacher's disagreement, counted as far as it is sure.
found = fwl.audit(model, texts, weak["llm"])
print("\nmost doubtful labels:")
for row in np.argsort(-np.nan_to_num(found.doubt))[:3]:
    print(f"  {found.weak_label[row]} -> {found.soft_label[row]}: {texts[row]}")

# Which messages to read next: those whose label would remove most uncertainty over all.
print("\nworth labelling next:")
for row in fwl.suggest_rows(model, texts, 3, weak=weak["llm"]).rows:
    print(f"  {texts[row]}")
