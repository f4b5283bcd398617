"""The promise on weak labels: planted errors come first in a ranking by doubt, with an average precision of 0.9."""

import json

import numpy as np
import pytest
from benchmarks import audit

QUICK = {"pretrain_steps": 300, "finetune_steps": 50, "committee": 1}


@pytest.mark.parametrize("seed", [100, 101, 102])  # none of the stored table's
def test_planted_errors_come_first(seed):
    planted = audit.plant(seed)
    assert len(planted.strong) == 100
    assert len(planted.pool) == 1697
    assert 0.15 < planted.wrong.mean() < 0.25
    found = audit.ours(planted, seed, annotated=False, **QUICK)
    figures = audit.figures(planted.wrong, found["fwl: disagreement × fidelity"])
    assert figures["average_precision"] >= 0.9
    assert figures["recall"] >= 0.9


@pytest.mark.filterwarnings("ignore")  # other libraries say what they like
def test_every_ranking_gets_a_row(tmp_path, monkeypatch, capsys):
    pytest.importorskip("cleanlab")
    default = audit.FWLClassifier
    monkeypatch.setattr(audit, "FWLClassifier", lambda **settings: default(**settings, **QUICK))
    path = tmp_path / "rows.json"
    audit.main(["--seeds", "1", "--jobs", "1", "--json", str(path)])
    rows = json.loads(path.read_text())
    assert [row["ranking"].partition(":")[0] for row in rows] == [
        *["fwl"] * 2,
        *["fwl, strong rows annotated too"] * 2,
        *["cleanlab"] * 3,
    ]
    assert all(0 < row[key] <= 1 for row in rows for key in ("average_precision", "worst", "precision", "recall"))
    assert "disagreement × fidelity" in capsys.readouterr().out


def test_figures_by_hand():
    wrong = np.array([True, False, True, False])
    found = audit.Found(np.array([0.9, 0.8, 0.7, 0.1]), np.array([True, True, False, False]))
    assert audit.figures(wrong, found) == pytest.approx(
        {"average_precision": (1 + 2 / 3) / 2, "precision": 0.5, "recall": 0.5}
    )
