import gzip

import pytest

from fwl.errors import InvalidInput
from fwl.text import Query
from fwl.text.query_file import read_query_file
from tests.refusals import expect_refusal

KINDS = {
    "columns": "q1\tflat plates\n\nq 2\t  wing?  \r\n",
    "json": '\n{"_id": "q1", "text": "flat plates"}\n{"_id": "q 2", "text": "wing?"}\n',
}
TOPICS = "\n<top>\n<num> Number: 301\n<title> Organized Crime\n<desc> more\n</top>\n"
EXPECTED = "expected lines of an id, a tab and a text, JSON lines with _id and text, or TREC's topics"


def written(tmp_path, content):
    path = tmp_path / "queries"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("content", KINDS.values(), ids=KINDS)
def test_the_first_line_says_which_kind_of_file_it_is(tmp_path, content):
    assert read_query_file(written(tmp_path, content)) == [Query("q1", "flat plates"), Query("q 2", "wing?")]


def test_topics_are_read_too(tmp_path):
    assert read_query_file(written(tmp_path, TOPICS)) == [Query("301", "Organized Crime")]


def test_a_file_may_be_gzipped(tmp_path):
    assert read_query_file(written(tmp_path, gzip.compress(b"1\twing\n"))) == [Query("1", "wing")]


def test_a_query_without_words_is_read_as_it_is(tmp_path):
    assert read_query_file(written(tmp_path, "q1\t\n")) == [Query("q1", "")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", f"{{path}} is empty; {EXPECTED}"),
        (" \n\n", f"{{path}} is empty; {EXPECTED}"),
        ("1\ta\nwing\n", "{path}, line 2: expected an id, a tab and a text, got 'wing'"),
        ("1\ta\tb\n", "{path}, line 1: expected an id, a tab and a text, got '1\\ta\\tb'"),
        (" \twing\n", "{path}, line 1: expected an id, a tab and a text, got ' \\twing'"),
        ("1\ta\n2\tb\n1\tc\n", "{path}, line 3: query '1' stands in line 1 already; give each an id of its own"),
        ('{"_id": "1", "text": "a"}\n{"_id": \n', None),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, content, message):
    path = written(tmp_path, content)
    if message is None:
        with pytest.raises(InvalidInput, match="queries, line 2: this is not JSON"):
            read_query_file(path)
        return
    with expect_refusal(InvalidInput, message.replace("{path}", str(path))):
        read_query_file(path)


def test_a_missing_file_is_refused(tmp_path):
    path = tmp_path / "none"
    message = f"{path} cannot be opened (No such file or directory); expected a file that can be read"
    with expect_refusal(InvalidInput, message):
        read_query_file(path)
