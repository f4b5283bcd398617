from pathlib import Path

from fwl.experiments.resources import embeddings_file, encoder_folder


def test_word_vectors_are_looked_for_in_and_above_the_datas_folder(tmp_path):
    data = tmp_path / "ranking" / "collection"
    data.mkdir(parents=True)
    assert embeddings_file("auto", str(data)) is None
    file = tmp_path / "embeddings" / "words.npy"
    file.parent.mkdir()
    file.touch()
    assert embeddings_file("auto", str(data)) == file.resolve()


def test_a_name_is_taken_as_it_is_and_nothing_is_none():
    assert embeddings_file("words.txt", "") == Path("words.txt")
    assert embeddings_file("", "data") is None
    assert encoder_folder("folder", "") == Path("folder")
    assert encoder_folder("", "data") is None


def test_made_up_data_is_not_encoded_by_itself():
    assert encoder_folder("auto", "") is None
    assert embeddings_file("auto", "") is None
