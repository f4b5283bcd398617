"""An annotator of your own beside the labels you have: two opinions, weighed by what they turn out to be worth.

The made-up language model of data/support falls for wishes that are denied ("there is no need to ..."). A rule that
cuts such sentences away knows few words, but not that error.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd

import fwl

SUPPORT = Path(__file__).parent / "data" / "support"
strong, weak, test = (pd.read_csv(SUPPORT / f"{name}.csv", dtype=str) for name in ("strong", "weak", "test"))

DENIED = re.compile(r"(no need to|do not|nobody asked|never said|last year|in spring|already|the other day)[^.?]*")
SIGNS = {
    "refund": r"money|refund|\b(pay|paid|charged?|credit|bank)\b|(euros|dollars) back",
    "replacement": r"replace|exchange|swap|repair|another|instead|crack|missing",
    "delivery": r"parcel|tracking|courier|arrive|neighbour|waited|on its way",
    "account": r"account|password|login|newsletter|profile|codes?\b|signed",
}


class Rule:
    """One intent a text or None: whatever can label texts is an annotator."""

    def annotate(self, texts: list[str]) -> list[str | None]:
        """The only intent that a text shows signs of; None if there is none, or several."""
        return [self._one(DENIED.sub("", text)) for text in texts]

    def _one(self, text: str) -> str | None:
        found = [intent for intent, signs in SIGNS.items() if re.search(signs, text)]
        return found[0] if len(found) == 1 else None


def opinions(frame):
    """A column for each annotator; an empty cell is an abstention."""
    return pd.DataFrame({"llm": frame["llm"], "rule": Rule().annotate(frame["text"].tolist())})


# Votes become one distribution a row: by majority, by Dawid and Skene's model of who errs how ("dawid_skene"), or by
# any object of yours with `predict_proba`.
model = fwl.FWLClassifier(combine="majority", random_state=0)
pool = fwl.WeakSet(weak["text"].tolist(), opinions(weak))
model.fit(strong["text"].tolist(), strong["intent"], weak=pool, y_weak=opinions(strong))

for annotator in model.report_["annotators"]:
    low, high = annotator["low"], annotator["high"]
    print(
        f"{annotator['name']:>5} labels {annotator['coverage']:.0%} of the messages and is right on "
        f"{annotator['accuracy']:.0%} of those that were checked (95 % interval {low:.0%} to {high:.0%})"
    )
new = test["text"].tolist()
print(f"{np.mean(test['llm'] == test['intent']):6.1%}  of new messages are labelled right by the language model")
print(f"{np.mean(model.predict(new) == test['intent']):6.1%}  by what was learned from both")
print(f"{np.mean(model.predict(new, weak=opinions(test)) == test['intent']):6.1%}  by the same, reading both")
