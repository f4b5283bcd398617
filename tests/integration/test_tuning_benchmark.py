"""The benchmark of tuning runs, small; what it measures is never asserted."""

import json

from benchmarks import tuning

SMALL = ("word2vec=8", "hidden=8", "convolutions=1", "width=2", "filters=8", "pretrain_steps=5", "finetune_steps=5")


def test_every_point_is_computed_once_and_both_searches_have_their_best(tmp_path, capsys):
    out, rows = tmp_path / "out", tmp_path / "rows.json"
    command = ["--out", str(out), "--size", "tiny", "--set", *SMALL, "--repeats", "2", "--trials", "5", "-q", "1"]
    tuning.main([*command, "--random", "6", "--fresh", "2", "--json", str(rows)])
    found = json.loads((tmp_path / "rows-draws.json").read_text())
    assert [row["bandit, best trial"] for row in json.loads(rows.read_text())] == [row["bandit"] for row in found]
    assert [len(row["bandit so far"]) for row in found] == [5, 5]
    assert [row["random so far"][-1] == row["random"] for row in found] == [True, True]
    tried = {
        json.dumps(json.loads(line)["settings"])
        for path in out.glob("*/trials.jsonl")
        for line in path.read_text().splitlines()[1:]
    }
    anew = {json.dumps(row[f"{search} found"]) for row in found for search in ("bandit", "random")}
    assert len(list((out / "values").iterdir())) == len(tried) + 2 * len(anew)
    assert "no worse in" in capsys.readouterr().out
