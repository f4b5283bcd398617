from pathlib import Path

import pyarrow as pa
import pytest
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput, OutputTrouble
from fwl.tables.reading import read_table
from fwl.tables.writing import table_writer, write_table

TABLE = pa.table({"a": [1, 2], "b": ["x", None]})
ENDINGS = ["csv", "tsv", "jsonl", "parquet"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_pieces_make_one_table(ending, tmp_path):
    path = tmp_path / f"rows.{ending}"
    with table_writer(path) as write:
        write(TABLE)
        write(TABLE)
        assert not path.exists()  # not before it is whole
    assert read_table(path)["a"].to_pylist() == [1, 2, 1, 2]
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_was_there_stays_when_something_goes_wrong(ending, tmp_path):
    path = write_table(TABLE, tmp_path / f"rows.{ending}")
    before = path.read_bytes()

    def fail():
        with table_writer(path) as write:
            write(TABLE)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_lists_are_texts_in_csv_and_lists_in_the_others(tmp_path):
    table = pa.table({"id": [1, 2], "near": [["a", "b"], None]})
    assert read_table(write_table(table, tmp_path / "rows.csv"))["near"].to_pylist() == ["a b", ""]
    assert read_table(write_table(table, tmp_path / "rows.jsonl"))["near"].to_pylist() == [["a", "b"], None]


def test_a_folder_in_its_place_is_refused(tmp_path):
    (tmp_path / "rows.csv").mkdir()
    with expect_refusal(OutputTrouble, f"cannot write {tmp_path / 'rows.csv'} (Is a directory)"):
        write_table(TABLE, tmp_path / "rows.csv")


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    path = tmp_path / "none" / "rows.csv"
    with expect_refusal(OutputTrouble, f"cannot write {path} (No such file or directory)"):
        write_table(TABLE, path)


def test_packed_tables_are_not_written(tmp_path):
    path = tmp_path / "rows.csv.gz"
    message = f"{path}: tables are written plain; leave .gz away, and pack the file afterwards"
    with expect_refusal(InvalidInput, message):
        write_table(TABLE, path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device to write to")
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_full_disk_is_told(ending, tmp_path, monkeypatch):
    real = Path.open

    def full(self, mode="r", *rest, **more):
        return real(Path("/dev/full"), mode) if self.name.endswith(".part") else real(self, mode, *rest, **more)

    monkeypatch.setattr(Path, "open", full)
    path = tmp_path / f"rows.{ending}"
    with pytest.raises(OutputTrouble, match="No space left on device"):
        write_table(TABLE, path)
    assert not path.exists()
