import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput, UnknownName
from fwl.tables.reading import column_names, count_rows, read_chunks, read_table
from fwl.tables.writing import write_table

ROWS = {"id": ["a", "b", "ü"], "n": [1, 2, None], "x": [0.5, None, 2.0], "text": ["one, two", 'say "hi"', "two\nlines"]}
ENDINGS = ["csv", "tsv", "jsonl", "ndjson", "parquet", "pq"]


def written(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_written_is_read(ending, tmp_path):
    path = write_table(pa.table(ROWS), tmp_path / f"rows.{ending}")
    assert read_table(path).to_pydict() == ROWS
    assert column_names(path) == list(ROWS)


@pytest.mark.parametrize("ending", ENDINGS)
def test_columns_are_chosen_and_ordered(ending, tmp_path):
    path = write_table(pa.table(ROWS), tmp_path / f"rows.{ending}")
    assert read_table(path, ["x", "id"]).column_names == ["x", "id"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_unknown_column_is_answered_with_the_nearest(ending, tmp_path):
    path = write_table(pa.table(ROWS), tmp_path / f"rows.{ending}")
    message = f"unknown column of {path} 'txt'; did you mean 'text'? known: id, n, x, text"
    with expect_refusal(UnknownName, message):
        read_table(path, ["txt"])


@pytest.mark.parametrize("ending", ENDINGS)
def test_chunks_are_the_table_in_pieces(ending, tmp_path):
    path = write_table(pa.table({"n": list(range(10))}), tmp_path / f"rows.{ending}")
    chunks = list(read_chunks(path, 4))
    assert [chunk.num_rows for chunk in chunks] == [4, 4, 2]
    assert pa.concat_tables(chunks)["n"].to_pylist() == list(range(10))
    assert count_rows(path) == (10 if ending in ("parquet", "pq") else None)


def test_chunks_of_parquet_take_little_memory(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x": np.arange(200_000.0)}), path, row_group_size=1000)
    before, most = pa.total_allocated_bytes(), 0
    for chunk in read_chunks(path, 1000):
        most = max(most, pa.total_allocated_bytes() - before)
        assert chunk.num_rows <= 1000
    assert most < 200_000  # bytes, of 1.6 million


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_gzipped_files_are_unpacked(ending, tmp_path):
    plain = write_table(pa.table(ROWS), tmp_path / f"rows.{ending}")
    packed = written(tmp_path, f"rows.{ending}.gz", gzip.compress(plain.read_bytes()))
    assert read_table(packed).to_pydict() == ROWS


def test_ids_and_classes_stay_texts_where_that_is_asked_for(tmp_path):
    path = written(tmp_path, "rows.csv", "id,class\n001,1\n010,2\n")
    assert read_table(path).to_pydict() == {"id": [1, 10], "class": [1, 2]}
    assert read_table(path, as_text=["id", "class"]).to_pydict() == {"id": ["001", "010"], "class": ["1", "2"]}
    lines = written(tmp_path, "rows.jsonl", '{"class": 1}\n{"class": "a"}\n{"class": null}\n')
    assert read_table(lines, as_text=["class"])["class"].to_pylist() == ["1", "a", None]
    parquet = write_table(pa.table({"class": [1, 2]}), tmp_path / "rows.parquet")
    assert read_table(parquet, as_text=["class"])["class"].to_pylist() == ["1", "2"]
    assert next(read_chunks(parquet, as_text=["class"]))["class"].to_pylist() == ["1", "2"]


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    assert column_names(written(tmp_path, "rows.csv", b"\xef\xbb\xbfid,x\n1,2\n")) == ["id", "x"]
    assert column_names(written(tmp_path, "rows.jsonl", b'\xef\xbb\xbf{"id": 1}\n')) == ["id"]


def test_a_cell_of_ten_megabytes_is_read(tmp_path):
    path = written(tmp_path, "rows.csv", "id,text\n1," + "x" * 10_000_000 + "\n2,y\n")
    assert [len(text) for text in read_table(path)["text"].to_pylist()] == [10_000_000, 1]


def test_a_column_that_turns_to_texts_late_is_texts(tmp_path):
    path = written(tmp_path, "rows.csv", "a\n" + "1\n" * 1_500_000 + "odd\n")
    assert read_table(path)["a"][0].as_py() == "1"


BROKEN = {
    "empty csv": ("rows.csv", "", "is empty; expected a header with the names of the columns, and a row below it"),
    "blank csv": ("rows.csv", "\n\n", "is empty; expected a header with the names of the columns, and a row below it"),
    "header only": ("rows.csv", "a,b\n", "holds no rows; expected at least one"),
    "long row": (
        "rows.csv",
        "a,b\n1,2\n1,2,3\n",
        ', line 3: expected 2 cells as in the header, got 3; put quotes (") around cells that hold a separator',
    ),
    "short row": (
        "rows.tsv",
        'a\tb\n"x\ny"\t2\n1\n',
        ', line 4: expected 2 cells as in the header, got 1; put quotes (") around cells that hold a separator',
    ),
    "open quote": (
        "rows.csv",
        'a,b\n1,2\n1,"never closed\n3,4\n',
        ", line 3: the quotes of the row that begins here do not pair (unexpected end of data); close the quote, or "
        'write a quote inside a quoted cell twice ("")',
    ),
    "odd quote": (
        "rows.csv",
        'a,b\n1,"x"y\n',
        ", line 2: the quotes of the row that begins here do not pair (',' expected after '\"'); close the quote, or "
        'write a quote inside a quoted cell twice ("")',
    ),
    "latin-1": (
        "rows.csv",
        "a,b\n1,caf\xe9\n".encode("latin-1"),
        ", line 2: byte 0xe9 at position 5 is not UTF-8; convert the file to UTF-8, e.g. with "
        "iconv -f latin-1 -t utf-8",
    ),
    "twice": ("rows.csv", "a,a\n1,2\n", ": column 'a' comes twice; give every column a name of its own"),
    "no name": ("rows.csv", "a,\n1,2\n", ": column 2 has no name; name it in the header"),
    "no json": (
        "rows.jsonl",
        '{"a": 1}\nnope\n',
        ", line 2: this is not JSON (Expecting value: line 1 column 1 (char 0)): 'nope'",
    ),
    "no object": ("rows.jsonl", "[1, 2]\n", ", line 1: expected a JSON object, one for each row, got '[1, 2]'"),
    "mixed json": (
        "rows.jsonl",
        '{"a": 1}\n{"a": null}\n{"a": "x"}\n',
        ", line 3: column 'a' holds numbers and texts, here 'x'; expected one kind in all rows",
    ),
    "no rows": ("rows.jsonl", "\n", "holds no rows; expected at least one"),
}


@pytest.mark.parametrize(("name", "content", "told"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_file_is_named_with_line_and_column(name, content, told, tmp_path):
    path = written(tmp_path, name, content)
    with expect_refusal(InvalidInput, f"{path}{' ' if told[0].isalpha() else ''}{told}"):
        read_table(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    for name in ("none.csv", "none.jsonl", "none.parquet"):
        message = f"{tmp_path / name} cannot be opened (No such file or directory); expected a file that can be read"
        with expect_refusal(InvalidInput, message):
            read_table(tmp_path / name)


def test_a_folder_is_no_table(tmp_path):
    (tmp_path / "rows.csv").mkdir()
    with pytest.raises(InvalidInput, match=r"rows.csv cannot be opened \(Is a directory\)"):
        read_table(tmp_path / "rows.csv")


def test_another_ending_is_refused(tmp_path):
    message = (
        "rows.xlsx: cannot tell what kind of table this is; expected a name that ends in .csv, .tsv, .jsonl, .ndjson, "
        ".parquet, .pq"
    )
    with expect_refusal(InvalidInput, message):
        read_table("rows.xlsx")


@pytest.mark.parametrize("content", [b"", b"PAR1 nothing", b"a,b\n1,2\n"])
def test_what_is_no_parquet_is_refused(content, tmp_path):
    path = written(tmp_path, "rows.parquet", content)
    with pytest.raises(InvalidInput, match=r"rows\.parquet cannot be read as Parquet"):
        read_table(path)


def test_a_damaged_parquet_is_refused(tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x": np.random.default_rng(0).normal(size=5000)}), path)
    content = bytearray(path.read_bytes())
    content[4:60] = b"x" * 56
    path.write_bytes(bytes(content))
    with pytest.raises(InvalidInput, match=r"rows\.parquet is damaged or cut off"):
        read_table(path)


def test_a_damaged_gzip_is_refused(tmp_path):
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 1000)
    path = written(tmp_path, "rows.csv.gz", whole[: len(whole) // 2])
    with pytest.raises(InvalidInput, match=r"rows.csv.gz is damaged or cut off"):
        read_table(path)


def test_a_key_that_a_row_lacks_is_an_empty_cell(tmp_path):
    lines = [{"a": 1}, {"b": "x"}, {"a": 2, "b": "y", "c": [1.0, 2.0]}]
    path = written(tmp_path, "rows.jsonl", "\n".join(map(json.dumps, lines)))
    assert read_table(path).to_pydict() == {"a": [1, None, 2], "b": [None, "x", "y"], "c": [None, None, [1.0, 2.0]]}


def test_chunks_of_no_rows_are_refused(tmp_path):
    with expect_refusal(InvalidInput, "chunk is at least 1 row, got 0"):
        next(read_chunks("rows.csv", 0))


def test_json_lines_in_blocks_are_one_table(tmp_path, monkeypatch):
    rows = [{"a": i} if i < 4 else {"a": i + 0.5, "b": None} if i < 6 else {"b": f"t{i}"} for i in range(9)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    whole = read_table(path)
    monkeypatch.setattr("fwl.tables.json_lines.BLOCK", 2)
    assert read_table(path).to_pylist() == whole.to_pylist()
    assert whole["a"].to_pylist() == [0, 1, 2, 3, 4.5, 5.5, None, None, None]
    path.write_text("{}\n" * 3 + '{"a": 1}\n' + "{}\n" * 4)
    assert read_table(path)["a"].to_pylist() == [None] * 3 + [1] + [None] * 4
    path.write_text('{"a": 1}\n' * 5 + '{"a": "x"}\n')
    message = f"{path}, line 6: column 'a' holds numbers and texts, here 'x'; expected one kind in all rows"
    with expect_refusal(InvalidInput, message):
        read_table(path)
