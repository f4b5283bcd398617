"""The shipped table of messages: what `fwl fit --compare` says of each method, beside rows that it never saw.

An installed sentence encoder reads the texts, as it does for that command.

python -m benchmarks.shipped_table [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import fwl
from benchmarks.render_docs import ROOT
from fwl.estimators.comparing import Compared
from fwl.learn.compare_methods import ANNOTATOR, AUTO, AUTO_READING, standard_error
from fwl.students.packaged import packaged_encoder
from fwl.tables import read_table

TABLE = ROOT / "examples" / "data" / "support"
LABEL, WEAK, TEXT = "intent", "llm", "text"


def compared_rows(compared: Compared, seed: int) -> list[dict[str, Any]]:
    """Every compared method, the best on the strong rows first."""
    rows = [
        {
            "method": name,
            "strong rows left out": float(scored.of_rows.mean()),
            "±": standard_error(scored.of_rows),
            "test rows": accuracy_on_test(name, seed),
            "kept": "kept" if name == compared.verdict.kept else "",
        }
        for name, scored in compared.comparison.scores.items()
    ]
    return sorted(rows, key=lambda row: -row["strong rows left out"])


def accuracy_on_test(method: str, seed: int) -> float:
    """A method fitted on all strong rows, on the test rows."""
    test = part("test")
    if method == ANNOTATOR:
        return right(test[WEAK].to_pylist(), test)
    own = AUTO if method == AUTO_READING else method
    model = fwl.FWLClassifier(method=own, encoder=encoder(), random_state=seed).fit(**data())
    weak = labels(test) if method == AUTO_READING else None
    return right(model.predict(test[TEXT].to_pylist(), weak=weak).tolist(), test)


def encoder() -> str | None:
    installed = packaged_encoder()
    return None if installed is None else str(installed)


def right(said: list[Any], test: pa.Table) -> float:
    return float(np.mean([label == truth for label, truth in zip(said, test[LABEL].to_pylist(), strict=True)]))


def data() -> dict[str, Any]:
    strong, weak = part("strong"), part("weak")
    pool = fwl.WeakSet(weak[TEXT].to_pylist(), labels(weak))
    return {"X": strong[TEXT].to_pylist(), "y": strong[LABEL].to_pylist(), "weak": pool, "y_weak": labels(strong)}


def labels(table: pa.Table) -> list[str | None]:
    return [label or None for label in table[WEAK].to_pylist()]


def part(name: str) -> pa.Table:
    return read_table(TABLE / f"{name}.csv", as_text=(TEXT, LABEL, WEAK))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", fwl.TeacherWarning)  # what teachers are worth is in the scores
    started = time.process_time()
    compared = fwl.compare_on(fwl.FWLClassifier(encoder=encoder(), random_state=arguments.seed), **data())
    print(f"compared in {time.process_time() - started:.0f} s of processor time")
    print(*compared.verdict.sentences, sep="\n")
    rows = compared_rows(compared, arguments.seed)
    for row in rows:
        print(f"{row['method']:12} {row['strong rows left out']:.3f} ± {row['±']:.3f}   {row['test rows']:.3f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
