"""Soft labels as a stream are those of one call: whatever the chunk, the workers, or where samples come from."""

from functools import cache

import joblib
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fwl.learn.chunks import Columns
from fwl.learn.eyes import OneStudent
from fwl.learn.fitted import fit_teacher
from fwl.learn.pretrain import pretrain
from fwl.learn.recipe import Teaching
from fwl.learn.soften import Softener
from fwl.learn.stream import soften
from fwl.randomness import Chance
from fwl.records import WeakSet
from fwl.teach.clustered import ClusteredGP
from fwl.teach.kernels import RBF, White
from tests.problems import class_problem, class_recipe, new_class_teacher

NEAR = 1e-6  # the student answers in single precision, and in another order of sums for other chunks


def new_clustered():
    return ClusteredGP(3, kernel=RBF(2.0, 0.1) + White(0.1), shrink_mean=True)


TEACHERS = {"exact": new_class_teacher, "clustered": new_clustered}


@cache
def softener(teacher="exact", classes=3, prior_mean="student_and_weak"):
    problem = class_problem(classes=classes).problem
    student = pretrain(problem, class_recipe(1 if classes == 2 else 3), Chance(0))
    teaching = Teaching(TEACHERS[teacher], "both", True, prior_mean, calibrate=True)
    fitted = fit_teacher(OneStudent(student), problem.strong, problem.all_samples, teaching, problem.task)
    return Softener(fitted, beta=2.0, uncertainty="relative")


def fresh(classes=3):
    example = class_problem(classes=classes)
    return WeakSet(example.X, example.weak)


def table_of(path):
    """The numbers of a file, bit by bit."""
    table = pq.read_table(path)
    return {name: table[name].to_numpy() for name in table.column_names}


def same_bits(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def as_table(soft):
    labels = {f"soft_{i}": column for i, column in enumerate(soft.label.T)}
    if soft.label.shape[1] == 1:
        labels = {"soft_label": soft.label[:, 0]}
    return labels | {"uncertainty": soft.uncertainty, "fidelity": soft.fidelity}


def assert_near(table, expected):
    assert table.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(table[name], values, rtol=0, atol=NEAR)


@pytest.mark.parametrize("teacher", TEACHERS)
def test_workers_change_no_bit(teacher, tmp_path):
    source, judge = fresh(), softener(teacher)
    written = {}
    for jobs in (1, 2, 3):
        soften(source, judge, tmp_path / f"{jobs}.parquet", chunk=64, jobs=jobs)
        written[jobs] = table_of(tmp_path / f"{jobs}.parquet")
    assert len(written[1]["fidelity"]) == 1000
    assert same_bits(written[1], written[2])
    assert same_bits(written[1], written[3])


def test_nor_do_processes(tmp_path):
    source, judge = fresh(), softener()
    soften(source, judge, tmp_path / "threads.parquet", chunk=64, jobs=2)
    with joblib.parallel_config(backend="loky"):
        soften(source, judge, tmp_path / "processes.parquet", chunk=64, jobs=2)
    assert same_bits(table_of(tmp_path / "threads.parquet"), table_of(tmp_path / "processes.parquet"))


@pytest.mark.parametrize("chunk", [7, 64, 1000])
@pytest.mark.parametrize("teacher", TEACHERS)
def test_the_size_of_chunks_changes_next_to_nothing(teacher, chunk, tmp_path):
    source, judge = fresh(), softener(teacher)
    soften(source, judge, tmp_path / "soft.parquet", chunk=chunk)
    assert_near(table_of(tmp_path / "soft.parquet"), as_table(judge(source.X, source.y)))


@pytest.mark.parametrize(("classes", "prior_mean"), [(2, "student_and_weak"), (2, "average"), (3, "student")])
def test_every_kind_of_task_and_prior_mean_can_be_streamed(classes, prior_mean, tmp_path):
    source, judge = fresh(classes), softener("exact", classes, prior_mean)
    soften(source, judge, tmp_path / "soft.parquet", chunk=100)
    table = table_of(tmp_path / "soft.parquet")
    assert_near(table, as_table(judge(source.X, source.y)))
    assert ((table["fidelity"] > 0) & (table["fidelity"] <= 1)).all()
    if classes == 3:
        np.testing.assert_allclose(sum(table[f"soft_{i}"] for i in range(3)), 1.0, rtol=0, atol=NEAR)


def test_parquet_and_arrays_give_the_same_bits(tmp_path):
    source, judge = fresh(), softener()
    features, says = [f"x{i}" for i in range(4)], [f"says{i}" for i in range(3)]
    columns = dict(zip(features, source.X.T, strict=True)) | dict(zip(says, source.y.T, strict=True))
    table = pa.table({name: np.ascontiguousarray(values) for name, values in columns.items()})
    pq.write_table(table.slice(0, 640), tmp_path / "1.parquet")
    pq.write_table(table.slice(640), tmp_path / "2.parquet")
    files = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    soften(files, judge, tmp_path / "files.parquet", columns=Columns(weak=tuple(says)), chunk=64)
    soften(source, judge, tmp_path / "arrays.parquet", chunk=64)
    pairs = ((source.X[i : i + 64], source.y[i : i + 64]) for i in range(0, 1000, 64))
    soften(pairs, judge, tmp_path / "pairs.parquet", chunk=64)
    expected = table_of(tmp_path / "arrays.parquet")
    assert same_bits(table_of(tmp_path / "files.parquet"), expected)
    assert same_bits(table_of(tmp_path / "pairs.parquet"), expected)


def test_single_precision_samples_of_a_memory_map_are_softened_as_they_are(tmp_path):
    judge = softener("exact", 3, "student")
    X = fresh().X.astype(np.float32)
    mapped = np.memmap(tmp_path / "samples", dtype=np.float32, mode="w+", shape=X.shape)
    mapped[:] = X
    mapped.flush()
    read_only = np.memmap(tmp_path / "samples", dtype=np.float32, mode="r", shape=X.shape)
    soften(read_only, judge, tmp_path / "mapped.parquet", chunk=64)
    soften(X, judge, tmp_path / "arrays.parquet", chunk=64)
    assert same_bits(table_of(tmp_path / "mapped.parquet"), table_of(tmp_path / "arrays.parquet"))
