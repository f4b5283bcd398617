import gzip

import numpy as np
import pytest

from fwl.errors import InvalidInput, UnknownName
from fwl.text import read_columns, read_labelled, read_pool
from tests.refusals import expect_refusal

LABELLED = "1\tpositive\tSo good :)\n2\tneutral\t\n\n3\tnegative\ta\ttab\r\n"
REMEDY = "convert the file to UTF-8, e.g. with iconv -f latin-1 -t utf-8"


def written(tmp_path, content, name="tweets.tsv"):
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_labelled_texts_are_read(tmp_path):
    read = read_labelled(written(tmp_path, LABELLED))
    assert read.ids == ("1", "2", "3")
    assert read.texts == ("So good :)", "", "a\ttab")
    np.testing.assert_array_equal(read.classes, [2, 1, 0])
    np.testing.assert_array_equal(read.y, [[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    assert read.empty == 1


def test_other_labels_can_be_named(tmp_path):
    read = read_labelled(written(tmp_path, "1\tham\thello\n"), labels=("spam", "ham"))
    assert read.labels == ("spam", "ham")
    np.testing.assert_array_equal(read.y, [[0, 1]])


def test_a_pool_is_read(tmp_path):
    pool = read_pool(written(tmp_path, "here\tgood day\nthere\t \n"))
    assert pool.sources == ("here", "there")
    assert pool.texts == ("good day", " ")
    assert pool.empty == 1


def test_a_gzipped_file_is_known_by_its_content(tmp_path):
    packed = written(tmp_path, gzip.compress(LABELLED.encode()))
    assert read_labelled(packed).texts == read_labelled(written(tmp_path, LABELLED, "plain")).texts


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path):
    assert read_pool(written(tmp_path, b"\xef\xbb\xbfhere\ttext\n")).sources == ("here",)


def test_comments_are_passed_over_where_there_are_any(tmp_path):
    path = written(tmp_path, "# what\na\tb\n")
    assert list(read_columns(path, ("x", "y"), comment="#")) == [(2, ["a", "b"])]
    with expect_refusal(InvalidInput, f"{path}, line 1: expected 2 columns separated by tabs (x, y), got 1: '# what'"):
        list(read_columns(path, ("x", "y")))


def test_a_missing_column_is_named_by_its_line(tmp_path):
    path = written(tmp_path, "1\tpositive\tgood\n2\tneutral\n")
    with expect_refusal(
        InvalidInput, f"{path}, line 2: expected 3 columns separated by tabs (id, label, text), got 2: '2\\tneutral'"
    ):
        read_labelled(path)


def test_a_long_line_is_quoted_in_part(tmp_path):
    path = written(tmp_path, "x" * 500)
    with pytest.raises(InvalidInput) as caught:
        read_pool(path)
    assert str(caught.value).endswith("got 1: '" + "x" * 56 + "...")


def test_an_unknown_label_is_named_by_its_line(tmp_path):
    path = written(tmp_path, "1\tpositive\tgood\n\n2\tpostive\tbetter\n")
    with expect_refusal(
        UnknownName,
        f"unknown label in line 3 of {path} 'postive'; did you mean 'positive'? known: negative, neutral, positive",
    ):
        read_labelled(path)


def test_what_is_not_utf8_is_named_by_line_and_byte(tmp_path):
    path = written(tmp_path, "here\tok\nhere\tcafé\n".encode("latin-1"))
    with expect_refusal(InvalidInput, f"{path}, line 2: byte 0xe9 at position 8 is not UTF-8; {REMEDY}"):
        read_pool(path)


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_file_is_refused(tmp_path, content):
    path = written(tmp_path, content)
    with expect_refusal(InvalidInput, f"{path} is empty; expected lines of id TAB label TAB text"):
        read_labelled(path)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    path = tmp_path / "nowhere"
    with expect_refusal(
        InvalidInput, f"{path} cannot be opened (No such file or directory); expected a file that can be read"
    ):
        read_pool(path)
    with expect_refusal(
        InvalidInput, f"{tmp_path} cannot be opened (Is a directory); expected a file that can be read"
    ):
        read_pool(tmp_path)


def test_a_packed_file_that_is_cut_off_is_refused(tmp_path):
    whole = gzip.compress(("here\t" + "".join(map(str, range(999))) + "\n").encode() * 3)
    path = written(tmp_path, whole[:-12])
    with pytest.raises(InvalidInput) as caught:
        read_pool(path)
    assert str(caught.value).startswith(f"{path} is damaged or cut off (")
    assert str(caught.value).endswith("); copy it again")
