"""Made-up stories of models, for the page's tests."""

import numpy as np

from fwl.report.model_story import BINS, Column, Doubted, ModelStory, Reliability

HOSTILE = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title='taken'\">'\"&"
COLUMNS = (
    Column("id"),
    Column("text", is_wide=True),
    Column("weak label"),
    Column("soft label"),
    Column("verdict"),
    Column("doubt", is_number=True, decimals=3),
    Column("length", is_number=True),
    Column("witnesses"),
)


def rows(n=30):
    """Doubted rows, the most doubtful first; every third has no length."""
    return [
        [
            f"r{i}",
            f"comment {i} {'odd' if i % 2 else 'even'} word",
            "ham",
            "spam",
            "corrected" if i % 3 else "ignored",
            1.0 - i / 50,
            None if i % 3 == 0 else (i * 7) % 11,
            ["s1", "s2"],
        ]
        for i in range(n)
    ]


def doubted(**changed):
    given = {
        "columns": COLUMNS,
        "rows": rows(),
        "verdicts": {"kept": 70, "corrected": 20, "ignored": 10},
        "differing": 30,
    }
    return Doubted(**{**given, **changed})


def compared(lower_is_better=False):
    means = {"NN_W->S": 0.81, "FWL_auto": 0.86, "LR_S": 0.74}
    bins = [{"count": 12, "said": 0.7 + 0.1 * i, "was": 0.65 + 0.1 * i, "low": 0.5, "high": 0.95} for i in range(3)]
    scores = {
        name: {"mean": mean, "standard_error": 0.03, "of_folds": [mean], "seconds": 1.5, "reliability": bins}
        for name, mean in means.items()
    }
    curve = [
        {
            "strong": size,
            "scores": {name: mean - 2 / size for name, mean in means.items()},
            "standard_errors": dict.fromkeys(means, 0.03),
        }
        for size in (10, 20, 40)
    ]
    leads = [
        {"over": name, "observed": 0.86 - mean, "standard_error": 0.02, "believed": 0.03, "probability": 0.9, "p": 0.04}
        for name, mean in means.items()
        if name != "FWL_auto"
    ]
    return {
        "comparison": {
            "metric": "squared error" if lower_is_better else "accuracy",
            "lower_is_better": lower_is_better,
            "strong": 50,
            "learned_from": 40,
            "steps": 100,
            "scores": scores,
            "curve": curve,
        },
        "verdict": {"kept": "FWL_auto", "leads": leads},
    }


def annotators():
    judged = {"name": "rules", "coverage": 0.5, "compared": 20, "accuracy": 0.8, "low": 0.58, "high": 0.92}
    unknown = {"name": HOSTILE, "coverage": 1.0, "compared": 0, "accuracy": None, "low": None, "high": None}
    return [judged, unknown]


def story(**changed):
    given = {
        "label": "spam?",
        "told": "spam?: 2 classes (ham, spam), learned by FWL_auto from 50 strong and 100 weak rows.",
        "method": "FWL_auto",
        "sentences": ["Use FWL_auto: it is good.", "It is clearly better."],
        "compared": compared(),
        "fidelity": {name: np.arange(BINS) for name in ("kept", "corrected", "ignored")},
        "reliability": Reliability("FWL_auto", True, True, compared()["comparison"]["scores"]["LR_S"]["reliability"]),
        "annotators": annotators(),
        "doubted": doubted(),
        "missing": None,
        "provenance": {"Files": {"weak": "abc"}, "Settings": {"beta": 1.0, "hidden": [8, 8]}},
    }
    return ModelStory(**{**given, **changed})
