from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput, OutputTrouble, UnknownName, WrongShape
from fwl.learn.chunks import Columns, chunks_of
from fwl.records import WeakSet

X = np.arange(20.0).reshape(10, 2)
WEAK = np.arange(10.0)[:, None]


def read(source, size=4, columns=None):
    chunks, total = chunks_of(source, size, columns)
    return list(chunks), total


def whole(chunks):
    return np.concatenate([chunk.X for chunk in chunks])


def write(path, **columns):
    """A Parquet file in row groups that do not fit the chunks."""
    pq.write_table(pa.table(columns), path, row_group_size=3)
    return path


@pytest.fixture
def table(tmp_path):
    return write(
        tmp_path / "samples.parquet",
        id=[f"s{i}" for i in range(10)],
        a=X[:, 0],
        says=WEAK[:, 0],
        b=X[:, 1],
    )


@pytest.mark.parametrize("size", [1, 3, 4, 10, 99])
def test_an_array_is_cut_in_its_order(size):
    chunks, total = read(X, size)
    assert np.array_equal(whole(chunks), X)
    assert total == 10
    assert max(len(chunk.X) for chunk in chunks) == min(size, 10)
    assert all(chunk.weak is None and chunk.kept is None for chunk in chunks)


def test_a_memory_map_is_read_a_chunk_at_a_time(tmp_path):
    mapped = np.memmap(tmp_path / "samples", dtype=np.float32, mode="w+", shape=(10, 2))
    mapped[:] = X
    mapped.flush()
    chunks, total = read(np.memmap(tmp_path / "samples", dtype=np.float32, mode="r", shape=(10, 2)))
    assert np.array_equal(whole(chunks), X)
    assert total == 10
    assert whole(chunks).dtype == np.float32
    assert all(np.shares_memory(chunk.X, chunk.X.base) for chunk in chunks), "nothing is copied ahead of time"


def test_samples_may_have_any_dimensions():
    chunks, _ = read(X.reshape(10, 2, 1))
    assert [chunk.X.shape for chunk in chunks] == [(4, 2, 1), (4, 2, 1), (2, 2, 1)]


def test_a_weak_set_brings_its_labels_along():
    chunks, total = read(WeakSet(X, WEAK))
    assert np.array_equal(whole(chunks), X)
    assert np.array_equal(np.concatenate([chunk.weak for chunk in chunks]), WEAK)
    assert total == 10


@pytest.mark.parametrize(
    "make", [iter, list, lambda parts: (part for part in parts)], ids=["iterator", "list", "generator"]
)
def test_arrays_may_come_one_after_the_other(make):
    chunks, total = read(make([X[:5], X[5:5], X[5:6], X[6:]]), size=3)
    assert np.array_equal(whole(chunks), X)
    assert [len(chunk.X) for chunk in chunks] == [3, 2, 1, 3, 1]
    assert total is None


def test_so_may_arrays_with_their_weak_labels():
    chunks, _ = read(iter([(X[:5], WEAK[:5]), (X[5:], WEAK[5:])]), size=3)
    assert np.array_equal(whole(chunks), X)
    assert np.array_equal(np.concatenate([chunk.weak for chunk in chunks]), WEAK)


def test_an_iterator_is_read_no_further_than_asked():
    taken = []

    def parts():
        for i in range(5):
            taken.append(i)
            yield X

    chunks, _ = chunks_of(parts(), 10)
    assert taken == []
    next(chunks)
    assert taken == [0]


@pytest.mark.parametrize("as_source", [str, Path, lambda path: [path], lambda path: (str(path),)])
def test_a_parquet_file_is_named_by_its_path(table, as_source):
    chunks, total = read(as_source(table), columns=Columns(("a", "b")))
    assert np.array_equal(whole(chunks), X)
    assert total == 10


def test_without_a_word_all_columns_of_numbers_are_features(table):
    chunks, _ = read(table)
    assert np.array_equal(whole(chunks), np.column_stack([X[:, 0], WEAK[:, 0], X[:, 1]]))


def test_columns_are_features_weak_labels_or_carried_along(table):
    chunks, _ = read(table, columns=Columns(weak=("says",), keep=("id",)))
    assert np.array_equal(whole(chunks), X)
    assert np.array_equal(np.concatenate([chunk.weak for chunk in chunks]), WEAK)
    kept = pa.concat_tables(chunk.kept for chunk in chunks)
    assert kept.column_names == ["id"]
    assert kept["id"].to_pylist() == [f"s{i}" for i in range(10)]


def test_a_column_may_be_several_things_at_once(table):
    chunks, _ = read(table, size=99, columns=Columns(("b", "says"), weak=("says", "a"), keep=("b", "id")))
    (chunk,) = chunks if len(chunks) == 1 else [None]
    assert np.array_equal(chunk.X, np.column_stack([X[:, 1], WEAK[:, 0]]))
    assert np.array_equal(chunk.weak, np.column_stack([WEAK[:, 0], X[:, 0]]))
    assert chunk.kept.column_names == ["b", "id"]


def test_numbers_of_every_type_are_features_and_nothing_else_is(tmp_path):
    path = write(
        tmp_path / "types.parquet",
        whole=np.arange(3),
        small=np.arange(3, dtype=np.uint8),
        single=np.arange(3, dtype=np.float32),
        text=["a", "b", "c"],
        truth=[True, False, True],
    )
    (chunk,), _ = read(path)
    assert np.array_equal(chunk.X, np.repeat(np.arange(3.0)[:, None], 3, axis=1))


def test_weak_labels_of_whole_numbers_become_floats(tmp_path):
    (chunk,), _ = read(write(tmp_path / "t.parquet", a=[1.0], says=[1]), columns=Columns(weak=("says",)))
    assert chunk.weak.dtype == np.float64


def test_several_files_are_read_one_after_the_other(tmp_path):
    paths = [
        write(tmp_path / f"{i}.parquet", a=X[rows, 0], b=X[rows, 1])
        for i, rows in enumerate(np.split(np.arange(10), [4, 4]))
    ]
    chunks, total = read(paths, size=3)
    assert np.array_equal(whole(chunks), X)
    assert total == 10


def test_the_first_file_says_in_which_order_features_stand(tmp_path):
    one, other = (
        write(tmp_path / "1.parquet", a=[1.0], b=[2.0]),
        write(tmp_path / "2.parquet", b=[4.0], c=[9.0], a=[3.0]),
    )
    assert whole(read([one, other])[0]).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_file_without_a_feature_of_the_first_is_refused(tmp_path):
    one, other = write(tmp_path / "1.parquet", a=[1.0], b=[2.0]), write(tmp_path / "2.parquet", a=[3.0])
    with expect_refusal(UnknownName, "unknown column 'b'; known: a"):
        read([one, other])


@pytest.mark.parametrize("size", [0, -3])
def test_a_chunk_of_nothing_is_refused(size):
    with expect_refusal(InvalidInput, f"chunk is at least 1 row, got {size}"):
        chunks_of(X, size)


def test_an_iterator_of_something_else_is_refused():
    with expect_refusal(InvalidInput, "chunk 1: expected an array or (array, weak labels), got list"):
        read(iter([X, X.tolist()]))
    with expect_refusal(InvalidInput, "chunk 0: expected an array or (array, weak labels), got str"):
        read({"a": X})


def test_weak_labels_of_another_length_are_refused():
    with expect_refusal(WrongShape, "chunk 1: 10 samples and 9 weak labels; expected as many"):
        read(iter([(X, WEAK), (X, WEAK[1:])]))


@pytest.mark.parametrize("columns", [Columns(("a", "bb")), Columns(weak=("bb",)), Columns(keep=("bb",))])
def test_an_unknown_column_is_answered_with_the_nearest(table, columns):
    with expect_refusal(UnknownName, "unknown column 'bb'; did you mean 'b'? known: id, a, says, b"):
        read(table, columns=columns)


def test_a_file_without_numbers_is_refused(tmp_path):
    path = write(tmp_path / "words.parquet", one=["a"], two=["b"], said=[1.0])
    with expect_refusal(InvalidInput, "no column of numbers among one, two, said; name the feature columns"):
        read(path, columns=Columns(weak=("said",)))


@pytest.mark.parametrize("columns", [Columns(("a",)), Columns(("b",), weak=("a",))], ids=["feature", "weak label"])
def test_empty_cells_are_refused(tmp_path, columns):
    path = write(tmp_path / "holes.parquet", a=[1.0, None], b=[1.0, 2.0])
    with expect_refusal(InvalidInput, "column 'a' has empty cells; fill or drop those rows first"):
        read(path, columns=columns)


@pytest.mark.parametrize("columns", [Columns(("a",)), Columns(("b",), weak=("a",))], ids=["feature", "weak label"])
@pytest.mark.parametrize(
    ("cells", "kind"),
    [(["x", "y"], "string"), ([[1.0], [2.0]], "list<element: double>"), ([Decimal("1.5")] * 2, "decimal128(2, 1)")],
    ids=["words", "lists", "decimals"],
)
def test_columns_of_anything_but_numbers_are_refused(tmp_path, columns, cells, kind):
    path = write(tmp_path / "words.parquet", a=cells, b=[1.0, 2.0])
    with expect_refusal(InvalidInput, f"column 'a': expected numbers, got {kind}; encode it first"):
        read(path, columns=columns)


def test_truth_is_a_number_where_it_is_named(tmp_path):
    (chunk,), _ = read(write(tmp_path / "t.parquet", a=[True, False], b=[1.5, 2.0]), columns=Columns(("b", "a")))
    assert chunk.X.tolist() == [[1.5, 1.0], [2.0, 0.0]]


def test_empty_cells_of_what_is_only_carried_along_stay_empty(tmp_path):
    path = write(tmp_path / "holes.parquet", note=[None, "x"], b=[1.0, 2.0])
    (chunk,), _ = read(path, columns=Columns(keep=("note",)))
    assert chunk.kept["note"].to_pylist() == [None, "x"]


def test_a_file_that_is_no_parquet_is_refused(tmp_path):
    path = tmp_path / "samples.csv"
    path.write_text("a,b\n1,2\n")
    with expect_refusal(
        OutputTrouble,
        f"{path} cannot be read as Parquet (Parquet magic bytes not found in footer. Either the file is corrupted or "
        "this is not a parquet file.)",
    ):
        chunks_of(path, 4)


def test_a_file_that_is_not_there_is_refused_before_any_other_is_read(table, tmp_path):
    missing = tmp_path / "nowhere.parquet"
    with expect_refusal(
        OutputTrouble,
        f"{missing} cannot be read as Parquet ([Errno 2] Failed to open local file '{missing}'. "
        "Detail: [errno 2] No such file or directory)",
    ):
        chunks_of([table, missing], 4)


@pytest.mark.parametrize(
    "source", [X[:0], [], iter([]), iter([X[:0]])], ids=["array", "list", "iterator", "empty part"]
)
def test_no_samples_are_no_chunks(source):
    assert read(source)[0] == []


def test_nor_are_those_of_an_empty_file(tmp_path):
    path = write(tmp_path / "empty.parquet", a=pa.array([], pa.float64()))
    assert read(path) == ([], 0)
