"""`fwl reproduce sentiment` on folders that are not as they should be: one message, exit 2, nothing left behind."""

import gzip

import pytest
from tests.integration.test_command_line import fwl

from fwl.experiments.made_tweets import LEXICON, MadeTweets
from fwl.randomness import Chance

COMMAND = ("reproduce", "sentiment", "--size", "tiny", "--seeds", "1", "--methods", "WA,NN_S", "--jobs", "1")


@pytest.fixture
def folder(tmp_path):
    MadeTweets(pool=40, strong=40, others=20).write(tmp_path / "tweets", Chance(0))
    return tmp_path / "tweets"


def run(folder, tmp_path, *more):
    return fwl(*COMMAND, "--data", folder, "--out", tmp_path / "out", *more)


def refused(done, *texts):
    assert done.returncode == 2, done.stdout
    assert "Traceback" not in done.stderr
    for text in texts:
        assert text in done.stderr
    return True


def test_odd_tweets_are_read_all_the_same(folder, tmp_path):
    file = folder / "semeval" / "2014test.tsv"
    odd = ["7\tpositive\t\n", f"8\tnegative\t{'word ' * 10_000}\n", "9\tneutral\t:) 😀 &amp; #tag @me http://a.b\n"]
    file.write_text(file.read_text(encoding="utf-8") + "".join(odd), encoding="utf-8")
    done = run(folder, tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_label_outside_the_three_is_named_with_its_line(folder, tmp_path):
    file = folder / "semeval" / "2015test.tsv"
    file.write_text(file.read_text() + "99\tangry\tgrr\n")
    assert refused(run(folder, tmp_path), "line 21 of", "2015test.tsv 'angry'", "known: negative, neutral, positive")


def test_a_missing_column_is_named_with_its_line(folder, tmp_path):
    file = folder / "semeval" / "2013dev.tsv"
    file.write_text("1\tpositive\n" + file.read_text())
    assert refused(run(folder, tmp_path), "2013dev.tsv, line 1")


def test_another_encoding_is_named_with_its_line(folder, tmp_path):
    (folder / "tweets.tsv.gz").write_bytes(gzip.compress("made\tgood\nmade\tcaf\xe9\n".encode("latin-1")))
    assert refused(run(folder, tmp_path), "tweets.tsv.gz, line 2", "UTF-8")


def test_a_broken_line_of_the_lexicon_is_named(folder, tmp_path):
    (folder / LEXICON).write_text("good\t1\nbad\tvery\n")
    assert refused(run(folder, tmp_path), f"{LEXICON}, line 2")


def test_embeddings_with_rows_of_two_lengths_are_named_with_their_line(folder, tmp_path):
    (tmp_path / "vectors.txt").write_text("good 0.1 0.2\nbad 0.1\n")
    done = run(folder, tmp_path, "--set", f"embeddings={tmp_path / 'vectors.txt'}")
    assert refused(done, "vectors.txt, line 2")


def test_an_unknown_kind_of_embeddings_is_refused(folder, tmp_path):
    (tmp_path / "vectors.bin").write_bytes(bytes(range(256)) * 4)
    assert refused(run(folder, tmp_path, "--set", f"embeddings={tmp_path / 'vectors.bin'}"), "vectors.bin")


def test_an_encoder_folder_without_weights_is_refused(folder, tmp_path):
    empty = tmp_path / "encoder"
    empty.mkdir()
    (empty / "config.json").write_text("{}")
    assert refused(run(folder, tmp_path, "--set", f"encoder={empty}"), "encoder")


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    assert refused(run(tmp_path / "nowhere", tmp_path), "there is no such folder")
    assert not (tmp_path / "out").exists()


def test_real_sizes_ask_for_data(tmp_path):
    done = fwl("reproduce", "sentiment", "--size", "reduced", "--out", tmp_path / "out")
    assert refused(done, "name its folder by --data DIR", "--size tiny")
