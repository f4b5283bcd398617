import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwl.errors import InvalidInput
from fwl.randomness import Chance
from fwl.text.query_log import clean_query, read_queries
from tests.properties import PROPERTY
from tests.refusals import expect_refusal

AOL = (
    "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
    "142\trentdirect.com\t2006-03-01 07:17:12\t\t\n"
    "142\tHeat-flow, in wings\t2006-03-12 12:31:06\t\t\n"
    "142\theat flow in wings\t2006-03-12 12:33:00\t1\thttp://www.example.org\n"
    "217\t-\t2006-03-23 21:48:01\t\t\n"
    "217\tmizuno's shoes\t2006-04-11 15:24:08\t2\thttp://shoes.example.com\n"
)
AOL_QUERIES = ["heat flow in wings", "mizuno shoes"]


@pytest.fixture
def written(tmp_path):
    def write(content):
        path = tmp_path / "log.txt"
        path.write_text(content, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("", ""),
        ("  Wing-body\tDC-8 ", "wing body dc 8"),
        ("snake_case?!", "snake case"),
        ("the company's O’Neill's", "the company oneill"),
        ("Café ΩΜΈΓΑ 飛行機", "café ωμέγα 飛行機"),
        ("...", ""),
        ("http", ""),
        ("www.ebay", ""),
        ("foo.COM bar", ""),
        ("a.net", ""),
        ("who is example.org", ""),
        ("mit.edu", ""),
        ("www com net", "www com net"),
    ],
)
def test_signs_go_and_addresses_are_no_queries(text, cleaned):
    assert clean_query(text) == cleaned


@PROPERTY
@given(st.text())
def test_cleaned_queries_are_words_apart_by_single_spaces_and_clean(text):
    cleaned = clean_query(text)
    assert all(word.isalnum() for word in cleaned.split(" ") if cleaned)
    assert clean_query(cleaned) == cleaned


def test_a_log_has_its_queries_in_the_column_of_that_name(written):
    assert read_queries(written(AOL)) == AOL_QUERIES
    turned = "".join("\t".join(reversed(line.split("\t"))) + "\n" for line in AOL.splitlines())
    assert read_queries(written(turned)) == AOL_QUERIES


def test_a_log_without_a_heading_has_them_in_the_second_column(written):
    assert read_queries(written(AOL.partition("\n")[2])) == AOL_QUERIES


def test_a_file_may_hold_one_query_on_each_line(written):
    assert read_queries(written("heat flow\n\n wing  tips\nheat\tflow\n")) == ["heat flow", "wing tips"]
    assert read_queries(written("Query\nheat flow\n")) == ["heat flow"]


def test_gzipped_files_are_read(tmp_path):
    path = tmp_path / "log.gz"
    path.write_bytes(gzip.compress(AOL.encode()))
    assert read_queries(path) == AOL_QUERIES


def test_some_of_many_are_drawn(written):
    path = written("".join(f"query {i % 50}\n" for i in range(200)))
    some = read_queries(path, 10, chance=Chance(3))
    assert len(set(some)) == 10
    assert set(some) <= set(read_queries(path))
    assert read_queries(path, 10, chance=Chance(3)) == some
    assert read_queries(path, 4, chance=Chance(3)) == some[:4]
    assert sorted(read_queries(path, 1000, chance=Chance(3))) == sorted(read_queries(path))


def test_a_line_without_the_column_is_named(written):
    path = written("id\tsomething\tquery\n1\tx\theat\n\n2\tx\n")
    with expect_refusal(
        InvalidInput,
        f"{path}, line 4: expected the query in column 3 of columns separated by tabs, got 2: '2\\tx'",
    ):
        read_queries(path)


@pytest.mark.parametrize("content", ["", " \n\n"])
def test_an_empty_file_is_refused(written, content):
    path = written(content)
    with expect_refusal(
        InvalidInput, f"{path} is empty; expected queries, one on each line or in a column called Query"
    ):
        read_queries(path)


def test_a_file_of_addresses_is_refused(written):
    path = written("www.ebay.com\n---\n")
    with expect_refusal(
        InvalidInput, f"{path} holds no query once addresses and signs are gone; expected one on each line"
    ):
        read_queries(path)


def test_drawing_without_chance_is_refused(written):
    with expect_refusal(InvalidInput, "queries: to draw 5 of a file takes a chance; give one, or take all with n=None"):
        read_queries(written(AOL), 5)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    path = tmp_path / "none.txt"
    with expect_refusal(
        InvalidInput, f"{path} cannot be opened (No such file or directory); expected a file that can be read"
    ):
        read_queries(path)
