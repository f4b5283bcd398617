import gzip
import os
import subprocess
import sys

import numpy as np
import pytest

from fwl.errors import InvalidInput, NotFinite, WrongShape
from fwl.randomness import Chance
from fwl.text import Embeddings, Vocabulary, read_embeddings, train_word2vec
from tests.refusals import expect_refusal

WORDS = ["good", "bad", "café", ","]
VECTORS = np.array([[0.5, -1.25, 2], [1, 0, 0], [0.125, 3, -4], [1e-3, 0, 7]], dtype=np.float32)
FORMATS = (
    "word2vec text or binary (first line: words columns), GloVe text (word number number ...) or .npy with a word list"
)
REMEDY = "convert the file to UTF-8, e.g. with iconv -f latin-1 -t utf-8"


def as_glove():
    return "".join(f"{w} {' '.join(map(str, v))}\n" for w, v in zip(WORDS, VECTORS.tolist(), strict=True)).encode()


def as_text():
    return b"4 3\n" + as_glove().replace(b"\n", b" \n")  # the original program leaves a space at the end


def as_binary(newline=b"\n"):
    return b"4 3\n" + b"".join(
        w.encode() + b" " + v.astype("<f4").tobytes() + newline for w, v in zip(WORDS, VECTORS, strict=True)
    )


STREAMED = {
    "GloVe": as_glove(),
    "GloVe with tabs": as_glove().replace(b" ", b"\t"),
    "GloVe without the last line's end": as_glove().rstrip(),
    "word2vec text": as_text(),
    "word2vec binary": as_binary(),
    "word2vec binary without line ends": as_binary(b""),
    "GloVe, packed": gzip.compress(as_glove()),
    "word2vec text, packed": gzip.compress(as_text()),
    "word2vec binary, packed": gzip.compress(as_binary()),
}


def written(tmp_path, content, name="vectors"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def saved_npy(tmp_path, name="small_f16.npy", words=WORDS, beside="small_words.txt", vectors=VECTORS):
    np.save(tmp_path / name, vectors)
    if beside:
        (tmp_path / beside).write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    return tmp_path / name


@pytest.mark.parametrize("content", STREAMED.values(), ids=list(STREAMED))
def test_every_format_is_known_by_its_content(tmp_path, content):
    read = read_embeddings(written(tmp_path, content))
    assert read.words == tuple(WORDS)
    np.testing.assert_array_equal(read.vectors, VECTORS)
    assert read.vectors.dtype == np.float32


@pytest.mark.parametrize("content", STREAMED.values(), ids=list(STREAMED))
def test_only_the_words_asked_for_are_kept(tmp_path, content):
    read = read_embeddings(written(tmp_path, content), words=["café", "bad", "nowhere"])
    assert read.words == ("bad", "café")
    np.testing.assert_array_equal(read.vectors, VECTORS[[1, 2]])


def test_a_matrix_and_its_words_stay_on_disk(tmp_path):
    read = read_embeddings(saved_npy(tmp_path, vectors=VECTORS.astype(np.float16)))
    assert isinstance(read.vectors, np.memmap)
    assert read.words == tuple(WORDS)
    some = read_embeddings(tmp_path / "small_f16.npy", words={"bad"})
    assert some.words == ("bad",)
    assert some.vectors.dtype == np.float32
    np.testing.assert_array_equal(some.vectors, VECTORS[[1]])


@pytest.mark.parametrize("beside", ["v_x_words.txt", "v_x.txt", "v_x.vocab", "v_words.txt", "v.txt", "v.vocab"])
def test_the_words_are_found_beside_the_matrix(tmp_path, beside):
    assert read_embeddings(saved_npy(tmp_path, "v_x.npy", beside=beside)).words == tuple(WORDS)


def test_the_words_can_be_elsewhere(tmp_path):
    path = saved_npy(tmp_path, beside="other.list")
    assert read_embeddings(path, word_list=tmp_path / "other.list").words == tuple(WORDS)


def test_a_word_that_comes_twice_has_its_first_vector(tmp_path):
    read = read_embeddings(written(tmp_path, b"a 1 2\nb 3 4\na 5 6\n"))
    assert read.words == ("a", "b")
    np.testing.assert_array_equal(read.vectors, [[1, 2], [3, 4]])
    twice = saved_npy(tmp_path, words=["a", "b", "a", "c"])
    np.testing.assert_array_equal(read_embeddings(twice, words={"a"}).vectors, VECTORS[[0]])
    assert read_embeddings(twice).row == {"a": 0, "b": 1, "c": 3}


def test_a_word_may_hold_a_space(tmp_path):
    assert read_embeddings(written(tmp_path, b"a 1 2\nat home 3 4\n. . 5 6\n")).words == ("a", "at home", ". .")


def test_a_large_binary_file_is_read_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("fwl.text.embeddings.CHUNK", 5)
    read = read_embeddings(written(tmp_path, as_binary()))
    np.testing.assert_array_equal(read.vectors, VECTORS)


BROKEN = {
    "short": (b"a 1 2\nb 1\n", WrongShape, "{}, line 2: expected a word and 2 numbers as in the first row, got 1"),
    "long": (b"a 1 2\nb 1 2 3\n", WrongShape, "{}, line 2: expected a word and 2 numbers as in the first row, got 3"),
    "word": (b"a 1 2\nb 1 x\n", InvalidInput, "{}, line 2: 'x' is not a number"),
    "first": (b"2 2\na 1 x\nb 1 2\n", InvalidInput, "{}, line 2: 'x' is not a number"),
    "nan": (b"a 1 2\nb 1 nan\n", NotFinite, "{}, line 2: NaN or infinity among its numbers; drop the line"),
    "latin": (
        "a 1 2\ncafé 3 4\n".encode("latin-1"),
        InvalidInput,
        "{}, line 2: byte 0xe9 at position 3 is not UTF-8; " + REMEDY,
    ),
    "fewer": (b"3 2\na 1 2\n", InvalidInput, "{} has 1 rows and its first line says 3; it is cut off or was edited"),
    "empty": (b"", InvalidInput, "{} is empty; expected " + FORMATS),
    "prose": (b"Once upon a time", InvalidInput, "{} begins with b'Once upon a time'; expected " + FORMATS),
    "none": (b"0 2\n", InvalidInput, "{} holds no word; expected " + FORMATS),
    "cut": (
        as_binary()[:-8],
        InvalidInput,
        "{} breaks off in row 4 of the 4 its first line promises; it is cut off, or no word2vec",
    ),
    "endless": (
        b"2 3\nword \x00" + b"\x01" * 30_000,
        InvalidInput,
        "{} breaks off in row 2 of the 2 its first line promises; it is cut off, or no word2vec",
    ),
    "infinite": (
        b"1 1\na " + np.float32(np.inf).tobytes(),
        NotFinite,
        "{}, row 1: NaN or infinity among its numbers; the file is damaged",
    ),
}


@pytest.mark.parametrize(("content", "error", "message"), BROKEN.values(), ids=list(BROKEN))
def test_a_broken_file_is_refused_and_the_line_named(tmp_path, content, error, message):
    path = written(tmp_path, content)
    with expect_refusal(error, message.format(path)):
        read_embeddings(path)


def test_a_packed_file_that_is_cut_off_is_refused(tmp_path):
    path = written(tmp_path, gzip.compress(as_glove())[:-10])
    with pytest.raises(InvalidInput, match="is damaged or cut off"):
        read_embeddings(path)


def test_words_that_are_not_there_are_refused(tmp_path):
    for path in (written(tmp_path, as_glove()), saved_npy(tmp_path)):
        with expect_refusal(
            InvalidInput,
            f"none of the 2 words asked for is in {path}; are they written as there (upper or lower case)?",
        ):
            read_embeddings(path, words=["Good", "Bad"])


def test_a_matrix_without_words_is_refused(tmp_path):
    path = saved_npy(tmp_path, "v_x.npy", beside=None)
    names = "v_x_words.txt, v_x.txt, v_x.vocab, v_words.txt, v.txt, v.vocab"
    with expect_refusal(
        InvalidInput,
        f"{path} has no list of words beside it; expected one of {names}, or name it: word_list=...",
    ):
        read_embeddings(path)


def test_a_matrix_with_other_words_is_refused(tmp_path):
    path = saved_npy(tmp_path, words=WORDS[:3])
    with expect_refusal(
        WrongShape,
        f"{path} has shape (4, 3) and {tmp_path / 'small_words.txt'} 3 words; expected one row a word",
    ):
        read_embeddings(path)


def test_objects_are_never_unpacked(tmp_path):
    path = saved_npy(tmp_path, vectors=np.array([[{}]], dtype=object))
    with pytest.raises(InvalidInput) as caught:
        read_embeddings(path)
    assert str(caught.value).startswith(f"{path} cannot be mapped as a matrix of numbers (")


def test_embeddings_check_their_shape():
    with expect_refusal(WrongShape, "embeddings: 1 words and 2 vectors; expected one vector a word"):
        Embeddings(("a",), np.zeros((2, 3)))
    with expect_refusal(WrongShape, "embeddings: expected a matrix of floats [words, m], got shape (2,) of float64"):
        Embeddings(("a", "b"), np.zeros(2))


def test_a_vocabulary_gets_its_rows():
    embeddings = Embeddings(tuple(WORDS), VECTORS)
    vocabulary = Vocabulary(("new", "bad", ",", "newer"))
    matrix = embeddings.for_vocabulary(vocabulary, Chance(0))
    assert matrix.shape == (6, 3)
    assert matrix.dtype == np.float32
    np.testing.assert_array_equal(matrix[0], 0)
    np.testing.assert_array_equal(matrix[[3, 4]], VECTORS[[1, 3]])
    assert (matrix[[1, 2, 5]] != 0).all()
    assert embeddings.coverage(vocabulary) == 0.5


def test_the_draws_have_the_scale_of_what_they_stand_among():
    embeddings = Embeddings(("a", "b"), np.random.default_rng(0).normal(scale=0.02, size=(2, 500)))
    vocabulary = Vocabulary(("a", *map(str, range(50))))
    own = embeddings.for_vocabulary(vocabulary, Chance(0))
    assert np.std(own[3:]) == pytest.approx(0.02, rel=0.1)
    asked = embeddings.for_vocabulary(vocabulary, Chance(0), like=np.array([[-1.0, 1.0]]))
    assert np.std(asked[3:]) == pytest.approx(1, rel=0.1)
    strangers = embeddings.for_vocabulary(Vocabulary(("x", "y")), Chance(0))
    assert np.std(strangers[1:]) == pytest.approx(0.02, rel=0.1)


def test_a_draw_depends_on_its_id_alone():
    vocabulary = Vocabulary(("a", "b", "c"))
    like = np.ones((1, 4)) * [[-1, 1, -1, 1]]
    some, more = (Embeddings(words, np.ones((len(words), 4))) for words in (("a",), ("a", "b")))
    one, other = (e.for_vocabulary(vocabulary, Chance(3), like=like) for e in (some, more))
    np.testing.assert_array_equal(one[[1, 4]], other[[1, 4]])


def test_nothing_to_cover_is_covered():
    assert Embeddings(("a",), np.ones((1, 2))).coverage(Vocabulary(())) == 1


def test_a_vector_that_is_not_finite_is_named():
    with expect_refusal(NotFinite, "embeddings: NaN or infinity in the vector of 'b'; leave it out"):
        Embeddings(("a", "b"), np.array([[1.0], [np.nan]])).for_vocabulary(Vocabulary(("a", "b")), Chance(0))


TEXTS = [["the", "cat", "sat", "on", "the", "mat"], ["the", "dog", "sat", "too"], ["cat", "and", "dog"]] * 5
TRAIN = (
    "from fwl.text import train_word2vec; from fwl.randomness import Chance;"
    f"print(train_word2vec({TEXTS}, size=4, chance=Chance(1)).vectors.tobytes().hex())"
)


def test_embeddings_are_trained_on_ones_own_texts():
    pytest.importorskip("gensim")
    learned = train_word2vec(TEXTS, size=6, at_least=6, epochs=2, chance=Chance(0))
    assert learned.words[0] == "the"
    assert set(learned.words) == {"the", "cat", "sat", "dog"}
    assert learned.vectors.shape == (4, 6)
    assert np.isfinite(learned.vectors).all()


def test_the_same_chance_gives_the_same_bits():
    pytest.importorskip("gensim")
    one, same, other = (train_word2vec(TEXTS, size=6, chance=Chance(seed)) for seed in (1, 1, 2))
    assert one.words == same.words
    np.testing.assert_array_equal(one.vectors, same.vectors)
    assert (one.vectors != other.vectors).any()


def test_pythons_hashes_do_not_matter():
    pytest.importorskip("gensim")
    elsewhere = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", TRAIN],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    here = train_word2vec(TEXTS, size=4, chance=Chance(1))
    assert elsewhere.stdout.strip() == here.vectors.tobytes().hex()


def test_a_long_text_is_learned_to_its_end():
    pytest.importorskip("gensim")
    learned = train_word2vec([["a", "b"] * 5_000 + ["end"] * 3], size=2, epochs=1, chance=Chance(0))
    assert "end" in learned.words


def test_texts_without_a_word_often_enough_are_refused():
    pytest.importorskip("gensim")
    with expect_refusal(
        InvalidInput, "no word occurs 2 times or more in 1 texts; give more of them, or a smaller at_least"
    ):
        train_word2vec([["a", "b"]], chance=Chance(0))


@pytest.mark.parametrize("name", ["size", "window", "at_least", "epochs"])
def test_a_setting_below_one_is_refused(name):
    pytest.importorskip("gensim")
    with expect_refusal(InvalidInput, f"{name}: expected a whole number from 1 up, got 0"):
        train_word2vec(TEXTS, chance=Chance(0), **{name: 0})


def test_without_gensim_its_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with expect_refusal(InvalidInput, "train_word2vec needs gensim; install it with: pip install 'fwl[text]'"):
        train_word2vec(TEXTS, chance=Chance(0))
