import weakref

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from tests.examples import Interrupted, Listener
from tests.refusals import expect_refusal

from fwl.errors import InvalidInput, NotFinite, OutputTrouble, UnknownName, WrongShape
from fwl.learn.chunks import Columns
from fwl.learn.stream import soften
from fwl.records import SoftSet, WeakSet

X = np.arange(1.0, 51.0).reshape(25, 2)
WEAK = 100 * X[:, :1]


def softened(samples, weak=None):
    """A soft set in which every sample can be recognised."""
    label = samples[:, :1] if weak is None else samples[:, :1] + weak
    return SoftSet(samples, label, samples[:, 0] / 10, np.exp(-samples[:, 0] / 10))


def of_classes(samples, weak=None):
    share = samples[:, :1] / 100
    soft = softened(samples)
    return SoftSet(samples, np.hstack([share, 1 - share]), soft.uncertainty, soft.fidelity)


def failing_at(sample):
    def judge(samples, weak=None):
        if sample in samples[:, 0]:
            raise ValueError("in the middle of it")
        return softened(samples, weak)

    return judge


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    return folder / "soft.parquet"


def write(path, **columns):
    pq.write_table(pa.table(columns), path, row_group_size=4)
    return path


def mapped(tmp_path):
    array = np.memmap(tmp_path / "samples", dtype=np.float64, mode="w+", shape=X.shape)
    array[:] = X
    array.flush()
    return np.memmap(tmp_path / "samples", dtype=np.float64, mode="r", shape=X.shape)


SOURCES = {
    "array": lambda _: X,
    "memory map": mapped,
    "list of arrays": lambda _: [X[:9], X[9:]],
    "iterator of arrays": lambda _: iter([X[:9], X[9:9], X[9:]]),
    "Parquet": lambda folder: write(folder / "in.parquet", a=X[:, 0], b=X[:, 1]),
    "path as text": lambda folder: str(write(folder / "in.parquet", a=X[:, 0], b=X[:, 1])),
    "Parquet files": lambda folder: [
        write(folder / f"{i}.parquet", a=X[rows, 0], b=X[rows, 1])
        for i, rows in enumerate(np.split(np.arange(25), [7]))
    ],
}
WITH_WEAK = {
    "weak set": lambda _: (WeakSet(X, WEAK), None),
    "iterator": lambda _: (iter([(X[:9], WEAK[:9]), (X[9:], WEAK[9:])]), None),
    "Parquet": lambda folder: (
        write(folder / "in.parquet", a=X[:, 0], says=WEAK[:, 0], b=X[:, 1]),
        Columns(weak=("says",)),
    ),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_sample_is_written_in_its_order_wherever_it_comes_from(source, tmp_path, out):
    n = soften(SOURCES[source](tmp_path), softened, out, chunk=4, jobs=2)
    table = pq.read_table(out)
    assert n == 25
    assert np.array_equal(table["soft_label"], X[:, 0])
    assert np.array_equal(table["uncertainty"], X[:, 0] / 10)
    assert np.array_equal(table["fidelity"], np.exp(-X[:, 0] / 10))
    assert list(out.parent.iterdir()) == [out]


@pytest.mark.parametrize("source", WITH_WEAK)
def test_weak_labels_reach_the_teacher_with_their_samples(source, tmp_path, out):
    samples, columns = WITH_WEAK[source](tmp_path)
    soften(samples, softened, out, columns=columns, chunk=4)
    assert np.array_equal(pq.read_table(out)["soft_label"], X[:, 0] + WEAK[:, 0])


def test_the_file_has_a_column_for_a_number(out):
    soften(X, softened, out)
    assert pq.read_schema(out).equals(
        pa.schema([("soft_label", pa.float64()), ("uncertainty", pa.float64()), ("fidelity", pa.float64())])
    )


@pytest.mark.parametrize(
    ("classes", "names"), [(None, ["soft_0", "soft_1"]), (("dog", "cat"), ["soft_dog", "soft_cat"])]
)
def test_and_one_for_each_class_by_name_where_names_are_given(classes, names, out):
    soften(X, of_classes, out, classes=classes, chunk=10)
    table = pq.read_table(out)
    assert table.column_names == [*names, "uncertainty", "fidelity"]
    assert np.array_equal(table[names[0]], X[:, 0] / 100)


def test_one_class_with_a_name_has_it_too(out):
    soften(X, softened, out, classes=("relevant",))
    assert pq.read_table(out).column_names == ["soft_relevant", "uncertainty", "fidelity"]


def test_what_is_to_be_kept_stands_first_with_its_type(tmp_path, out):
    ids, notes = pa.array(range(25), pa.int32()), [None if i % 2 else f"n{i}" for i in range(25)]
    path = write(tmp_path / "in.parquet", a=X[:, 0], b=X[:, 1], note=notes, id=ids)
    soften(path, softened, out, columns=Columns(("a", "b"), keep=("id", "note")), chunk=4)
    table = pq.read_table(out)
    assert table.column_names == ["id", "note", "soft_label", "uncertainty", "fidelity"]
    assert table.schema.field("id").type == pa.int32()
    assert table["id"].to_pylist() == list(range(25))
    assert table["note"].to_pylist() == notes


@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_hears_of_every_sample(jobs, out):
    soften(X, softened, out, chunk=10, jobs=jobs, progress=(listener := Listener()))
    assert (listener.total, listener.what) == (25, "soft labels")
    assert listener.heard == [10, 10, 5]
    assert listener.finished


def test_progress_does_not_know_how_long_an_iterator_is(out):
    soften(iter([X]), softened, out, progress=(listener := Listener()))
    assert (listener.total, sum(listener.heard), listener.finished) == (0, 25, True)


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_no_more_chunks_are_taken_in_than_there_are_workers(jobs, out):
    taken, ahead = [], []

    def parts():
        for i in range(10):
            taken.append(i)
            yield np.full((2, 1), float(i))

    class Written(Listener):
        def advance(self, amount=1):
            ahead.append(len(taken) - len(self.heard))
            super().advance(amount)

    soften(parts(), softened, out, chunk=2, jobs=jobs, progress=Written())
    assert len(ahead) == 10
    assert max(ahead) == jobs


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_what_is_written_is_let_go(jobs, out):
    class Watched(np.ndarray):
        """An array that can be watched."""

    seen, alive = [], []

    def parts():
        for i in range(10):
            part = np.full((2, 1), float(i)).view(Watched)
            seen.append(weakref.ref(part))
            alive.append(sum(ref() is not None for ref in seen))
            yield part
            del part

    soften(parts(), lambda samples, weak: softened(np.array(samples)), out, chunk=2, jobs=jobs)
    assert max(alive) <= jobs + 1  # a wave, and the last one of the wave before


def test_one_thread_is_used_and_the_setting_given_back(out):
    seen = []

    def judge(samples, weak):
        seen.append(torch.get_num_threads())
        return softened(samples)

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        soften(X, judge, out, chunk=5, jobs=2)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert set(seen) == {1}


def left_alone(out):
    """Nothing was left behind, and what was there is as it was."""
    return list(out.parent.iterdir()) == [out] and out.read_bytes() == b"what was there"


@pytest.fixture
def taken(out):
    out.write_bytes(b"what was there")
    return out


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("sample", [1.0, 49.0], ids=["at once", "at the end"])
def test_a_failure_leaves_nothing_behind_and_what_was_there_alone(sample, jobs, taken):
    with pytest.raises(ValueError, match="in the middle of it"):
        soften(X, failing_at(sample), taken, chunk=4, jobs=jobs, progress=(listener := Listener()))
    assert left_alone(taken)
    assert listener.finished


def test_so_does_an_interruption(taken):
    with pytest.raises(Interrupted):
        soften(X, softened, taken, chunk=4, progress=(listener := Listener(stop_after=10)))
    assert left_alone(taken)
    assert listener.finished


def test_and_a_source_that_breaks_off(taken):
    def parts():
        yield X
        raise OSError("the line went dead")

    with pytest.raises(OSError, match="the line went dead"):
        soften(parts(), softened, taken, chunk=4)
    assert left_alone(taken)


def test_a_file_that_was_there_is_replaced_where_all_goes_well(taken):
    soften(X, softened, taken)
    assert len(pq.read_table(taken)) == 25


def test_a_file_may_take_its_own_place(tmp_path):
    path = write(tmp_path / "in.parquet", a=X[:, 0], b=X[:, 1], id=[f"s{i}" for i in range(25)])
    soften(path, softened, path, columns=Columns(keep=("id",)), chunk=4)
    assert np.array_equal(pq.read_table(path)["soft_label"], X[:, 0])


REFUSED = {
    "no sample": (lambda _: X[:0], {}, OutputTrouble, "there is no sample to soften; nothing was written"),
    "no part": (lambda _: iter([]), {}, OutputTrouble, "there is no sample to soften; nothing was written"),
    "empty file": (
        lambda folder: write(folder / "in.parquet", a=pa.array([], pa.float64())),
        {},
        OutputTrouble,
        "there is no sample to soften; nothing was written",
    ),
    "chunk": (lambda _: X, {"chunk": 0}, InvalidInput, "chunk is at least 1 row, got 0"),
    "kind of part": (
        lambda _: iter([X, "b"]),
        {},
        InvalidInput,
        "chunk 1: expected an array or (array, weak labels), got str",
    ),
    "weak labels": (
        lambda _: iter([(X, WEAK[:3])]),
        {},
        WrongShape,
        "chunk 0: 25 samples and 3 weak labels; expected as many",
    ),
    "unknown column": (
        lambda folder: write(folder / "in.parquet", a=X[:, 0], b=X[:, 1]),
        {"columns": Columns(keep=("idd",))},
        UnknownName,
        "unknown column 'idd'; known: a, b",
    ),
    "no numbers": (
        lambda folder: write(folder / "in.parquet", a=["x"], b=["y"]),
        {},
        InvalidInput,
        "no column of numbers among a, b; name the feature columns",
    ),
    "empty cells": (
        lambda folder: write(folder / "in.parquet", a=[*X[:-1, 0], None], b=X[:, 1]),
        {},
        InvalidInput,
        "column 'a' has empty cells; fill or drop those rows first",
    ),
    "words": (
        lambda folder: write(folder / "in.parquet", a=["x", "y"]),
        {"columns": Columns(("a",))},
        InvalidInput,
        "column 'a': expected numbers, got string; encode it first",
    ),
    "not a number": (
        lambda _: np.array([[1.0], [np.nan]]),
        {},
        NotFinite,
        "soft samples: NaN or infinity in 1 of 2 rows (rows 1); drop or fill them first",
    ),
}


@pytest.mark.parametrize("classes", [("dog",), ("dog", "cat", "cow"), ("dog", "dog")])
def test_names_that_do_not_fit_the_classes_are_refused(classes, taken):
    with expect_refusal(InvalidInput, f"classes: expected 2 different names, got {', '.join(classes)}"):
        soften(X, of_classes, taken, classes=classes)
    assert left_alone(taken)


@pytest.mark.parametrize("name", ["soft_label", "uncertainty", "fidelity"])
def test_a_column_that_would_be_overwritten_is_not_kept(name, tmp_path, taken):
    path = write(tmp_path / "in.parquet", **{"a": X[:, 0], "b": X[:, 1], name: X[:, 0]})
    message = f"column {name!r} cannot be kept: the soft labels have one of that name; rename it first"
    with expect_refusal(InvalidInput, message):
        soften(path, softened, taken, columns=Columns(("a", "b"), keep=(name,)))
    assert left_alone(taken)


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_and_leaves_nothing_behind(case, tmp_path, taken):
    make, options, error, message = REFUSED[case]
    with expect_refusal(error, message):
        soften(make(tmp_path), lambda samples, weak: softened(samples), taken, **{"chunk": 4, **options})
    assert left_alone(taken)


def test_a_file_that_is_no_parquet_is_refused(tmp_path, taken):
    path = tmp_path / "samples.csv"
    path.write_text("a,b\n1,2\n")
    with expect_refusal(
        OutputTrouble,
        f"{path} cannot be read as Parquet (Parquet magic bytes not found in footer. Either the file is corrupted or "
        "this is not a parquet file.)",
    ):
        soften(path, softened, taken)
    assert left_alone(taken)


@pytest.mark.parametrize(
    ("place", "reason"),
    [("nowhere/soft.parquet", "No such file or directory"), ("taken/soft.parquet", "Not a directory")],
)
def test_a_place_that_cannot_be_written_is_refused_before_any_work(place, reason, tmp_path):
    (tmp_path / "taken").write_text("in the way")
    with expect_refusal(OutputTrouble, f"cannot write {tmp_path / place} ({reason})"):
        soften(X, failing_at(1.0), tmp_path / place)


def test_so_is_a_folder(tmp_path):
    with expect_refusal(OutputTrouble, f"cannot write {tmp_path} (Is a directory)"):
        soften(X, failing_at(1.0), tmp_path)
    assert list(tmp_path.iterdir()) == []
