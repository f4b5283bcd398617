"""Trouble that comes from outside, for real: a full disk, a quota, a place that is shut, Ctrl-C. Nothing is lost."""

import math
import os
import pty
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.commands import fwl, refused
from tests.own_files import TABLE, fit, written

from fwl.tables import write_table

ENDINGS = ["csv", "tsv", "jsonl", "parquet"]
LITTLE = 4096  # bytes: less than a model or its predictions take
NOBODY = 65534
AGAIN = 8  # seconds after which one presses Ctrl-C again: none is heard while workers are started
PATIENCE = 300  # seconds without a word from a command until the test gives up


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    """A model that is there already, and its files."""
    folder = tmp_path_factory.mktemp("classes")
    strong, weak = written(folder, "csv", TABLE, "gold", "says")
    assert fit(strong, weak, folder / "model").returncode == 0
    return folder


@pytest.fixture
def files(classes):
    return classes / "strong.csv", classes / "weak.csv"


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 64 kB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@contextmanager
def no_file_larger_than(size):
    """What a quota does: the system takes no more bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def as_nobody():
    """As somebody who owns no files: to root, nothing is read-only."""
    if os.geteuid() != 0:
        yield
        return
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.fixture
def shut(classes):
    """A folder that everybody may look into and nobody may write to, with a model and a file in it."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "shut"
        shutil.copytree(classes, folder)
        (folder / "out.csv").write_text("mine")
        for path in (Path(place), *folder.rglob("*"), folder):
            path.chmod(0o555 if path.is_dir() else 0o444)
        yield folder
        for path in (Path(place), folder, *folder.rglob("*")):
            path.chmod(0o755)


def contents(folder):
    """Every file below a folder, hidden ones too."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def filled_up(disk, left):
    """Fill a disk until so many bytes are left."""
    free = os.statvfs(disk)
    (disk / "filler").write_bytes(b"x" * (free.f_bavail * free.f_frsize - left))


def test_a_full_disk_keeps_the_model_that_was_there(classes, files, small_disk):
    shutil.copytree(classes / "model", small_disk / "model")
    filled_up(small_disk, LITTLE)
    before = contents(small_disk)
    assert refused(
        fit(*files, small_disk / "model"), f"cannot write the model to {small_disk}/model (No space left on device)"
    )
    assert contents(small_disk) == before


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_full_disk_keeps_the_table_that_was_there(classes, files, small_disk, ending):
    out = small_disk / f"out.{ending}"
    out.write_text("mine")
    filled_up(small_disk, LITTLE)
    before = contents(small_disk)
    for command in (("predict", classes / "model", files[1]), ("soft-labels", classes / "model")):
        assert refused(fwl(*command, "--out", out), f"cannot write {out} (No space left on device)")
    assert contents(small_disk) == before


def test_a_quota_keeps_the_model_that_was_there(classes, files, tmp_path):
    shutil.copytree(classes / "model", tmp_path / "model")
    before = contents(tmp_path)
    with no_file_larger_than(LITTLE):
        done = fit(*files, tmp_path / "model")
    assert refused(done, f"cannot write the model to {tmp_path}/model (File too large)")
    assert contents(tmp_path) == before


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_quota_keeps_the_table_that_was_there(classes, files, tmp_path, ending):
    out = tmp_path / f"out.{ending}"
    out.write_text("mine")
    commands = [("predict", classes / "model", files[1]), ("soft-labels", classes / "model")]
    for command in (*commands, ("suggest", classes / "model", "-n", 150)):
        with no_file_larger_than(LITTLE):
            done = fwl(*command, "--out", out)
        assert refused(done, f"cannot write {out} (File too large)")
    assert contents(tmp_path) == {out.name: b"mine"}


def test_a_read_only_place_is_refused_before_anything_is_learned(shut):
    before, strong, weak = contents(shut), shut / "strong.csv", shut / "weak.csv"
    for name in ("new", "model"):
        with as_nobody():
            done = fit(strong, weak, shut / name)
        message = f"cannot write the model to {shut}/{name} (Permission denied); name another folder"
        assert refused(done, message)
    for command in (("predict", shut / "model", weak), ("soft-labels", shut / "model"), ("suggest", shut / "model")):
        with as_nobody():
            done = fwl(*command, "--out", shut / "new.csv")
        assert refused(done, f"cannot write {shut}/new.csv (Permission denied); name another file")
    assert contents(shut) == before


def test_a_read_only_table_is_not_replaced(shut):
    shut.chmod(0o777)  # a file could be moved over it
    for command in (("predict", shut / "model", shut / "weak.csv"), ("soft-labels", shut / "model")):
        with as_nobody():
            done = fwl(*command, "--out", shut / "out.csv")
        assert refused(done, f"cannot write {shut}/out.csv (Permission denied); name another file")
    assert (shut / "out.csv").read_text() == "mine"


# Whoever runs the tests in the background may have Ctrl-C ignored, and children inherit that.
COMMAND = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from fwl.cli.main import run; run()"


def interrupted(command, sign):
    """Run the command on a terminal, press Ctrl-C once its bar shows the sign, and say how it ended."""
    mine, its = pty.openpty()
    started = [sys.executable, "-c", COMMAND, *map(str, command)]
    process = subprocess.Popen(
        started, stdout=subprocess.PIPE, stderr=its, env={**os.environ, "TERM": "xterm"}, start_new_session=True
    )
    os.close(its)
    seen, pressed = b"", -math.inf
    try:
        with suppress(OSError), os.fdopen(mine, "rb", buffering=0) as terminal:  # an error when the other end is closed
            while select.select([terminal], [], [], PATIENCE)[0] and (part := terminal.read(4096)):
                seen += part
                if re.search(sign, seen) and time.monotonic() > pressed + AGAIN:
                    os.killpg(process.pid, signal.SIGINT)  # a terminal tells the command's workers too
                    pressed = time.monotonic()
        out = process.communicate(timeout=PATIENCE)[0]
        assert gone(process.pid), "it left processes behind"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return process.returncode, out, seen, pressed > 0


def gone(group):
    """Whether all processes of a group end soon."""
    with suppress(ProcessLookupError):
        for _ in range(10 * PATIENCE):
            os.killpg(group, 0)
            time.sleep(0.1)
        return False
    return True


def test_ctrl_c_while_it_learns_keeps_the_model_that_was_there(tmp_path):
    strong, weak = written(tmp_path, "csv", ("a", "b"), "number", "guess")
    model = tmp_path / "model"
    assert fit(strong, weak, model).returncode == 0
    before = contents(tmp_path)
    files = ("--strong", strong, "--weak", weak, "--label", "label", "--out", model)
    forever = ("--method", "NN_W->S", "--set", "pretrain_steps=100000000")
    code, out, seen, pressed = interrupted(("fit", *files, *forever), b"learning")
    assert pressed, seen
    assert (code, out) == (130, b"")
    assert b"Traceback" not in seen
    assert contents(tmp_path) == before


def test_ctrl_c_while_it_compares_ends_its_workers_too(files, tmp_path):
    settings = ("--set", "finetune_steps=100000000", "--out", tmp_path / "model", "--compare")
    code, out, seen, pressed = interrupted(
        ("fit", "--strong", files[0], "--weak", files[1], "--label", "label", *settings), rb"comparing.* [1-9]\d*/\d"
    )
    assert pressed, seen
    assert (code, out) == (130, b"")
    assert b"Traceback" not in seen
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_while_it_writes_keeps_the_table_that_was_there(classes, tmp_path):
    rng = np.random.default_rng(0)
    rows = 1_000_000
    table = {
        "a": rng.normal(size=rows),
        "b": rng.normal(size=rows),
        "kind": np.array(["u", "v"])[rng.integers(2, size=rows)],
    }
    write_table(pa.table(table), tmp_path / "new.parquet")
    out = tmp_path / "out.jsonl"
    out.write_text("mine")
    code, said, seen, pressed = interrupted(
        ("predict", classes / "model", tmp_path / "new.parquet", "--out", out), rb"[1-9]\d*/1000000"
    )
    assert pressed, seen
    assert (code, said) == (130, b"")
    assert b"Traceback" not in seen
    assert out.read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {"new.parquet", "out.jsonl"}


def test_ctrl_c_at_the_worst_moments_leaves_nothing_behind(classes, files, tmp_path, monkeypatch):
    """While one folder takes another's place, and while a file is half written."""

    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("fwl.storage._swap", stop)
        assert fit(*files, tmp_path / "model").returncode == 130
    with monkeypatch.context() as patch:
        patch.setattr("fwl.tables.writing.pyarrow.csv.write_csv", stop)
        assert fwl("predict", classes / "model", files[1], "--out", tmp_path / "out.csv").returncode == 130
    assert list(tmp_path.iterdir()) == []
