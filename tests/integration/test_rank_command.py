"""`fwl fit-ranker` and `fwl rank` as a user's script sees them: files, messages, exit codes.

All but one run in this process: a new one would compile the index's loops each time.
"""

import contextlib
import io
import json
import shutil
import sys
from dataclasses import dataclass

import ir_measures
import pytest
import pytrec_eval
from tests.integration.test_command_line import fwl as in_a_process
from tests.searches import made_search
from tests.unit.students.test_encoder import save_encoder

from fwl.cli.main import run
from fwl.estimators import FWLRanker
from fwl.learn import search_student
from fwl.students import Training
from fwl.text import read_run

MADE = made_search()
WORD = next(word for text in MADE.documents.values() for word in text.split() if word.startswith("ask"))


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def fwl(*arguments) -> Done:
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(sys, "argv", ["fwl", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            run()
    return Done(stopped.value.code or 0, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    return MADE.write(tmp_path_factory.mktemp("collection") / "made")


@pytest.fixture(scope="module")
def fitted(collection):
    out = collection.parent / "model"
    return fwl("fit-ranker", "--collection", collection, "--encoder", "none", "--out", out), out


@pytest.fixture
def model(fitted, tmp_path):
    """A copy that a test may break."""
    return shutil.copytree(fitted[1], tmp_path / "model")


@pytest.fixture
def queries(tmp_path):
    path = tmp_path / "queries.tsv"
    path.write_text("".join(f"{name}\t{text}\n" for name, text in MADE.queries.items()))
    return path


def refused(done, message):
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr == f"error: {message}\n"
    assert done.stdout == ""
    return True


def test_a_ranker_is_fitted_and_says_what_it_chose(fitted):
    done, out = fitted
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    chosen, written = done.stdout.splitlines()
    assert chosen.startswith("Ranks 60 documents by ")
    assert "Teacher over (query, document): Used: the best of " in chosen
    assert written == f"written: {out}"
    assert {path.name for path in out.iterdir()} == {"ranker", "index"}
    assert [path.name for path in out.parent.iterdir() if path.name.startswith(".")] == []


def test_a_run_is_accepted_by_ir_measures_and_trec_eval(fitted, queries, tmp_path):
    done = fwl("rank", fitted[1], "--queries", queries, "--out", tmp_path / "run.trec", "--depth", 20, "--tag", "mine")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"written: {tmp_path / 'run.trec'}\n"
    expected = FWLRanker.load(fitted[1]).rank(MADE.queries, 20)
    read = read_run(tmp_path / "run.trec")
    assert {query: [name for name, _ in ranking] for query, ranking in read.items()} == {
        query: [name for name, _ in ranking] for query, ranking in expected.items()
    }
    assert {line.split()[-1] for line in (tmp_path / "run.trec").read_text().splitlines()} == {"mine"}
    judged = [ir_measures.Qrel(q, d, grade) for q, its in MADE.judgments.items() for d, grade in its.items()]
    measured = ir_measures.calc_aggregate(
        [ir_measures.AP], judged, ir_measures.read_trec_run(str(tmp_path / "run.trec"))
    )
    with (tmp_path / "run.trec").open() as file:
        parsed = pytrec_eval.parse_run(file)
    by_query = pytrec_eval.RelevanceEvaluator(MADE.judgments, {"map"}).evaluate(parsed)
    assert measured[ir_measures.AP] == pytest.approx(sum(one["map"] for one in by_query.values()) / len(MADE.queries))
    assert measured[ir_measures.AP] > 0.5


def test_the_same_command_writes_the_same_bytes(collection, fitted, queries, tmp_path):
    fwl("fit-ranker", "--collection", collection, "--encoder", "none", "--out", tmp_path / "again")
    for model, name in ((fitted[1], "one"), (tmp_path / "again", "other")):
        fwl("rank", model, "--queries", queries, "--out", tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes() != b""


def test_one_query_is_answered_on_the_screen(fitted):
    done = fwl("rank", fitted[1], "--query", f"{WORD} common3", "--depth", 2)
    assert done.returncode == 0, done.stderr
    ranking = FWLRanker.load(fitted[1]).rank([f"{WORD} common3"], 2)["1"]
    for name, score in ranking:
        assert name in done.stdout
        assert f"{score:.4f}" in done.stdout
    assert len([line for line in done.stdout.splitlines() if "│" in line]) == 2


def test_machines_are_answered_in_json(collection, fitted, queries, tmp_path):
    one = json.loads(fwl("rank", fitted[1], "--query", WORD, "--json").stdout)
    assert one["query"] == WORD
    assert [row["rank"] for row in one["ranking"]] == list(range(1, len(one["ranking"]) + 1))
    queries.write_text(queries.read_text() + "silent\tturbine\n")
    many = json.loads(fwl("rank", fitted[1], "--queries", queries, "--out", tmp_path / "run", "--json").stdout)
    assert many == {"out": str(tmp_path / "run"), "queries": 41, "without_hits": ["silent"]}
    learned = json.loads(
        fwl("fit-ranker", "--collection", collection, "--encoder", "none", "--out", tmp_path / "m", "--json").stdout
    )
    assert (learned["documents"], learned["judged"], learned["corrected"]) == (60, 40, True)


def test_without_judgments_there_is_a_ranker_and_it_says_so(tmp_path):
    folder = MADE.write(tmp_path / "made", judged=False)
    (folder / "queries.jsonl").unlink()
    done = fwl("fit-ranker", "--collection", folder, "--encoder", "none", "--out", tmp_path / "model")
    assert done.returncode == 0, done.stderr
    assert "by bm25: no query is judged, so nothing was chosen: this is the annotator as it is." in done.stdout
    assert fwl("rank", tmp_path / "model", "--query", WORD).returncode == 0


def test_one_split_may_be_learned_from(collection, tmp_path):
    folder = shutil.copytree(collection, tmp_path / "made")
    rows = (folder / "qrels.tsv").read_text().splitlines(keepends=True)
    (folder / "qrels.tsv").unlink()
    (folder / "qrels_train.tsv").write_text("".join(row for row in rows if row.startswith("q1")))
    (folder / "qrels_test.tsv").write_text("".join(row for row in rows if not row.startswith("q1")))
    command = ("fit-ranker", "--collection", folder, "--encoder", "none", "--out", tmp_path / "model")
    assert " on 11 judged queries" in fwl(*command, "--split", "train").stdout
    message = f"unknown split of {folder} 'tran'; did you mean 'train'? known: test, train"
    assert refused(fwl(*command, "--split", "tran"), message)


def test_an_encoder_is_found_again_or_asked_for(collection, queries, tmp_path):
    encoder = save_encoder(tmp_path / "encoder")
    folder = MADE.write(tmp_path / "made", judged=False)
    done = fwl("fit-ranker", "--collection", folder, "--encoder", encoder, "--out", tmp_path / "model")
    assert done.returncode == 0, done.stderr
    assert "bm25 + 1 x dense" in done.stdout
    ask = ("rank", tmp_path / "model", "--query", WORD, "--json")
    before = fwl(*ask).stdout
    encoder.rename(tmp_path / "moved")
    assert refused(
        fwl(*ask),
        f"this ranker needs its encoder, which was in {encoder}: {encoder} is not a folder; expected one with "
        "config.json, model.safetensors and tokenizer.json: nothing is downloaded, give the path of a local copy",
    )
    assert fwl(*ask, "--encoder", tmp_path / "moved").stdout == before
    other = fwl(*ask, "--encoder", save_encoder(tmp_path / "other", seed=1))
    assert other.returncode == 2
    assert f"the encoder in {tmp_path / 'other'} is not the one this ranker was fitted with (digest " in other.stderr


def test_weak_queries_train_a_student(collection, tmp_path, monkeypatch):
    monkeypatch.setattr(search_student, "PLAN", Training(steps=30, batch_size=32))
    monkeypatch.setattr(search_student, "PAIRS", 500)
    log = tmp_path / "log"
    log.write_text(
        "AnonID\tQuery\n" + "".join(f"1\t{text}\n2\twww.{i}.com\n" for i, text in enumerate(MADE.queries.values()))
    )
    command = ("fit-ranker", "--collection", collection, "--encoder", "none", "--out", tmp_path / "model")
    for options in (["--weak-queries", log], ["--student"]):
        done = fwl(*command, *options)
        assert done.returncode == 0, done.stderr
        assert "sed: the best of 3 settings gains " in done.stdout.partition(" Student on weak pairs: ")[2]
    assert fwl("rank", tmp_path / "model", "--query", WORD).returncode == 0
    log.write_text("www.a.com\n")
    message = f"{log} holds no query once addresses and signs are gone; expected one on each line"
    assert refused(fwl(*command, "--weak-queries", log), message)


def test_what_was_left_out_is_told_and_the_rest_is_learned_from(collection, tmp_path):
    folder = shutil.copytree(collection, tmp_path / "made")
    with (folder / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "silent", "title": "", "text": " "}\n')
    with (folder / "qrels.tsv").open("a") as file:
        file.write("q1\tgone\t1\nnobody\td1\t1\nnobody\td2\t1\n")
    done = fwl("fit-ranker", "--collection", folder, "--encoder", "none", "--out", tmp_path / "model")
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "note: 1 of 61 documents says nothing and is never found (first: 'silent')",
        "note: 3 judgments are left out: 1 on unknown documents (first: 'gone'), "
        "2 for unknown queries (first: 'nobody')",
    ]


def test_queries_that_find_nothing_are_counted_and_named(fitted, tmp_path):
    (tmp_path / "queries").write_text(f'{{"_id": "a", "text": "{WORD}"}}\n{{"_id": "b", "text": "turbine"}}\n')
    done = fwl("rank", fitted[1], "--queries", tmp_path / "queries", "--out", tmp_path / "run")
    assert done.returncode == 0
    assert done.stderr == "note: 1 of 2 queries find nothing (first: 'b')\n"
    assert set(read_run(tmp_path / "run")) == {"a"}


def appended(name, line):
    def change(folder):
        with (folder / name).open("a") as file:
            file.write(line)

    return change


BROKEN = {
    "a broken line": (
        appended("corpus.jsonl", '{"_id": "x", \n'),
        "{folder}/corpus.jsonl, line 61: this is not JSON (Expecting property name enclosed in double quotes: "
        'line 1 column 14 (char 13)): \'{{"_id": "x", \'',
    ),
    "a document twice": (
        appended("corpus.jsonl", '{"_id": "d0", "text": "x"}\n'),
        "{folder}/corpus.jsonl, line 61: document 'd0' stands in line 1 already; give each an id of its own",
    ),
    "a query twice": (
        appended("queries.jsonl", '{"_id": "q0", "text": "x"}\n'),
        "{folder}/queries.jsonl, line 41: query 'q0' stands in line 1 already; give each an id of its own",
    ),
    "a judgment of no grade": (
        appended("qrels.tsv", "q0\td0\tgood\n"),
        "{folder}/qrels.tsv, line {last}: expected a whole number as the grade, got 'good'",
    ),
    "judgments of another collection": (
        lambda folder: (folder / "qrels.tsv").write_text("x\ty\t1\n"),
        "the judgments teach nothing: 1 judgment is left out: 1 for unknown queries (first: 'x'); "
        "see that they belong to this collection",
    ),
    "documents without words": (
        lambda folder: (folder / "corpus.jsonl").write_text('{"_id": "d0", "text": ""}\n'),
        "none of 1 documents of made has a word to be found by; expected texts",
    ),
    "no documents": (
        lambda folder: (folder / "corpus.jsonl").unlink(),
        "{folder} has no corpus.jsonl; expected corpus.jsonl, queries.jsonl and qrels in BEIR's layout",
    ),
}


@pytest.mark.parametrize(("change", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_collection_is_refused_and_nothing_is_left_behind(change, message, collection, tmp_path):
    folder = shutil.copytree(collection, tmp_path / "made")
    change(folder)
    last = len((folder / "qrels.tsv").read_text().splitlines())
    done = fwl("fit-ranker", "--collection", folder, "--encoder", "none", "--out", tmp_path / "model")
    assert refused(done, message.format(folder=folder, last=last))
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_options_that_cannot_be_are_refused(collection, tmp_path):
    command = ("fit-ranker", "--collection", collection, "--out", tmp_path / "model")
    known = "known: auto, bm25, rm3, tfidf, binary"
    assert refused(fwl(*command, "--annotator", "bm"), f"unknown annotator 'bm'; did you mean 'bm25'? {known}")
    assert refused(fwl(*command, "--seed", -1), "a seed is a whole number from 0 up, got -1")
    nowhere = fwl("fit-ranker", "--collection", "nowhere", "--out", tmp_path / "model")
    assert nowhere.returncode == 2
    assert nowhere.stderr.startswith("error: 'nowhere' is neither a folder nor an id that can be opened: ")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "work").write_text("mine")
    message = f"{tmp_path / 'own'} exists and is not a saved ranker; name another folder, or remove it first"
    assert refused(fwl("fit-ranker", "--collection", collection, "--out", tmp_path / "own"), message)
    assert (tmp_path / "own" / "work").read_text() == "mine"


ASKED = {
    "neither": ([], "expected either --queries FILE or --query TEXT, got neither"),
    "both": (["--query", "x", "--queries", "y"], "expected either --queries FILE or --query TEXT, got both"),
    "no run": (
        ["--queries", "y"],
        "--queries and --out belong together: what is asked in a file is answered in a file",
    ),
    "empty": (["--query", " "], "query '1' is empty (' '); expected a text, or leave it out"),
    "nothing found": (
        ["--query", "turbine"],
        "query 'turbine' finds nothing: none of its words is in any document; try others",
    ),
    "no depth": (["--query", WORD, "--depth", "0"], "depth: expected at least 1 document, got 0"),
}


@pytest.mark.parametrize(("options", "message"), ASKED.values(), ids=ASKED)
def test_what_cannot_be_asked_is_refused(options, message, fitted):
    assert refused(fwl("rank", fitted[1], *options), message)


FILES = {
    "empty query": ("a\tx\nb\t \n", [], "query 'b' is empty (''); expected a text, or leave it out"),
    "nothing found": (
        "a\tturbine\n",
        [],
        "none of 1 queries finds anything, so there is no run to write; none of their words is in any document",
    ),
    "an id of two words": (
        f"a b\t{WORD}\n",
        [],
        "run: expected a query id without spaces, as they separate the columns, got 'a b'",
    ),
    "a tag of two words": (
        f"a\t{WORD}\n",
        ["--tag", "my run"],
        "run: expected a tag without spaces, as they separate the columns, got 'my run'",
    ),
    "no columns": ("wing\n", [], "{file}, line 1: expected an id, a tab and a text, got 'wing'"),
    "broken JSON": (
        '{"_id": "1"}\n',
        [],
        "{file}, line 1: expected the key 'text', got '_id'",
    ),
}


@pytest.mark.parametrize(("content", "options", "message"), FILES.values(), ids=FILES)
def test_queries_that_cannot_be_answered_are_refused_and_no_run_is_left(content, options, message, fitted, tmp_path):
    file = tmp_path / "queries"
    file.write_text(content)
    done = fwl("rank", fitted[1], "--queries", file, "--out", tmp_path / "run", *options)
    assert refused(done, message.format(file=file))
    assert [path.name for path in tmp_path.iterdir()] == ["queries"]


def test_a_run_that_cannot_be_written_is_refused(fitted, queries, tmp_path):
    done = fwl("rank", fitted[1], "--queries", queries, "--out", tmp_path / "none" / "run")
    assert refused(done, f"cannot write {tmp_path}/none/run (No such file or directory); name another file")


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_a_damaged_ranker_is_refused(model):
    ask = ("rank", model, "--query", WORD)
    for damaged, what in (
        ("index/frequencies.bin", "build the index"),
        ("ranker/arrays.safetensors", "save the model"),
    ):
        flip(model / damaged)
        message = f"{model / damaged} was changed after it was saved: its SHA-256 does not match; {what} again"
        assert refused(fwl(*ask), message)
        flip(model / damaged)
    assert fwl(*ask).returncode == 0
    shutil.rmtree(model / "ranker")
    assert refused(fwl(*ask), f"{model} is not a saved ranker; expected a folder that `fwl fit-ranker --out` wrote")


def test_the_installed_command_knows_them():
    done = in_a_process("--help")
    assert done.returncode == 0
    assert "fit-ranker" in done.stdout
    assert "rank" in done.stdout
