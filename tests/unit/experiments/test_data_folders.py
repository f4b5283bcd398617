from tests.refusals import expect_refusal

from fwl.errors import InvalidInput
from fwl.experiments.analyses import ANNOTATORS, BETA
from fwl.experiments.data_folders import data_settings


def laid_out(root, **collections):
    (root / "sentiment").mkdir(parents=True)
    for name, size in collections.items():
        folder = root / "ranking" / name
        folder.mkdir(parents=True)
        (folder / "corpus.jsonl").write_text("x" * size)
    return root


def test_ranking_takes_the_smallest_collection(tmp_path):
    root = laid_out(tmp_path, big=30, small=10, middle=20)
    expected = {"sentiment": [f"data={root / 'sentiment'}"], "ranking": [f"data={root / 'ranking' / 'small'}"]}
    assert data_settings(BETA, root) == expected
    assert data_settings(ANNOTATORS, root) == expected


def test_without_a_folder_nothing_is_set():
    assert data_settings(BETA, None) == {}


def test_a_root_without_collections_is_refused(tmp_path):
    message = (
        f"--data {tmp_path}: there is no ranking/COLLECTION in it; a study of all tasks expects a folder that has "
        "sentiment and ranking/COLLECTION below it"
    )
    with expect_refusal(InvalidInput, message):
        data_settings(BETA, laid_out(tmp_path))
