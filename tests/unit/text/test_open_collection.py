import sys

import pytest

from fwl.errors import InvalidInput
from fwl.text import BeirFolder, IrDataset, open_collection
from tests.refusals import expect_refusal


@pytest.fixture(autouse=True)
def _folders_of_its_own(tmp_path_factory, monkeypatch):
    for name in ("IR_DATASETS_HOME", "IR_DATASETS_TMP"):
        monkeypatch.setenv(name, str(tmp_path_factory.mktemp("ir_datasets")))


def test_a_folder_is_read_in_beirs_layout(tmp_path):
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "text": "x"}\n')
    assert open_collection(str(tmp_path)) == BeirFolder(str(tmp_path))


def test_a_folder_of_anything_else_is_refused(tmp_path):
    with expect_refusal(
        InvalidInput,
        f"{tmp_path} has no corpus.jsonl; expected corpus.jsonl, queries.jsonl and qrels in BEIR's layout",
    ):
        open_collection(str(tmp_path))


def test_what_is_no_folder_is_an_id():
    pytest.importorskip("ir_datasets")
    assert open_collection("clueweb09/catb/trec-web-2009") == IrDataset("clueweb09/catb/trec-web-2009")


def test_what_is_neither_is_told_so(monkeypatch):
    pytest.importorskip("ir_datasets")
    with pytest.raises(InvalidInput) as caught:
        open_collection("my/folder")
    assert str(caught.value).startswith(
        "'my/folder' is neither a folder nor an id that can be opened: ir_datasets knows no collection 'my/folder'"
    )
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with expect_refusal(
        InvalidInput,
        "'my/folder' is neither a folder nor an id that can be opened: "
        "IrDataset needs ir_datasets; install it with: pip install 'fwl[ranking]'",
    ):
        open_collection("my/folder")
