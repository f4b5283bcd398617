"""The benchmark of large tables runs, small; what it measures is never asserted."""

import json

import pytest
from benchmarks import million_rows
from tests.commands import fwl

from fwl.tables.reading import read_table


def in_this_process(arguments):
    done = fwl(*arguments)
    assert done.returncode == 0, done.stderr
    return {"seconds": 1.0, "cpu_s": 1.0, "peak_mb": 100.0}


def test_every_command_gets_a_row(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(million_rows, "measured", in_this_process)
    monkeypatch.setattr(million_rows, "AT_ONCE", 400)
    path = tmp_path / "rows.json"
    million_rows.main(["--rows", "700", "--formats", "parquet", "--json", str(path)])
    rows = json.loads(path.read_text())
    assert [row["command"] for row in rows] == ["fit", "soft-labels", "suggest", "predict"]
    assert all(row["rows"] == 700 and row["above_mb"] == 100.0 - row["file_mb"] for row in rows)
    assert "predict     parquet" in capsys.readouterr().out


def test_files_have_the_rows_they_should(tmp_path, monkeypatch):
    monkeypatch.setattr(million_rows, "AT_ONCE", 400)
    strong, weak = (read_table(path) for path in million_rows.write_files(tmp_path, 700, "csv"))
    assert (strong.num_rows, weak.num_rows) == (300, 700)
    assert "label" not in weak.column_names
    assert not {*strong["id"].to_pylist()} & {*weak["id"].to_pylist()}
    right = sum(a == b for a, b in zip(strong["label"].to_pylist(), strong["weak"].to_pylist(), strict=True))
    assert 0.65 < right / 300 < 0.85


def test_a_process_of_its_own_is_measured(capfd):
    found = million_rows.measured(["--help"])
    assert "soft-labels" in capfd.readouterr().out
    assert found["peak_mb"] > 1
    assert found["seconds"] > 0
    with pytest.raises(SystemExit, match="fwl nonsense: ended with 2"):
        million_rows.measured(["nonsense"])
