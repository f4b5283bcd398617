import hashlib
import json
import os
import stat

import numpy as np
import pytest

from fwl.annotate import InvertedIndex, index_folder
from fwl.annotate.index_folder import DTYPES, read_arrays, writing
from fwl.errors import InvalidInput, OutputTrouble
from fwl.storage import MANIFEST
from tests.refusals import expect_refusal

SMALL = [("one", ["good", "day", "good"]), ("two", ["day"])]
AGAIN = "build the index again"


@pytest.fixture
def folder(tmp_path):
    return InvertedIndex.of(SMALL, {"by": "test"}).save(tmp_path / "index")


def edit(folder, *, signed=True, **changes):
    """Change the manifest, and its checksum too as somebody who knows the format would."""
    manifest = json.loads((folder / MANIFEST).read_text()) | changes
    if signed:
        manifest.pop("sha256")
        manifest["sha256"] = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
    (folder / MANIFEST).write_text(json.dumps(manifest))


def refused(folder, message):
    with expect_refusal(OutputTrouble, message):
        read_arrays(folder)
    with expect_refusal(OutputTrouble, message):
        InvertedIndex.load(folder)


def test_what_is_written_is_read(folder):
    settings, arrays = read_arrays(folder)
    assert settings == {"by": "test"}
    assert arrays.keys() == DTYPES.keys()
    assert all(arrays[name].dtype == kind for name, kind in DTYPES.items())
    assert arrays["offsets"].tolist() == [0, 1, 3]
    assert arrays["documents"].tolist() == [0, 0, 1]
    assert {entry.name for entry in folder.iterdir()} == {MANIFEST, *(f"{name}.bin" for name in DTYPES)}


@pytest.mark.parametrize("name", DTYPES)
def test_a_changed_byte_is_found(folder, name):
    path = folder / f"{name}.bin"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    refused(folder, f"{path} was changed after it was saved: its SHA-256 does not match; {AGAIN}")


def test_a_truncated_file_is_refused(folder):
    path = folder / "documents.bin"
    path.write_bytes(path.read_bytes()[:-1])
    refused(folder, f"{path} has 11 bytes, expected 12: it is truncated; {AGAIN}")


def test_a_missing_file_is_refused(folder):
    (folder / "lengths.bin").unlink()
    refused(folder, f"{folder / 'lengths.bin'} is missing; the index has to be built again")


def test_a_manifest_that_names_too_few_files_is_refused(folder):
    files = json.loads((folder / MANIFEST).read_text())["files"]
    edit(folder, files={name: entry for name, entry in files.items() if name != "terms.bin"})
    refused(folder, f"{folder} has no terms.bin; the index has to be built again")


def test_a_folder_without_a_manifest_is_refused(folder):
    (folder / MANIFEST).unlink()
    refused(folder, f"{folder} is not a saved index: it has no {MANIFEST}")
    refused(folder / "none", f"{folder / 'none'} is not a saved index: it has no {MANIFEST}")


@pytest.mark.parametrize("content", ["", "{", "[]", "7", '{"format": 1}'])
def test_a_manifest_that_cannot_be_read_is_refused(folder, content):
    (folder / MANIFEST).write_text(content)
    refused(folder, f"{folder / MANIFEST} cannot be read; it is truncated or no manifest of an index")


def test_a_manifest_of_something_else_is_refused(folder):
    edit(folder, kind="model")
    refused(folder, f"{folder} holds a 'model', expected an 'inverted index'")


@pytest.mark.parametrize("newer", [2, "1"])
def test_a_newer_format_is_refused(folder, newer):
    edit(folder, format=newer, version="9.9")
    refused(
        folder,
        f"{folder} has format {newer!r} and was saved by version 9.9; this version reads up to format 1: "
        "upgrade fwl, or build the index again with this one",
    )


def test_a_changed_manifest_is_refused(folder):
    edit(folder, signed=False, settings={"by": "somebody"})
    refused(folder, f"{folder / MANIFEST} was changed after it was saved: its SHA-256 does not match; {AGAIN}")


def test_a_folder_of_other_things_is_not_replaced(tmp_path):
    (tmp_path / "precious.txt").write_text("x")
    with expect_refusal(
        OutputTrouble, f"{tmp_path} exists and is not a saved index; name another folder, or remove it first"
    ):
        InvertedIndex.of(SMALL).save(tmp_path)
    assert (tmp_path / "precious.txt").read_text() == "x"


def test_an_index_with_something_beside_it_is_not_replaced(folder):
    (folder / "notes.txt").write_text("x")
    with expect_refusal(
        OutputTrouble, f"{folder} exists and is not a saved index; name another folder, or remove it first"
    ):
        InvertedIndex.of(SMALL).save(folder)


def test_a_file_is_not_replaced(tmp_path):
    path = tmp_path / "file"
    path.write_text("x")
    with expect_refusal(
        OutputTrouble, f"{path} exists and is not a saved index; name another folder, or remove it first"
    ):
        InvertedIndex.write(SMALL, path)


def test_an_empty_folder_and_a_broken_index_are_replaced(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    (folder / "documents.bin").write_bytes(b"")
    for path in (tmp_path / "empty", folder):
        assert list(InvertedIndex.load(InvertedIndex.of(SMALL).save(path)).documents) == ["one", "two"]


def test_folders_above_are_made(tmp_path):
    assert InvertedIndex.of(SMALL).save(tmp_path / "a" / "b" / "index").is_dir()


def test_settings_that_json_cannot_hold_are_refused(tmp_path):
    with expect_refusal(
        InvalidInput, "settings: expected what JSON can hold (Object of type set is not JSON serializable)"
    ):
        InvertedIndex.of(SMALL, {"a": {1}}).save(tmp_path / "index")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with expect_refusal(
            OutputTrouble,
            f"cannot write the index to {tmp_path / 'index'} (Permission denied); free space, or name another",
        ):
            InvertedIndex.of(SMALL).save(tmp_path / "index")
    finally:
        tmp_path.chmod(stat.S_IRWXU)


def test_a_disk_that_is_full_is_told_and_the_old_index_stays(folder, monkeypatch):
    def full(path, *_):
        raise OSError(28, "No space left on device")

    for break_it in ({"_swap": full}, {"_path": full}):
        with monkeypatch.context() as patch:
            for name, function in break_it.items():
                patch.setattr(index_folder, name, function)
            with expect_refusal(
                OutputTrouble,
                f"cannot write the index to {folder} (No space left on device); free space, or name another",
            ):
                InvertedIndex.of(SMALL[:1]).save(folder)
        assert list(InvertedIndex.load(folder).documents) == ["one", "two"]
        assert [entry.name for entry in folder.parent.iterdir()] == ["index"]


def test_a_swap_that_fails_puts_the_old_index_back(folder, monkeypatch):
    replace, calls = type(folder).replace, []

    def second_fails(self, target):
        calls.append(self)
        if len(calls) == 2:
            raise OSError(5, "Input/output error")
        return replace(self, target)

    monkeypatch.setattr(type(folder), "replace", second_fails)
    with expect_refusal(
        OutputTrouble, f"cannot write the index to {folder} (Input/output error); free space, or name another"
    ):
        InvertedIndex.of(SMALL[:1]).save(folder)
    assert list(InvertedIndex.load(folder).documents) == ["one", "two"]


def test_what_goes_wrong_while_writing_leaves_nothing(tmp_path):
    def write_nonsense():
        with writing(tmp_path / "index", {}) as out:
            out.append("documents", np.arange(3, dtype=np.int32))
            assert out.mapped("documents").tolist() == [0, 1, 2]
            out.append("nonsense", b"")

    with pytest.raises(KeyError):
        write_nonsense()
    assert not list(tmp_path.iterdir())
