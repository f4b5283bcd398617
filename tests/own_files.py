"""Files of a user who has strong and weak rows, and `fwl fit` on them with a small budget."""

import numpy as np
import pyarrow as pa

from fwl.tables import read_table, write_table
from tests.commands import fwl

TINY = [
    part
    for text in ("pretrain_steps=60", "finetune_steps=20", "hidden=8", "learning_rate=0.01")
    for part in ("--set", text)
]
N, STRONG = 240, 40
NAMES = ("böse", "very good")
WORDS = {"böse": ["awful", "broken", "late"], "very good": ["lovely", "fast", "kind"]}


def made(seed=0):
    """Rows with two columns of numbers, one of categories, a text, the truth, and what an annotator says of it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2))
    truth = np.array(NAMES)[(X[:, 0] > 0).astype(int)]
    wrong = rng.random(N) < 0.2
    says = np.where(wrong, np.where(truth == NAMES[0], NAMES[1], NAMES[0]), truth)
    texts = [" ".join([*rng.choice(WORDS[name], 2), f"word{rng.integers(9)}"]) for name in truth.tolist()]
    return pa.table(
        {
            "id": [f"r{i}" for i in range(N)],
            "a": X[:, 0],
            "b": X[:, 1],
            "kind": rng.choice(["u", "v"], N),
            "text": texts,
            "gold": truth,
            "says": says,
            "number": X[:, 0] * 3 + 1,
            "guess": X[:, 0] * 3 + 2 + 0.1 * rng.normal(size=N),
        }
    )


ROWS = made()
TABLE = ("id", "a", "b", "kind")


def written(folder, ending, columns, strong_label, weak_label, extra=()):
    """The two files of a user: the label has the same name in both."""
    names = [*columns, "label", *extra]
    strong = ROWS.select([*columns, strong_label, *extra]).rename_columns(names).slice(0, STRONG)
    weak = ROWS.select([*columns, weak_label, *extra]).rename_columns(names)
    write_table(strong, folder / f"strong.{ending}")
    write_table(weak, folder / f"weak.{ending}")
    return folder / f"strong.{ending}", folder / f"weak.{ending}"


def fit(strong, weak, out, *more, label="label"):
    return fwl("fit", "--strong", strong, "--weak", weak, "--label", label, "--out", out, *more, *TINY)


def rows_of(path):
    return read_table(path).to_pylist()
