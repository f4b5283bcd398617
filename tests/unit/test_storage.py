import json
import os
import stat
from pathlib import Path

import numpy as np
import pytest
import safetensors
import safetensors.numpy

from fwl.errors import InvalidInput, OutputTrouble
from fwl.storage import ARRAYS, FORMAT, MANIFEST, Stored, read_folder, write_folder
from tests.refusals import expect_refusal

SETTINGS = {"number": 0.1, "text": "φ(ψ(x))", "nothing": None, "flag": True, "list": [1, 2, {"deep": "er"}]}
NUMBERS = {
    "doubles": np.random.default_rng(0).normal(size=(5, 3)),
    "singles": np.arange(4, dtype=np.float32),
    "whole": np.arange(6).reshape(2, 3),
    "none": np.zeros((4, 1, 0)),
    "scalar": np.array(7.0),
}


def model(**arrays) -> Stored:
    return Stored("model", SETTINGS, arrays or NUMBERS)


@pytest.fixture
def folder(tmp_path) -> Path:
    return write_folder(tmp_path / "model", model())


def edit(folder: Path, **changes) -> None:
    """Change the manifest as somebody with an editor would."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    (folder / MANIFEST).write_text(json.dumps({**manifest, **changes}), encoding="utf-8")


def is_whole(folder: Path) -> bool:
    return np.array_equal(read_folder(folder).arrays["doubles"], NUMBERS["doubles"])


def test_what_is_written_is_read(folder):
    stored = read_folder(folder)
    assert stored.kind == "model"
    assert stored.settings == SETTINGS
    assert stored.arrays.keys() == NUMBERS.keys()
    for name, array in NUMBERS.items():
        np.testing.assert_array_equal(stored.arrays[name], array)
        assert stored.arrays[name].dtype == array.dtype
        assert stored.arrays[name].shape == array.shape


LAYOUTS = {
    "columns first": np.asfortranarray,
    "transposed": lambda a: a.T.copy().T,
    "every other": lambda a: np.repeat(a, 2, axis=0)[::2],
    "backwards": lambda a: a[::-1].copy()[::-1],
    "broadcast": lambda a: np.broadcast_to(a[None], (2, *a.shape))[1],
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_numbers_come_back_in_their_order_whatever_their_layout(layout, tmp_path):
    array = np.arange(12.0).reshape(4, 3)
    write_folder(tmp_path / "model", model(array=layout(array)))
    np.testing.assert_array_equal(read_folder(tmp_path / "model").arrays["array"], array)


def test_the_same_model_is_the_same_bytes(tmp_path):
    one, other = (write_folder(tmp_path / name, model()) for name in ("one", "other"))
    for name in (MANIFEST, ARRAYS):
        assert (one / name).read_bytes() == (other / name).read_bytes()


def test_what_is_read_can_be_changed(folder):
    array = read_folder(folder).arrays["doubles"]
    array[:] = 0.0
    assert is_whole(folder)


def test_numpys_numbers_are_settings_too(tmp_path):
    settings = {"whole": np.int64(3), "double": np.float64(0.1), "flag": np.bool_(False)}
    write_folder(tmp_path / "model", Stored("model", settings, {}))
    assert read_folder(tmp_path / "model").settings == {"whole": 3, "double": 0.1, "flag": False}


def test_a_setting_that_json_cannot_hold_is_refused(tmp_path):
    message = "a Path cannot be saved as a setting; expected numbers, texts or lists"
    unfit = type("Path", (), {})()
    with expect_refusal(InvalidInput, message):
        write_folder(tmp_path / "model", Stored("model", {"where": unfit}, {}))
    assert not any(tmp_path.iterdir())


def test_a_model_that_was_there_is_replaced(folder):
    write_folder(folder, Stored("other", {}, {"array": np.ones(2)}))
    assert read_folder(folder).kind == "other"
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_an_empty_folder_may_be_filled(tmp_path):
    (tmp_path / "model").mkdir()
    assert is_whole(write_folder(tmp_path / "model", model()))


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_who_may_read_it_is_the_masks_to_say(mask, tmp_path):
    before = os.umask(mask)
    try:
        folder = write_folder(tmp_path / "model", model())
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o777 & ~mask
    for name in (MANIFEST, ARRAYS):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o666 & ~mask


def test_a_folder_without_a_manifest_is_no_model(folder):
    (folder / MANIFEST).unlink()
    with expect_refusal(OutputTrouble, f"{folder} is not a saved model: it has no manifest.json"):
        read_folder(folder)


def test_a_file_is_no_model(folder):
    with expect_refusal(OutputTrouble, f"{folder / ARRAYS} is not a saved model: it has no manifest.json"):
        read_folder(folder / ARRAYS)


NO_MANIFESTS = {
    "truncated": lambda text: text[:-10],
    "empty": lambda _: "",
    "a list": lambda _: "[1, 2]",
    "a number": lambda _: "3",
    "something else": lambda _: '{"name": "an extension"}',
    "without its sum": lambda text: json.dumps({k: v for k, v in json.loads(text).items() if k != "sha256"}),
}


@pytest.mark.parametrize("change", NO_MANIFESTS.values(), ids=NO_MANIFESTS)
def test_a_manifest_that_is_none_is_refused(change, folder):
    path = folder / MANIFEST
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    with expect_refusal(OutputTrouble, f"{path} cannot be read; it is truncated or no manifest of a model"):
        read_folder(folder)


def test_a_manifest_that_is_no_text_is_refused(folder):
    (folder / MANIFEST).write_bytes(b"\xff\xfe\x00")
    with expect_refusal(
        OutputTrouble, f"{folder / MANIFEST} cannot be read; it is truncated or no manifest of a model"
    ):
        read_folder(folder)


@pytest.mark.parametrize(
    "changes",
    [{"settings": {**SETTINGS, "number": 0.2}}, {"kind": "other"}, {"sha256": "0" * 64}, {"version": "9"}, {"more": 1}],
    ids=lambda changes: next(iter(changes)),
)
def test_a_manifest_that_was_edited_is_refused(changes, folder):
    edit(folder, **changes)
    message = f"{folder / MANIFEST} was changed after it was saved: its SHA-256 does not match; save the model again"
    with expect_refusal(OutputTrouble, message):
        read_folder(folder)


@pytest.mark.parametrize("newer", [FORMAT + 1, 99, "2"])
def test_a_model_from_a_newer_version_is_refused(newer, folder):
    edit(folder, format=newer, version="9.0.0")
    message = (
        f"{folder} has format {newer!r} and was saved by version 9.0.0; "
        f"this version reads up to format {FORMAT}: upgrade fwl, or save the model again with this one"
    )
    with expect_refusal(OutputTrouble, message):
        read_folder(folder)


@pytest.mark.parametrize("left", [0, 1, 100])
def test_a_truncated_file_is_refused(left, folder):
    path = folder / ARRAYS
    whole = path.read_bytes()
    path.write_bytes(whole[:left])
    message = f"{path} has {left} bytes, expected {len(whole)}: it is truncated; save the model again"
    with expect_refusal(OutputTrouble, message):
        read_folder(folder)


@pytest.mark.parametrize("place", [0, 9, -1])
def test_a_file_with_one_bit_changed_is_refused(place, folder):
    path = folder / ARRAYS
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    message = f"{path} was changed after it was saved: its SHA-256 does not match; save the model again"
    with expect_refusal(OutputTrouble, message):
        read_folder(folder)


def test_a_file_that_is_missing_is_refused(folder):
    (folder / ARRAYS).unlink()
    with expect_refusal(OutputTrouble, f"{folder / ARRAYS} is missing; the model has to be saved again"):
        read_folder(folder)


def test_numbers_that_cannot_be_read_are_refused(folder, monkeypatch):
    def refuse(path):
        raise safetensors.SafetensorError("invalid header")

    monkeypatch.setattr(safetensors.numpy, "load_file", refuse)
    message = f"{folder / ARRAYS} cannot be read (invalid header); the model has to be saved again"
    with expect_refusal(OutputTrouble, message):
        read_folder(folder)


STRANGERS = {
    "a folder of files": lambda at: (at.mkdir(), (at / "thesis.tex").write_text("years")),
    "a file": lambda at: at.write_text("years"),
    "somebody else's manifest": lambda at: (
        at.mkdir(),
        (at / MANIFEST).write_text('{"name": "an extension", "manifest_version": 3}'),
        (at / "background.js").write_text("years"),
    ),
    "a manifest that cannot be read": lambda at: (at.mkdir(), (at / MANIFEST).write_text('{"format": 1')),
    "a manifest that is a list": lambda at: (at.mkdir(), (at / MANIFEST).write_text("[]")),
    "a model and more": lambda at: (write_folder(at, model()), (at / "notes.txt").write_text("years")),
    "a model and a folder": lambda at: (write_folder(at, model()), (at / "old").mkdir()),
}


@pytest.mark.parametrize("make", STRANGERS.values(), ids=STRANGERS)
def test_what_is_not_a_model_alone_is_never_overwritten(make, tmp_path):
    target = tmp_path / "here"
    make(target)
    before = contents(tmp_path)
    message = f"{target} exists and is not a saved model; name another folder, or remove it first"
    with expect_refusal(OutputTrouble, message):
        write_folder(target, model())
    assert contents(tmp_path) == before


def contents(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def test_a_model_that_was_damaged_may_be_saved_again(folder):
    (folder / ARRAYS).write_bytes(b"")
    edit(folder, format=99)
    assert is_whole(write_folder(folder, model()))


class Interrupted(BaseException):
    """Like a KeyboardInterrupt, which pytest would take for its own."""


FAILURES = {
    "the disk is full": (OSError(28, "No space left on device"), "No space left on device"),
    "safetensors fails": (safetensors.SafetensorError("IoError"), "IoError"),
}


@pytest.mark.parametrize(("error", "reason"), FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("there", [True, False])
def test_a_write_that_fails_leaves_what_was_there(error, reason, there, tmp_path, monkeypatch):
    target = tmp_path / "model"
    if there:
        write_folder(target, model())
    before = contents(tmp_path)
    monkeypatch.setattr(safetensors.numpy, "save", raising(error))
    with expect_refusal(OutputTrouble, f"cannot write the model to {target} ({reason})"):
        write_folder(target, model(other=np.ones(3)))
    assert contents(tmp_path) == before


@pytest.mark.parametrize("there", [True, False])
def test_a_write_that_is_interrupted_leaves_what_was_there(there, tmp_path, monkeypatch):
    target = tmp_path / "model"
    if there:
        write_folder(target, model())
    before = contents(tmp_path)
    monkeypatch.setattr(safetensors.numpy, "save", raising(Interrupted()))
    with pytest.raises(Interrupted):
        write_folder(target, model(other=np.ones(3)))
    assert contents(tmp_path) == before


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), Interrupted()], ids=["error", "interrupt"])
def test_a_move_that_fails_leaves_what_was_there(error, folder, monkeypatch):
    before, move = contents(folder.parent), Path.replace

    def fail_into_place(path, target):
        if path.name.endswith(".part"):
            raise error
        return move(path, target)

    monkeypatch.setattr(Path, "replace", fail_into_place)
    with pytest.raises((OutputTrouble, Interrupted)):
        write_folder(folder, model(other=np.ones(3)))
    assert contents(folder.parent) == before


def test_a_place_that_cannot_be_written_to_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    target = tmp_path / "file" / "model"
    with expect_refusal(OutputTrouble, f"cannot write the model to {target} (File exists)"):
        write_folder(target, model())


def raising(error: BaseException):
    def fail(*_, **__):
        raise error

    return fail
