import gzip
import itertools
import json

import pytest

from fwl.errors import InvalidInput, UnknownName
from fwl.text import BeirFolder, CountedDocuments, Document, Query
from tests.refusals import expect_refusal

CORPUS = '{"_id": "d1", "title": "Wings", "text": "a wing"}\n\n{"_id": "d2", "title": "", "text": ""}\n'
QUERIES = '{"_id": "q1", "text": "wing?"}\n{"_id": "q2", "text": "café", "metadata": {}}\n'
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t3\nq1\td2\t-1\n"
REMEDY = "convert the file to UTF-8, e.g. with iconv -f latin-1 -t utf-8"


def folder(tmp_path, corpus=CORPUS, queries=QUERIES, **tables):
    content = {"corpus.jsonl": corpus, "queries.jsonl": queries, **tables}
    for name, text in content.items():
        if text is not None:
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return BeirFolder(tmp_path)


def test_a_folder_is_read(tmp_path):
    collection = folder(tmp_path, **{"qrels.tsv": QRELS})
    assert collection.name == tmp_path.name
    assert list(collection.documents()) == [Document("d1", "Wings", "a wing"), Document("d2", "", "")]
    assert collection.queries() == [Query("q1", "wing?"), Query("q2", "café")]
    assert collection.judgments() == {"q1": {"d1": 3, "d2": -1}}
    assert collection.splits == ()
    assert collection.is_judged


def test_a_folder_may_be_without_judgments(tmp_path):
    assert not folder(tmp_path).is_judged


def test_documents_can_be_read_again(tmp_path):
    collection = folder(tmp_path)
    assert list(collection.documents()) == list(collection.documents())


def test_documents_are_read_one_at_a_time(tmp_path):
    lines = (json.dumps({"_id": str(i), "title": "", "text": "x" * 1000}) for i in range(1000))
    collection = folder(tmp_path, corpus="\n".join(lines) + "\nbroken")
    first = list(itertools.islice(collection.documents(), 500))  # what stands behind them is not looked at yet
    assert first[-1].id == "499"


def test_documents_without_text_are_kept_and_counted(tmp_path):
    documents = CountedDocuments(folder(tmp_path).documents())
    assert len(list(documents)) == 2
    assert documents.empty == 1


@pytest.mark.parametrize("title", ["", '"title": null, '])
def test_a_title_may_be_missing(tmp_path, title):
    collection = folder(tmp_path, corpus=f'{{"_id": "d1", {title}"text": "x"}}')
    assert list(collection.documents()) == [Document("d1", "", "x")]


def test_every_file_may_be_gzipped(tmp_path):
    files = {"corpus.jsonl.gz": CORPUS, "queries.jsonl.gz": QUERIES, "qrels_test.tsv.gz": QRELS}
    packed = {name: gzip.compress(text.encode()) for name, text in files.items()}
    collection = folder(tmp_path, None, None, **packed)
    assert len(list(collection.documents())) == len(collection.queries()) == 2
    assert collection.judgments("test") == collection.judgments() == {"q1": {"d1": 3, "d2": -1}}


@pytest.mark.parametrize("name", ["qrels_{}.tsv", "qrels/{}.tsv"])
def test_splits_are_read_apart_or_together(tmp_path, name):
    tables = {name.format("train"): "q1\td1\t1\n", name.format("test"): "query-id\tcorpus-id\tscore\nq2\td1\t2\n"}
    collection = folder(tmp_path, **tables)
    assert collection.splits == ("test", "train")
    assert collection.judgments("train") == {"q1": {"d1": 1}}
    assert collection.judgments("test") == {"q2": {"d1": 2}}
    assert collection.judgments() == {"q1": {"d1": 1}, "q2": {"d1": 2}}


def test_other_files_are_no_judgments(tmp_path):
    others = {"qrels.tsv.bak": "?", "qrels_notes.txt": "?", "qrelsx.tsv": "?"}
    assert folder(tmp_path, **others, **{"qrels.tsv": "q1\td1\t1\n"}).judgments() == {"q1": {"d1": 1}}


def test_an_unknown_split_is_refused(tmp_path):
    collection = folder(tmp_path, **{"qrels_test.tsv": QRELS, "qrels_dev.tsv": QRELS})
    with expect_refusal(UnknownName, f"unknown split of {tmp_path} 'tset'; did you mean 'test'? known: dev, test"):
        collection.judgments("tset")


def test_a_split_of_what_is_not_split_is_refused(tmp_path):
    collection = folder(tmp_path, **{"qrels.tsv": QRELS})
    with expect_refusal(InvalidInput, f"{tmp_path} is not split, got split 'test'; ask for all judgments, with None"):
        collection.judgments("test")


def test_a_folder_without_judgments_says_so(tmp_path):
    with expect_refusal(
        InvalidInput,
        f"{tmp_path} holds no judgments; expected qrels/<split>.tsv, qrels_<split>.tsv or qrels.tsv",
    ):
        folder(tmp_path).judgments()


BROKEN = {
    '{"_id": "d1", "text"': "this is not JSON (Expecting ':' delimiter: line 1 column 21 (char 20)): "
    '\'{"_id": "d1", "text"\'',
    "[1]": "expected a JSON object with _id and text, got '[1]'",
    '{"id": "d1", "text": "x"}': "expected the key '_id', got 'id', 'text'",
    '{"_id": "d1", "title": "x"}': "expected the key 'text', got '_id', 'title'",
    "{}": "expected the key '_id', got none at all",
    '{"_id": 7, "text": "x"}': "expected a text under '_id', got 7",
    '{"_id": "", "text": "x"}': "expected an id under '_id', got an empty text",
    '{"_id": "d1", "text": null}': "expected a text under 'text', got None",
    '{"_id": "d1", "title": ["x"], "text": "x"}': "expected a text under 'title', got ['x']",
}


@pytest.mark.parametrize("line", BROKEN)
def test_a_broken_line_is_named(tmp_path, line):
    collection = folder(tmp_path, corpus='{"_id": "d0", "text": "x"}\n\n' + line)
    with expect_refusal(InvalidInput, f"{tmp_path / 'corpus.jsonl'}, line 3: {BROKEN[line]}"):
        list(collection.documents())


def test_a_line_nested_without_end_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"corpus\.jsonl, line 1: this is not JSON"):
        list(folder(tmp_path, corpus="[" * 100_000).documents())


def test_two_documents_of_one_id_are_named_by_both_lines(tmp_path):
    collection = folder(tmp_path, corpus=CORPUS + '{"_id": "d1", "text": "other"}')
    with expect_refusal(
        InvalidInput,
        f"{tmp_path / 'corpus.jsonl'}, line 4: document 'd1' stands in line 1 already; give each an id of its own",
    ):
        list(collection.documents())


def test_two_queries_of_one_id_are_named_by_both_lines(tmp_path):
    collection = folder(tmp_path, queries=QUERIES + QUERIES)
    with expect_refusal(
        InvalidInput,
        f"{tmp_path / 'queries.jsonl'}, line 3: query 'q1' stands in line 1 already; give each an id of its own",
    ):
        collection.queries()


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_an_empty_corpus_is_refused(tmp_path, content):
    collection = folder(tmp_path, corpus=content, queries=content)
    like = 'expected lines such as {"_id": "1", "text": "..."}'
    with expect_refusal(InvalidInput, f"{tmp_path / 'corpus.jsonl'} holds no document; {like}"):
        list(collection.documents())
    with expect_refusal(InvalidInput, f"{tmp_path / 'queries.jsonl'} holds no query; {like}"):
        collection.queries()


def test_another_encoding_is_named_by_line_and_byte(tmp_path):
    collection = folder(tmp_path, queries=QUERIES.encode("latin-1"))
    with expect_refusal(
        InvalidInput, f"{tmp_path / 'queries.jsonl'}, line 2: byte 0xe9 at position 26 is not UTF-8; {REMEDY}"
    ):
        collection.queries()


def test_missing_files_are_named(tmp_path):
    layout = "expected corpus.jsonl, queries.jsonl and qrels in BEIR's layout"
    with expect_refusal(InvalidInput, f"{tmp_path} has no corpus.jsonl; {layout}"):
        BeirFolder(tmp_path)
    with expect_refusal(InvalidInput, f"{tmp_path} has no queries.jsonl; {layout}"):
        folder(tmp_path, queries=None).queries()
    nowhere = tmp_path / "nowhere"
    with expect_refusal(InvalidInput, f"{nowhere} is not a folder; expected one with corpus.jsonl and queries.jsonl"):
        BeirFolder(nowhere)


TABLES = {
    "q1\td1\t1\nq1 d2 1\n": ", line 2: expected 3 columns separated by tabs (query-id, corpus-id, score), "
    "got 1: 'q1 d2 1'",
    "q1\t0\td1\t1\n": ", line 1: expected 3 columns separated by tabs (query-id, corpus-id, score), "
    "got 4: 'q1\\t0\\td1\\t1'",
    "qid\tdid\tlabel\nq1\td1\t1\n": ", line 1: expected a whole number as the grade, got 'label'",
    QRELS + "q1\td3\t0.5\n": ", line 4: expected a whole number as the grade, got '0.5'",
    QRELS + "q1\td1\t1\n": ", line 4: document 'd1' has grade 1 for query 'q1', and had 3 before; drop one of the two",
    "query-id\tcorpus-id\tscore\n": " holds no judgment; expected lines of query-id TAB corpus-id TAB score",
}


@pytest.mark.parametrize("table", TABLES)
def test_a_broken_table_of_judgments_is_refused(tmp_path, table):
    collection = folder(tmp_path, **{"qrels.tsv": table})
    with expect_refusal(InvalidInput, f"{tmp_path / 'qrels.tsv'}{TABLES[table]}"):
        collection.judgments()


def test_lines_may_end_as_on_windows(tmp_path):
    collection = folder(tmp_path, **{"qrels.tsv": QRELS.replace("\n", "\r\n")})
    assert collection.judgments() == {"q1": {"d1": 3, "d2": -1}}
