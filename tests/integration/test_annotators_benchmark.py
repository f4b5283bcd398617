"""The benchmark of annotators runs on a folder of the right shape; what it measures is never asserted."""

import gzip
import json

import numpy as np
import pytest
from benchmarks import annotators


@pytest.fixture
def folder(tmp_path):
    sentiment = tmp_path / "sentiment"
    (sentiment / "semeval").mkdir(parents=True)
    for year in annotators.SETS:
        (sentiment / "semeval" / f"{year}.tsv").write_text("1\tpositive\tgood\n2\tnegative\tbad\n3\tneutral\tday\n")
    (sentiment / "SentiWordNet_3.0.0.tsv").write_text("a\t1\t0.75\t0\tgood#1\na\t2\t0\t0.75\tbad#1\n")
    (sentiment / "tweets.tsv.gz").write_bytes(gzip.compress(b"here\tgood day\nhere\tbad day\n" * 50))
    return tmp_path


def test_every_annotator_gets_a_row(folder, capsys):
    pytest.importorskip("vaderSentiment")
    annotators.main(["--data", str(folder), "--pool", "30", "--json", str(folder / "rows.json")])
    rows = json.loads((folder / "rows.json").read_text())
    names = ["SentiWordNet", "SentiWordNet, plain average", "VADER", "tokeniser alone"]
    assert [row["name"] for row in rows] == names
    assert rows[0]["2014test"] == 1
    assert rows[-1]["2014test"] is None
    assert all(name in capsys.readouterr().out for name in names[:1])


def test_f1_is_the_mean_over_the_two_sides():
    truth, said = np.array([0, 0, 1, 2, 2]), np.array([0, 1, 1, 2, 0])
    assert annotators.semeval_f1(truth, said) == pytest.approx((2 * 1 / 4 + 2 * 1 / 3) / 2)
    assert annotators.semeval_f1(np.array([1]), np.array([1])) == 0
