import gzip
import itertools

import numpy as np
import pytest

from fwl.errors import InvalidInput, NotFinite, OutputTrouble
from fwl.randomness import Chance
from fwl.text import Document, Query, TrecFiles, read_run, write_run
from fwl.text.trec import read_documents, read_qrels, read_topics
from tests.refusals import expect_refusal

DOCUMENTS = """<!-- two stories -->
<DOC>
<DOCNO> FT911-1 </DOCNO>
<DATE>910514
</DATE>
<HEADLINE>
FT  14 MAY 91 / <F P=102>Contigas</F> plans
</HEADLINE>
<TEXT>
CONTIGAS &amp; Co. said a &lt; b,&hyph;<P>
it plans   two.
</TEXT>
<PUB>The Financial Times</PUB>
<TEXT>And more.</TEXT>
</DOC>

<doc><docno>FB-2</docno><H3> <TI>  Short title</TI></H3></doc>
"""
READ = [
    Document("FT911-1", "FT 14 MAY 91 / Contigas plans", "CONTIGAS & Co. said a < b, it plans two. And more."),
    Document("FB-2", "Short title", ""),
]
TOPICS = """
<top>

<num> Number: 301
<title> International Organized
Crime

<desc> Description:
Identify organizations.
</top>
<top><num>302</num><title>Topic:  Poliomyelitis &amp; more</title></top>
"""
RANKED = [("q1", [("d1", 2.5), ("d2", 1.0), ("d3", 1.0), ("d4", 1.0), ("d5", -3.0)]), ("q2", [("d9", 0)])]


def written(tmp_path, content, name="file"):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_documents_are_read_without_their_markup(tmp_path):
    assert list(read_documents(written(tmp_path, DOCUMENTS))) == READ


def test_documents_on_one_line_are_read_too(tmp_path):
    content = "".join(f"<DOC><DOCNO>{i}</DOCNO><TEXT>text {i}</TEXT></DOC>" for i in range(3))
    assert [document.text for document in read_documents(written(tmp_path, content))] == ["text 0", "text 1", "text 2"]


def test_a_folder_of_documents_is_read_by_names(tmp_path):
    one = "<DOC><DOCNO>{}</DOCNO><TEXT>x</TEXT></DOC>"
    written(tmp_path, one.format("b"), "disk/2")
    written(tmp_path, gzip.compress(one.format("a").encode()), "disk/1/file.gz")
    written(tmp_path, "about the disk", "disk/readme")
    written(tmp_path, one.format("hidden"), "disk/.part")
    assert [document.id for document in read_documents(tmp_path / "disk")] == ["a", "b"]


def test_documents_are_read_one_at_a_time(tmp_path):
    path = written(tmp_path, DOCUMENTS + "<DOC>cut off")
    documents = read_documents(path)
    assert list(itertools.islice(documents, 2)) == READ
    with expect_refusal(
        InvalidInput, f"{path}, line 18: expected </DOC> for the <DOC> that begins here; is it cut off?"
    ):
        next(documents)


def test_what_is_not_utf8_is_read_as_latin1(tmp_path):
    line = "<DOC><DOCNO>1</DOCNO><TEXT>\ncafé\n".encode("latin-1") + "naïve\n</TEXT></DOC>".encode()
    assert next(read_documents(written(tmp_path, line))).text == "café naïve"


def test_a_text_that_never_ends_ends_with_its_document(tmp_path):
    path = written(tmp_path, "<DOC><DOCNO>1</DOCNO><TEXT>one</DOC><DOC><DOCNO>2</DOCNO></DOC>")
    assert list(read_documents(path)) == [Document("1", "", "one"), Document("2", "", "")]


@pytest.mark.parametrize("inside", ["<TEXT>x</TEXT>", "<DOCNO> </DOCNO>"])
def test_a_document_without_a_number_is_named_by_its_line(tmp_path, inside):
    path = written(tmp_path, f"\n<DOC>\n{inside}</DOC>")
    with expect_refusal(InvalidInput, f"{path}, line 2: expected <DOCNO> with an id in the document that begins here"):
        list(read_documents(path))


def test_a_document_in_a_document_is_refused(tmp_path):
    path = written(tmp_path, "<DOC><DOCNO>1</DOCNO>\n<DOC>")
    with expect_refusal(
        InvalidInput, f"{path}, line 1: expected </DOC> for the <DOC> that begins here; is it cut off?"
    ):
        list(read_documents(path))


def test_a_document_that_comes_again_is_named_with_both_places(tmp_path):
    one = "<DOC><DOCNO>x</DOCNO></DOC>"
    first, second = written(tmp_path, one, "disk/1"), written(tmp_path, "\n" + one, "disk/2")
    with expect_refusal(
        InvalidInput,
        f"{second}, line 2: document 'x' stands in line 1 of {first} already; give each an id of its own",
    ):
        list(read_documents(tmp_path / "disk"))


def test_a_file_without_documents_is_refused(tmp_path):
    path = written(tmp_path, "nothing")
    with expect_refusal(
        InvalidInput, f"{path} holds no <DOC>; expected TREC documents, plain or gzipped (unpack others first)"
    ):
        list(read_documents(path))


def test_topics_are_read_with_open_and_closed_tags(tmp_path):
    assert read_topics(written(tmp_path, TOPICS)) == [
        Query("301", "International Organized Crime"),
        Query("302", "Poliomyelitis & more"),
    ]


def test_broken_topics_are_named_by_their_line(tmp_path):
    path = written(tmp_path, "<top>\n<num> 1 <title> a\n</top>\n<top> <title> b </top>")
    with expect_refusal(InvalidInput, f"{path}, line 4: expected <num> in the topic that begins here"):
        read_topics(path)
    path = written(tmp_path, "<top> <num> 1 </top>")
    with expect_refusal(InvalidInput, f"{path}, line 1: expected <title> in the topic that begins here"):
        read_topics(path)
    path = written(tmp_path, TOPICS + TOPICS)
    with expect_refusal(
        InvalidInput, f"{path}, line 13: topic '301' stands in line 2 already; give each an id of its own"
    ):
        read_topics(path)
    path = written(tmp_path, "<topic number='1'/>")
    with expect_refusal(InvalidInput, f"{path} holds no <top>; expected topics with <num> and <title>"):
        read_topics(path)


def test_qrels_are_read(tmp_path):
    path = written(tmp_path, "301 0 FT911-1 1\n301\t0\tFB-2  -2\n\n302 Q0 FB-2 0\n")
    assert read_qrels(path) == {"301": {"FT911-1": 1, "FB-2": -2}, "302": {"FB-2": 0}}


def test_broken_qrels_are_named_by_their_line(tmp_path):
    path = written(tmp_path, "301 0 a 1\n301 a 1\n")
    with expect_refusal(
        InvalidInput,
        f"{path}, line 2: expected 4 columns separated by spaces (query, iteration, document, grade), got 3: '301 a 1'",
    ):
        read_qrels(path)
    path = written(tmp_path, "301 0 a yes\n")
    with expect_refusal(InvalidInput, f"{path}, line 1: expected a whole number as the grade, got 'yes'"):
        read_qrels(path)
    path = written(tmp_path, "\n")
    with expect_refusal(InvalidInput, f"{path} is empty; expected lines of query iteration document grade"):
        read_qrels(path)


def test_trec_files_are_a_collection(tmp_path):
    collection = TrecFiles(
        written(tmp_path, DOCUMENTS, "disk/one"),
        written(tmp_path, TOPICS, "topics"),
        written(tmp_path, "301 0 FT911-1 1\n", "qrels"),
    )
    assert collection.is_judged
    assert collection.name == "one"
    assert list(collection.documents()) == list(collection.documents()) == READ
    assert [query.id for query in collection.queries()] == ["301", "302"]
    assert collection.judgments() == {"301": {"FT911-1": 1}}
    with expect_refusal(
        InvalidInput, f"{tmp_path / 'qrels'} is not split, got split 'test'; ask for all judgments, with None"
    ):
        collection.judgments("test")


def test_a_run_is_written_as_trec_reads_it(tmp_path):
    lines = write_run(tmp_path / "run", RANKED, "mine").read_text().splitlines()
    assert lines[:2] == ["q1 Q0 d1 1 2.5 mine", "q1 Q0 d2 2 1.0 mine"]
    assert [line.split()[2:4] for line in lines] == [
        ["d1", "1"],
        ["d2", "2"],
        ["d3", "3"],
        ["d4", "4"],
        ["d5", "5"],
        ["d9", "1"],
    ]
    assert list(tmp_path.iterdir()) == [tmp_path / "run"]


def test_a_run_comes_back_in_its_order(tmp_path):
    read = read_run(write_run(tmp_path / "run", RANKED, "mine"))
    assert {query: [document for document, _ in found] for query, found in read.items()} == {
        "q1": ["d1", "d2", "d3", "d4", "d5"],
        "q2": ["d9"],
    }
    for query, ranking in RANKED:
        np.testing.assert_allclose([s for _, s in read[query]], [s for _, s in ranking], rtol=1e-6)


def hostile_scores():
    random = Chance(3).numpy()
    yield from ([0.0] * 500, [-0.0, 0.0] * 9, [1e-45] * 9, [1e30] * 9, [-1e30] * 9, [7] * 9, [True, False, False])
    yield list(1.0 - np.arange(500) * 1e-12)  # differ in double precision alone
    yield list(1e6 + np.sort(random.normal(size=500))[::-1] * 1e-3)
    yield np.sort(random.normal(size=500).round(1))[::-1]
    yield np.sort(random.normal(size=500).astype(np.float32))[::-1]


@pytest.mark.parametrize("scores", list(hostile_scores()))
def test_scores_as_written_fall_in_single_and_in_double_precision(tmp_path, scores):
    ranking = [(f"d{i:03}", score) for i, score in enumerate(scores)]
    path = write_run(tmp_path / "run", [("q", ranking)], "mine")
    texts = [line.split()[4] for line in path.read_text().splitlines()]
    assert (np.diff(np.array([float(text) for text in texts])) < 0).all()
    assert (np.diff(np.array([np.float32(text) for text in texts]).astype(np.float64)) < 0).all()
    assert [document for document, _ in read_run(path)["q"]] == [document for document, _ in ranking]


def test_a_query_without_results_leaves_no_line(tmp_path):
    assert list(read_run(write_run(tmp_path / "run", [("q1", []), ("q2", [("a", 1.0)])], "mine"))) == ["q2"]


REFUSED = {
    "rising": (
        [("q", [("a", 1.0), ("b", 2.0)])],
        "query 'q' has a score above the one before it; expected the best first",
    ),
    "twice": ([("q", [("a", 1.0), ("a", 0.5)])], "query 'q' has a document twice; each has one place in a ranking"),
    "again": ([("q", []), ("q", [])], "query 'q' comes twice; put all its documents in one ranking"),
    "query": (
        [("q 1", [])],
        "expected a query id without spaces, as they separate the columns, got 'q 1'",
    ),
    "document": (
        [("q", [("", 1.0)])],
        "expected a document id without spaces, as they separate the columns, got ''",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_ranking_that_makes_no_run_is_refused_and_leaves_no_file(tmp_path, name):
    ranked, message = REFUSED[name]
    with expect_refusal(InvalidInput, f"run: {message}"):
        write_run(tmp_path / "run", ranked, "mine")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("score", [float("nan"), float("inf"), 1e39])
def test_scores_that_are_no_numbers_are_refused(tmp_path, score):
    with expect_refusal(NotFinite, "run: query 'q' has a score that is no finite number of single precision; drop it"):
        write_run(tmp_path / "run", [("q", [("a", score)])], "mine")


def test_a_tag_is_one_word(tmp_path):
    with expect_refusal(InvalidInput, "run: expected a tag without spaces, as they separate the columns, got 'my run'"):
        write_run(tmp_path / "run", RANKED, "my run")


def test_a_run_that_was_there_stays_until_the_new_one_is_whole(tmp_path):
    path = write_run(tmp_path / "run", RANKED, "old")
    before = path.read_text()
    with pytest.raises(InvalidInput):
        write_run(path, [*RANKED, ("q3", [("a b", 1.0)])], "new")
    assert path.read_text() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_run_that_cannot_be_written_is_told(tmp_path):
    nowhere = tmp_path / "nowhere" / "run"
    with expect_refusal(OutputTrouble, f"cannot write {nowhere} (No such file or directory); name another file"):
        write_run(nowhere, RANKED, "mine")
    inside = written(tmp_path, "") / "run"
    with expect_refusal(OutputTrouble, f"cannot write {inside} (Not a directory); name another file"):
        write_run(inside, RANKED, "mine")


def test_runs_of_others_are_read_by_their_scores(tmp_path):
    path = written(tmp_path, "q Q0 b 1 0.5 x\nq Q0 a 2 0.5 x\nq Q0 c 3 7e-1 x\nr Q0 a 1 1 x\n")
    assert read_run(path) == {"q": [("c", 0.7), ("b", 0.5), ("a", 0.5)], "r": [("a", 1.0)]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "q Q0 a 1 1\n",
            ", line 1: expected 6 columns separated by spaces (query, Q0, document, rank, score, tag), "
            "got 5: 'q Q0 a 1 1'",
        ),
        ("q Q0 a 1 nan x\n", ", line 1: expected a finite number as the score, got 'nan'"),
        ("q Q0 a 1 high x\n", ", line 1: expected a finite number as the score, got 'high'"),
        ("q Q0 a 1 2 x\nq Q0 a 2 1 x\n", ", line 2: query 'q' has document 'a' twice; drop one of the two"),
        ("", " is empty; expected lines of query Q0 document rank score tag"),
    ],
)
def test_a_broken_run_is_refused(tmp_path, content, message):
    path = written(tmp_path, content)
    with expect_refusal(InvalidInput, f"{path}{message}"):
        read_run(path)
