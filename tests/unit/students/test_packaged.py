import importlib.util

import pytest

from fwl.students.packaged import PACKAGE, packaged_encoder


def test_the_packaged_encoder_is_a_folder_where_it_is_installed():
    pytest.importorskip(PACKAGE)
    folder = packaged_encoder()
    assert folder is not None
    assert (folder / "config.json").is_file()


@pytest.mark.parametrize("missing", [PACKAGE, "transformers"])
def test_there_is_none_where_a_part_of_it_is_missing(missing, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else found(name))
    assert packaged_encoder() is None
