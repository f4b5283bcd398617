import json
import shutil
from dataclasses import replace

import pytest
from tests.refusals import expect_refusal
from tests.searches import made_search

from fwl.errors import InvalidInput, OutputTrouble
from fwl.learn.search_fit import SearchPlan, fit_ranker
from fwl.learn.search_folder import check_replaceable, load_search, save_search
from fwl.randomness import Chance
from fwl.storage import Stored, write_folder
from fwl.teach import KernelMemory
from fwl.text import BeirFolder, Judgments, Query

MADE = made_search()
QUERIES = [Query(name, text) for name, text in MADE.queries.items()]
TEXTS = list(MADE.queries.values())


@pytest.fixture(scope="module")
def search(tmp_path_factory):
    collection = BeirFolder(MADE.write(tmp_path_factory.mktemp("made")))
    return fit_ranker(collection, QUERIES, Judgments(MADE.judgments), SearchPlan(), None, Chance(0))[0]


@pytest.fixture
def folder(search, tmp_path):
    return save_search(search, tmp_path / "model", {"mine": [1, "two"]})


def ranked(search):
    return [(documents.tolist(), scores.tolist()) for documents, scores in search.ranked(TEXTS)]


def test_what_is_saved_ranks_as_before(search, folder):
    stored = load_search(folder)
    assert ranked(stored.search) == ranked(search)
    assert stored.settings == {"mine": [1, "two"]}
    assert stored.search.model.fusion == search.model.fusion
    assert stored.search.model.tried == search.model.tried
    assert stored.search.model.choice == search.model.choice
    assert stored.search.encoding is None


def test_it_can_be_saved_again_from_where_it_was_loaded(search, folder, tmp_path):
    save_search(load_search(folder).search, tmp_path / "again")
    assert ranked(load_search(tmp_path / "again").search) == ranked(search)


def test_a_ranker_that_was_there_is_replaced_and_nothing_is_left_beside_it(search, folder):
    save_search(replace(search, model=replace(search.model, teacher=None, choice=None)), folder)
    assert load_search(folder).search.model.teacher is None
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_an_empty_folder_may_be_filled(search, tmp_path):
    (tmp_path / "model").mkdir()
    save_search(search, tmp_path / "model")


def test_what_is_no_ranker_is_not_replaced(search, folder, tmp_path):
    write_folder(tmp_path / "other", Stored("teacher", {}, {}))
    (folder / "notes").write_text("mine")
    for target in (tmp_path / "other", folder, folder / "notes"):
        message = f"{target} exists and is not a saved ranker; name another folder, or remove it first"
        for ask in (lambda target=target: save_search(search, target), lambda target=target: check_replaceable(target)):
            with expect_refusal(OutputTrouble, message):
                ask()
    assert (folder / "notes").read_text() == "mine"


def test_a_folder_that_cannot_be_written_is_refused(search, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputTrouble, match="cannot write the ranker to"):
        save_search(search, tmp_path / "file" / "model")


@pytest.mark.parametrize("settings", [{"where": object()}])
def test_settings_that_json_cannot_hold_leave_nothing_behind(settings, search, tmp_path):
    with pytest.raises(InvalidInput):
        save_search(search, tmp_path / "model", settings)
    assert not any(tmp_path.iterdir())


def test_only_the_teacher_over_query_and_document_is_saved(search, tmp_path):
    memory = replace(search, model=replace(search.model, teacher=KernelMemory()))
    message = "a ranker with a KernelMemory cannot be saved, only a QueryDocumentGP"
    with expect_refusal(InvalidInput, message):
        save_search(memory, tmp_path / "model")
    assert not any(tmp_path.iterdir())


def test_what_is_no_ranker_is_not_loaded(tmp_path):
    message = f"{tmp_path / 'none'} is not a saved ranker; expected a folder that `fwl fit-ranker --out` wrote"
    with expect_refusal(OutputTrouble, message):
        load_search(tmp_path / "none")
    write_folder(tmp_path / "model" / "ranker", Stored("teacher", {}, {}))
    with expect_refusal(OutputTrouble, f"{tmp_path / 'model' / 'ranker'} holds a teacher, expected a ranker"):
        load_search(tmp_path / "model")


def test_the_index_of_another_ranker_is_refused(search, folder, tmp_path):
    other = made_search(documents=50)
    collection = BeirFolder(other.write(tmp_path / "other"))
    theirs = save_search(
        fit_ranker(collection, [], Judgments({}), SearchPlan(), None, Chance(0))[0], tmp_path / "theirs"
    )
    shutil.rmtree(folder / "index")
    shutil.copytree(theirs / "index", folder / "index")
    message = f"{folder / 'index'} is not the index this ranker was saved with; save the ranker again"
    with expect_refusal(OutputTrouble, message):
        load_search(folder)


def test_a_ranker_whose_parts_are_missing_is_refused(folder):
    shutil.rmtree(folder / "index")
    with expect_refusal(OutputTrouble, f"{folder / 'index'} is not a saved index: it has no manifest.json"):
        load_search(folder)


def test_a_manifest_that_was_edited_is_refused(folder):
    path = folder / "ranker" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["settings"]["fusion"]["annotator"] = "tfidf"
    path.write_text(json.dumps(manifest))
    message = f"{path} was changed after it was saved: its SHA-256 does not match; save the model again"
    with expect_refusal(OutputTrouble, message):
        load_search(folder)
