import json

import pytest
from tests.unit.report.examples import panel_result, table_result

from fwl.errors import OutputTrouble
from fwl.report.store import as_json, read_result, write_aside, write_result


def test_what_is_written_is_read_again(tmp_path):
    result = panel_result()
    write_result(result, tmp_path)
    assert read_result(tmp_path) == result


def test_the_file_has_the_promised_shape(tmp_path):
    stored = json.loads(write_result(table_result(), tmp_path).read_text())
    assert {"experiment", "size", "settings", "provenance", "rows"} <= set(stored)
    promised = {"dataset", "method", "metric", "lower_is_better", "mean", "std", "values", "paper", "better_than"}
    assert promised <= set(stored["rows"][0])
    assert stored["rows"][1]["better_than"] == ["NN_W"]
    assert stored == as_json(table_result())


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(OutputTrouble) as caught:
        read_result(tmp_path)
    assert str(caught.value) == (
        f"no results.json in {tmp_path}; run `fwl reproduce EXPERIMENT --out {tmp_path}` first"
    )


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"rows": [{}]}', '{"rows": 3}'])
def test_a_file_that_is_no_result_is_refused(tmp_path, content):
    (tmp_path / "results.json").write_text(content)
    with pytest.raises(OutputTrouble, match="is not a results file of this version"):
        read_result(tmp_path)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = write_aside(tmp_path / "file", b"old")
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(OutputTrouble, match=r"cannot write .*file \(No space left\)"):
        write_aside(path, b"new")
    assert path.read_bytes() == b"old"
