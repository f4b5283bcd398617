"""`fwl fit`, `predict`, `soft-labels` and `suggest` on tables of a user's own: files, messages, exit codes."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pytest
from tests.commands import fwl, refused
from tests.own_files import NAMES, ROWS, STRONG, TABLE, N, fit, rows_of, written

from fwl.estimators import load_model
from fwl.learn import compare_methods
from fwl.tables import read_table, write_table


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    """Classes from a CSV."""
    folder = tmp_path_factory.mktemp("classes")
    strong, weak = written(folder, "csv", TABLE, "gold", "says")
    return fit(strong, weak, folder / "model"), folder


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """Numbers from a TSV."""
    folder = tmp_path_factory.mktemp("numbers")
    strong, weak = written(folder, "tsv", ("a", "b"), "number", "guess")
    return fit(strong, weak, folder / "model"), folder


@pytest.fixture
def files(tmp_path):
    """A strong and a weak CSV that a test may break."""
    return written(tmp_path, "csv", TABLE, "gold", "says")


def test_a_model_is_fitted_and_says_from_what(classes):
    done, folder = classes
    assert done.returncode == 0, done.stderr
    learned, annotator, where = done.stdout.splitlines()
    assert learned == (
        "label: 2 classes (böse, very good), learned by FWL_auto from 40 strong and 240 weak rows; 40 stand in both."
    )
    assert annotator.startswith("annotator 'label' labels 100% of the weak rows and is right in ")
    assert where == f"written: {folder / 'model'}"
    assert {path.name for path in folder.iterdir()} == {"strong.csv", "weak.csv", "model"}


def test_predictions_are_the_models(classes, tmp_path):
    model = classes[1] / "model"
    weak = classes[1] / "weak.csv"
    assert fwl("predict", model, weak, "--out", tmp_path / "out.parquet").stdout == f"written: {tmp_path}/out.parquet\n"
    got = read_table(tmp_path / "out.parquet")
    assert got.column_names == ["id", "label", "probability", "p(böse)", "p(very good)"]
    expected = load_model(model).predict_proba(read_table(weak).select(["a", "b", "kind"]))
    assert np.array_equal(np.stack([got["p(böse)"], got["p(very good)"]], axis=1), expected)
    accuracy = np.mean(np.array(got["label"]) == np.array(ROWS["gold"]))
    assert accuracy > 0.85


def test_with_weak_labels_the_teacher_reads_them(classes, tmp_path):
    model, weak = classes[1] / "model", classes[1] / "weak.csv"
    done = fwl("predict", model, weak, "--with-weak", "--out", tmp_path / "out.jsonl", "--json")
    assert json.loads(done.stdout) == {"out": str(tmp_path / "out.jsonl"), "rows": N}
    table = read_table(weak)
    expected = load_model(model).predict(table.select(["a", "b", "kind"]), weak=table.select(["label"]))
    assert [row["label"] for row in rows_of(tmp_path / "out.jsonl")] == expected.tolist()
    write_table(table.drop_columns(["label"]), tmp_path / "new.csv")
    done = fwl("predict", model, tmp_path / "new.csv", "--with-weak", "--out", tmp_path / "more.csv")
    assert refused(done, f"unknown column of {tmp_path}/new.csv 'label'; known: id, a, b, kind")
    assert not (tmp_path / "more.csv").exists()


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_soft_labels_judge_every_weak_label(classes, tmp_path, ending):
    out = tmp_path / f"soft.{ending}"
    done = fwl("soft-labels", classes[1] / "model", "--out", out)
    assert done.returncode == 0, done.stderr
    table = read_table(out)
    assert table.column_names == [
        *("id", "weak_label", "soft_label", "probability", "uncertainty", "fidelity", "verdict", "doubt", "witnesses")
    ]
    assert table["id"].to_pylist() == ROWS["id"].to_pylist()
    assert table["weak_label"].to_pylist() == ROWS["says"].to_pylist()
    counts = {name: table["verdict"].to_pylist().count(name) for name in ("kept", "corrected", "ignored")}
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    assert done.stdout == f"240 weak rows: {told}\nwritten: {out}\n"
    soft = load_model(classes[1] / "model").soft_labels_[:N]
    assert np.allclose(table["probability"], soft.max(axis=1))
    said = (
        table["witnesses"].to_pylist() if ending != "csv" else [row.split() for row in table["witnesses"].to_pylist()]
    )
    assert {name for names in said for name in names} <= {f"r{i}" for i in range(STRONG)}


def test_numbers_keep_their_scale(numbers, tmp_path):
    done, folder = numbers
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("label: a number, learned by FWL_auto from 40 strong and 240 weak rows")
    assert "annotator 'label' labels 100% of the weak rows and errs by " in done.stdout
    fwl("predict", folder / "model", folder / "weak.tsv", "--out", tmp_path / "out.csv")
    table = read_table(tmp_path / "out.csv")
    assert table.column_names == ["row", "label"]
    assert table["row"].to_pylist() == list(range(1, N + 1))
    assert np.abs(np.array(table["label"]) - np.array(ROWS["number"])).mean() < 0.5
    fwl("soft-labels", folder / "model", "--out", tmp_path / "soft.tsv", "--json")
    soft = read_table(tmp_path / "soft.tsv")
    assert "probability" not in soft.column_names
    assert np.allclose(soft["weak_label"], ROWS["guess"])


def test_texts_are_learned_from_and_rows_named_by_number(tmp_path):
    strong, weak = written(tmp_path, "jsonl", ("text",), "gold", "says")
    done = fit(strong, weak, tmp_path / "model", "--text", "text", "--json")
    summary = json.loads(done.stdout)
    assert summary["roles"] == {"label": "label", "weak_labels": ["label"], "text": "text", "features": [], "id": None}
    assert (summary["task"], summary["classes"], summary["method"]) == ("classify", list(NAMES), "FWL_auto")
    fwl("predict", tmp_path / "model", weak, "--out", tmp_path / "out.csv")
    assert np.mean(np.array(read_table(tmp_path / "out.csv")["label"]) == np.array(ROWS["gold"])) > 0.9


def test_several_annotators_vote_in_parquet(tmp_path):
    rng = np.random.default_rng(1)
    more = [np.where(rng.random(N) < 0.3, None, ROWS["says"].to_pylist()).tolist() for _ in range(2)]
    weak = ROWS.select(["a", "b", "says"]).append_column("second", [more[0]]).append_column("third", [more[1]])
    write_table(weak, tmp_path / "weak.parquet")
    write_table(weak.append_column("label", ROWS["gold"]).slice(0, STRONG), tmp_path / "strong.parquet")
    options = ("--weak-label", "says, second,third", "--combine", "dawid_skene")
    done = fit(tmp_path / "strong.parquet", tmp_path / "weak.parquet", tmp_path / "model", *options)
    assert done.returncode == 0, done.stderr
    assert [line.split("'")[1] for line in done.stdout.splitlines()[1:4]] == ["says", "second", "third"]
    assert " of the 40 labels that it gave to strong rows." in done.stdout
    model = load_model(tmp_path / "model")
    assert model.feature_names_in_.tolist() == ["a", "b"]


def test_classes_that_are_numbers_stay_numbers_and_minus_one_abstains(tmp_path):
    code = {name: place for place, name in enumerate(NAMES)}
    gold, says = ([code[name] for name in ROWS[column].to_pylist()] for column in ("gold", "says"))
    says[5:50] = [-1] * 45
    numbered = ROWS.select(["a", "b"])
    write_table(numbered.append_column("y", [gold]).slice(0, STRONG), tmp_path / "strong.parquet")
    write_table(numbered.append_column("y", pa.chunked_array([[float(x) for x in says]])), tmp_path / "weak.parquet")
    done = fit(tmp_path / "strong.parquet", tmp_path / "weak.parquet", tmp_path / "model", label="y")
    assert "45 without a label" in done.stdout
    fwl("soft-labels", tmp_path / "model", "--out", tmp_path / "soft.parquet")
    soft = read_table(tmp_path / "soft.parquet")
    assert soft["soft_label"].type == pa.int64()
    assert soft["weak_label"].to_pylist()[:6] == [*says[:5], None]


def test_a_filled_suggestion_goes_straight_back(classes, tmp_path):
    folder = classes[1]
    done = fwl("suggest", folder / "model", "-n", 12, "--out", tmp_path / "next.csv")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("12 rows to label, expected to remove ")
    table = read_table(tmp_path / "next.csv")
    assert table.column_names == ["id", "label", "a", "b", "kind", "weak_label", "gain"]
    assert table["label"].null_count == 12
    ids = table["id"].to_pylist()
    assert not set(ids) & {f"r{i}" for i in range(STRONG)}
    truth = dict(zip(ROWS["id"].to_pylist(), ROWS["gold"].to_pylist(), strict=True))
    filled = table.set_column(1, "label", [[truth[id_] if place else None for place, id_ in enumerate(ids)]])
    write_table(filled, tmp_path / "next.csv")
    again = fit(folder / "strong.csv", folder / "weak.csv", tmp_path / "model", "--strong", tmp_path / "next.csv")
    assert again.returncode == 0, again.stderr
    assert "from 51 strong and 240 weak rows; 51 stand in both" in again.stdout
    assert f"note: 1 rows of {tmp_path}/next.csv have no label and are left out" in again.stderr
    fwl("suggest", tmp_path / "model", "-n", 5, "--out", tmp_path / "after.csv")
    assert not set(read_table(tmp_path / "after.csv")["id"].to_pylist()) & set(ids[1:])


def test_a_comparison_ends_in_words_and_keeps_the_winner(files, tmp_path, monkeypatch):
    monkeypatch.setattr(compare_methods, "COMPARED", ("WA", "LR_S", "NN_W->S", "FWL_auto"))
    monkeypatch.setattr(compare_methods, "ON_THE_CURVE", ("NN_W->S", "FWL_auto"))
    monkeypatch.setattr(compare_methods, "WANTED", 1)
    done = fit(*files, tmp_path / "model", "--compare", "--set", "committee=1")
    assert done.returncode == 0, done.stderr
    words = [line for line in done.stdout.splitlines() if line.startswith(("Use ", "Kept: "))]
    assert words[1] == f"Kept: {words[0].split()[1]}."
    assert load_model(tmp_path / "model").method == words[0].split()[1]
    told = fit(*files, tmp_path / "model", "--compare", "--method", "NN_W->S", "--set", "committee=1", "--json")
    summary = json.loads(told.stdout)
    assert summary["method"] == "NN_W->S"
    assert set(summary["comparison"]["scores"]) == {"WA", "LR_S", "NN_W->S", "FWL_auto"}
    assert summary["verdict"]["sentences"]


def test_the_same_command_writes_the_same_bytes(classes, files, tmp_path):
    assert fit(*files, tmp_path / "model").returncode == 0
    assert (tmp_path / "model" / "arrays.safetensors").read_bytes() == (
        classes[1] / "model" / "arrays.safetensors"
    ).read_bytes()


def test_columns_that_are_not_learned_from_are_named(tmp_path):
    strong, weak = written(tmp_path, "csv", ("a", "b"), "gold", "says", extra=("text",))
    table = read_table(weak).append_column("note", [[f"note {i}" for i in range(N)]])
    write_table(table, weak)
    write_table(table.slice(0, STRONG), strong)
    done = fit(strong, weak, tmp_path / "model")
    assert "note: column 'note' is not learned from (240 different texts, none seen 5 times: ids, or free text)" in (
        done.stderr
    )
    assert fit(strong, weak, tmp_path / "model", "--quiet").stderr == ""


def test_weak_rows_that_moved_are_found_again_and_changed_ones_refused(classes, tmp_path):
    folder = shutil.copytree(classes[1], tmp_path / "moved")
    notes = folder / "model" / "manifest.json"
    assert str(classes[1] / "weak.csv") in notes.read_text()
    out = tmp_path / "soft.csv"
    assert fwl("soft-labels", folder / "model", "--weak", folder / "weak.csv", "--out", out).returncode == 0
    with (folder / "weak.csv").open("a") as file:
        file.write('"new",1,1,"u","böse"\n')
    done = fwl("soft-labels", folder / "model", "--weak", folder / "weak.csv", "--out", out)
    assert refused(
        done, f"{folder}/weak.csv is not the file that {folder}/model was fitted on, or was changed; fit again"
    )
    done = fwl("soft-labels", folder / "model", "--weak", folder / "gone.csv", "--out", out)
    assert refused(
        done, f"the weak rows of {folder}/model were in {folder}/gone.csv, which is not there; name it by --weak"
    )


def changed(which, change):
    """A file's table, changed."""

    def apply(strong, weak):
        path = {"strong": strong, "weak": weak}[which]
        write_table(change(read_table(path)), path)

    return apply


def replaced(which, content):
    def apply(strong, weak):
        path = {"strong": strong, "weak": weak}[which]
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return apply


def with_column(name, values):
    """A table with one column anew."""

    def change(table):
        column = [values(row) if callable(values) else values for row in range(table.num_rows)]
        kept = table.drop_columns([name]) if name in table.column_names else table
        return kept.append_column(name, [column])

    return change


def nothing(strong, weak):
    pass


COLUMNS = "known: id, a, b, kind, label"
BAD = {
    "no such strong file": (
        lambda strong, weak: strong.unlink(),
        [],
        "{strong} cannot be opened (No such file or directory); expected a file that can be read",
    ),
    "a folder for a file": (
        lambda strong, weak: (weak.unlink(), weak.mkdir()),
        [],
        "{weak} cannot be opened (Is a directory); expected a file that can be read",
    ),
    "an empty file": (
        replaced("weak", ""),
        [],
        "{weak} is empty; expected a header with the names of the columns, and a row below it",
    ),
    "a header alone": (replaced("strong", "id,a,b,kind,label\n"), [], "{strong} holds no rows; expected at least one"),
    "a broken quote": (
        replaced("weak", 'id,a,b,kind,label\nr1,1,2,u,böse\nr2,1,2,"u,böse\nr3,1,2,v,böse\n'),
        [],
        "{weak}, line 3: the quotes of the row that begins here do not pair (unexpected end of data); close the quote, "
        'or write a quote inside a quoted cell twice ("")',
    ),
    "a row of another length": (
        replaced("weak", "id,a,b,kind,label\nr1,1,2,u,böse\nr2,1,2,böse\n"),
        [],
        '{weak}, line 3: expected 5 cells as in the header, got 4; put quotes (") around cells that hold a separator',
    ),
    "another encoding": (
        replaced("weak", "id,a,b,kind,label\nr1,1,2,u,böse\n".encode("latin-1")),
        [],
        "{weak}, line 2: byte 0xf6 at position 10 is not UTF-8; convert the file to UTF-8, e.g. with iconv -f latin-1 "
        "-t utf-8",
    ),
    "a column twice": (
        replaced("weak", "id,a,a,kind,label\nr1,1,2,u,böse\n"),
        [],
        "{weak}: column 'a' comes twice; give every column a name of its own",
    ),
    "a column without a name": (
        replaced("weak", "id,a,,kind,label\nr1,1,2,u,böse\n"),
        [],
        "{weak}: column 3 has no name; name it in the header",
    ),
    "no such label": (
        changed("strong", lambda table: table.rename_columns(["id", "a", "b", "kind", "lable"])),
        [],
        "unknown column of {strong} 'label'; did you mean 'lable'? known: id, a, b, kind, lable",
    ),
    "no weak label": (
        changed("weak", lambda table: table.drop_columns(["label"])),
        [],
        "{weak} has no column 'label'; name the column of the weak labels by --weak-label (columns: id, a, b, kind)",
    ),
    "a weak label nobody has": (
        nothing,
        ["--weak-label", "label,lbl"],
        f"unknown column of {{weak}} 'lbl'; did you mean 'label'? {COLUMNS}",
    ),
    "a weak label twice": (
        nothing,
        ["--weak-label", "label,label"],
        "--weak-label label,label: a column comes twice; name each annotator's once",
    ),
    "no such text": (
        nothing,
        ["--text", "txt"],
        f"unknown column of {{strong}} 'txt'; {COLUMNS}",
    ),
    "no such feature": (
        nothing,
        ["--features", "a,c"],
        f"unknown column of {{strong}} 'c'; {COLUMNS}",
    ),
    "a feature of one file only": (
        changed("weak", lambda table: table.drop_columns(["b"])),
        ["--features", "a,b"],
        "unknown column of {weak} 'b'; known: id, a, kind, label",
    ),
    "text and features": (
        nothing,
        ["--text", "kind", "--features", "a"],
        "expected --text or --features, got both; a model learns from texts or from a table",
    ),
    "the label as a feature": (
        nothing,
        ["--features", "a,label"],
        "column 'label' cannot be learned from: it is the label, a weak label or the id",
    ),
    "the id as text": (
        nothing,
        ["--id", "kind", "--text", "kind"],
        "column 'kind' cannot be learned from: it is the label, a weak label or the id",
    ),
    "no such id": (nothing, ["--id", "key"], f"unknown column of {{strong}} 'key'; {COLUMNS}"),
    "nothing in common": (
        changed("weak", lambda table: table.select(["id", "label"])),
        [],
        "no column is left to learn from: all files have id, label; expected the same columns in the strong and the "
        "weak file",
    ),
    "an id twice": (
        changed("weak", with_column("id", lambda row: f"r{max(row, 1)}")),
        [],
        "{weak}: id 'r1' stands in rows 1 and 2; give every row an id of its own",
    ),
    "a strong id twice": (
        changed("strong", with_column("id", lambda row: f"r{min(row, 3)}")),
        [],
        "{strong}: id 'r3' stands in rows 4 and 5; give every row an id of its own",
    ),
    "a row without an id": (
        changed("weak", with_column("id", lambda row: f"r{row}" if row != 6 else " ")),
        [],
        "{weak}, row 7: column 'id' is empty; give every row an id, or drop --id",
    ),
    "an id with two meanings": (
        changed("weak", with_column("kind", "w")),
        [],
        "id 'r0' stands for different samples: column 'kind' is '{kind}' in {strong} and 'w' in {weak}; give each "
        "sample an id of its own",
    ),
    "one class": (
        changed("strong", with_column("label", "böse")),
        [],
        "strong labels: expected at least 2 classes, got 1 class ('böse'); label a sample of another class by hand",
    ),
    "no strong label": (
        changed("strong", with_column("label", "")),
        [],
        "no row of {strong} has a label in column 'label'; fill some in",
    ),
    "every label another": (
        changed("strong", with_column("label", lambda row: f"label {row}")),
        [],
        "column 'label' holds 40 different labels in 40 rows; expected classes: name another column by --label, or "
        "give --task regress if these are numbers",
    ),
    "all abstain": (
        changed("weak", with_column("label", "")),
        [],
        "no sample of the weak set can be learned from: the annotator abstains everywhere, or labels strong samples "
        "only; give weak labels for others too",
    ),
    "an unknown weak class": (
        changed("weak", with_column("label", lambda row: "meh" if row == 9 else "böse")),
        [],
        "{weak}: weak labels 'meh' are not among the strong ones ('böse', 'very good'); map each with --map "
        "'meh=böse', or --map 'meh=' for an abstention, or label a row of it by hand",
    ),
    "a map without a class": (nothing, ["--map", "meh"], "--map meh: expected WEAK=CLASS, or WEAK= for an abstention"),
    "a map to no class": (
        nothing,
        ["--map", "meh=bose"],
        "unknown class in --map meh=bose: 'bose'; did you mean 'böse'? known: böse, very good",
    ),
    "numbers wanted, texts found": (
        nothing,
        ["--task", "regress"],
        "{strong}: column 'label': expected numbers, got 'very good'",
    ),
    "a number too large": (
        lambda strong, weak: [
            changed("weak", with_column("label", lambda row: 0.5 * row))(strong, weak),
            changed("strong", with_column("label", lambda row: float("inf") if row == 3 else 0.5 * row))(strong, weak),
        ],
        [],
        "{strong}: column 'label': infinity in 1 of 40 rows (row 3); fix them",
    ),
    "weak texts for strong numbers": (
        changed("strong", with_column("label", lambda row: 0.5 * row)),
        [],
        "{weak}: column 'label': expected numbers, got 'very good'",
    ),
    "mixed kinds in a feature": (
        changed("weak", with_column("a", lambda row: "much" if row == 70 else str(row))),
        ["--id", "id"],
        "{weak}, row 71: column 'a': expected a number, as in {strong}, got 'much'; correct the cell, or leave it "
        "empty",
    ),
    "mixed kinds in a strong feature": (
        changed("strong", with_column("b", lambda row: "n/a?" if row == 3 else str(row))),
        ["--features", "b"],
        "{strong}, row 4: column 'b': expected a number, as in {weak}, got 'n/a?'; correct the cell, or leave it empty",
    ),
    "an id with two texts": (
        changed("weak", with_column("kind", "another text")),
        ["--text", "kind"],
        "id 'r0' stands for different samples: column 'kind' is '{kind}' in {strong} and 'another text' in {weak}; "
        "give each sample an id of its own",
    ),
    "free text alone": (
        lambda strong, weak: [
            changed(which, lambda table: with_column("say", lambda row: f"text {row}")(table).select(["say", "label"]))(
                strong, weak
            )
            for which in ("strong", "weak")
        ],
        [],
        "no column can be learned from (say: 240 different texts, none seen 5 times: ids, or free text); a column of "
        "texts is learned from with --text",
    ),
    "no such task": (nothing, ["--task", "rank"], "unknown task 'rank'; known: auto, classify, regress"),
    "no such method": (nothing, ["--method", "FLW"], None),
    "no such student": (
        nothing,
        ["--student", "percepton"],
        "unknown student 'percepton'; did you mean 'perceptron'? known: "
        "auto, perceptron, text_cnn, encoder, tuned_encoder",
    ),
    "a student of texts": (
        nothing,
        ["--student", "text_cnn"],
        "student='text_cnn' reads texts; give a list of texts, without a sentence encoder",
    ),
    "no texts to encode": (
        nothing,
        ["--student", "encoder"],
        "--student encoder reads texts: name their column by --text",
    ),
    "no texts to tune an encoder on": (
        nothing,
        ["--student", "tuned_encoder"],
        "--student tuned_encoder reads texts: name their column by --text",
    ),
    "an encoder for numbers": (
        nothing,
        ["--encoder", "here"],
        "encoder: a sentence encoder reads texts, got samples of another kind (table)",
    ),
    "no such teacher": (
        nothing,
        ["--teacher", "exakt"],
        "unknown teacher 'exakt'; did you mean 'exact'? known: auto, exact, clustered",
    ),
    "no such combination": (
        nothing,
        ["--combine", "mean"],
        "unknown way to combine votes 'mean'; known: majority, dawid_skene",
    ),
    "a beta below zero": (nothing, ["--beta", "-1"], "--beta -1: expected auto, or a number from 0 up"),
    "a seed below zero": (nothing, ["--seed", "-1"], "a seed is a whole number from 0 up, got -1"),
    "no such setting": (
        nothing,
        ["--set", "comittee=1"],
        None,
    ),
    "a setting that is no number": (
        nothing,
        ["--set", "committee=two"],
        "--set committee=two: expected a number, such as 4",
    ),
    "a setting without a value": (nothing, ["--set", "committee"], "--set committee: expected key=value"),
}
BEGINS = {
    "no such method": "unknown method 'FLW'; did you mean 'FWL'? known: NN_W, ",
    "no such setting": "unknown setting 'comittee'; did you mean 'committee'? known: ",
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_in_words_and_nothing_is_lost(case, files, tmp_path):
    break_, options, message = BAD[case]
    kind = ROWS["kind"][0].as_py()
    break_(*files)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    done = fit(*files, tmp_path / "model", *options)
    if message is None:
        assert done.returncode == 2
        assert done.stderr.startswith(f"error: {BEGINS[case]}")
        assert len(done.stderr.splitlines()) == 1
    else:
        assert refused(done, message.format(strong=files[0], weak=files[1], kind=kind))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    assert not (tmp_path / "model").exists()


def test_unusual_but_sound_tables_are_learned_from(files, tmp_path):
    """Labels with spaces around them, a class mapped, an enormous cell, empty cells, a file packed by gzip."""
    strong, weak = files
    table = read_table(weak)
    labels = [f"  {name} " for name in table["label"].to_pylist()]
    labels[60:70] = ["meh"] * 10
    b = [None if row % 7 == 0 else x for row, x in enumerate(table["b"].to_pylist())]
    b[:STRONG] = table["b"].to_pylist()[:STRONG]
    table = with_column("b", b.__getitem__)(with_column("label", labels.__getitem__)(table))
    kinds = table["kind"].to_pylist()
    kinds[100] = "x" * 10_000_000
    write_table(with_column("kind", kinds.__getitem__)(table), weak)
    done = fit(strong, weak, tmp_path / "model", "--map", "meh=")
    assert done.returncode == 0, done.stderr
    assert "240 weak rows, 10 without a label; 40 stand in both." in done.stdout


def test_a_text_of_ten_megabytes_is_learned_from(tmp_path):
    strong, weak = written(tmp_path, "csv", ("text",), "gold", "says")
    texts = read_table(weak)["text"].to_pylist()
    texts[100] = "very " * 2_000_000
    write_table(with_column("text", texts.__getitem__)(read_table(weak)), weak)
    done = fit(strong, weak, tmp_path / "model", "--text", "text", "--method", "NN_W")
    assert done.returncode == 0, done.stderr


def test_strong_rows_need_not_stand_in_the_weak_file(files, tmp_path):
    strong, weak = files
    write_table(read_table(weak).slice(STRONG), weak)
    done = fit(strong, weak, tmp_path / "model")
    assert done.returncode == 0, done.stderr
    assert "learned by FWL_auto from 40 strong and 200 weak rows.\n" in done.stdout


def test_codes_that_are_numbers_in_one_file_are_categories_with_the_others(files, tmp_path):
    strong, weak = files
    codes = [("7", "12", "K1", "K2", "K3")[row % 5] for row in range(N)]
    write_table(with_column("kind", codes.__getitem__)(read_table(weak)), weak)
    rows = [row for row in range(STRONG) if codes[row].isdigit()]
    few = with_column("kind", codes.__getitem__)(read_table(strong)).take(rows)
    write_table(few, strong)
    done = fit(strong, weak, tmp_path / "model")
    assert done.returncode == 0, done.stderr
    assert "16 stand in both" in done.stdout


def test_a_model_is_no_place_for_other_files_and_other_files_no_model(files, classes, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "work").write_text("mine")
    message = f"{tmp_path}/own exists and is not a saved model; name another folder, or remove it first"
    assert refused(fit(*files, tmp_path / "own"), message)
    assert (tmp_path / "own" / "work").read_text() == "mine"
    done = fit(*files, files[0] / "model")
    message = f"cannot write the model to {files[0]}/model ({files[0]} is not a folder); name another folder"
    assert refused(done, message)
    out = tmp_path / "out.csv"
    for command in (("predict", tmp_path / "own", files[1]), ("soft-labels", tmp_path / "own")):
        assert refused(fwl(*command, "--out", out), f"{tmp_path}/own is not a saved model: it has no manifest.json")
    model = classes[1] / "model"
    assert refused(
        fwl("predict", model, files[1], "--out", tmp_path / "out.xls"),
        f"{tmp_path}/out.xls: cannot tell what kind of table this is; expected a name that ends in .csv, .tsv, .jsonl, "
        ".ndjson, .parquet, .pq",
    )
    gone = tmp_path / "gone" / "out.csv"
    message = f"cannot write {gone} (there is no folder {gone.parent}); make it, or name another file"
    for command in (("predict", model, files[1]), ("soft-labels", model), ("suggest", model)):
        assert refused(fwl(*command, "--out", gone), message)
    message = "-n 201: expected at most 200, the weak rows that have no strong label yet"
    assert refused(fwl("suggest", model, "-n", 201, "--out", out), message)
    assert not out.exists()


def test_a_damaged_model_is_refused(classes, tmp_path):
    model = shutil.copytree(classes[1] / "model", tmp_path / "model")
    arrays = model / "arrays.safetensors"
    arrays.write_bytes(arrays.read_bytes()[:-8])
    done = fwl("predict", model, classes[1] / "weak.csv", "--out", tmp_path / "out.csv")
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {arrays} has ")
    assert not (tmp_path / "out.csv").exists()


def test_new_rows_of_another_shape_are_refused(classes, tmp_path):
    model = classes[1] / "model"
    write_table(ROWS.select(["id", "a", "kind"]), tmp_path / "new.csv")
    done = fwl("predict", model, tmp_path / "new.csv", "--out", tmp_path / "out.csv")
    assert refused(done, f"unknown column of {tmp_path}/new.csv 'b'; known: id, a, kind")
    texts = with_column("a", lambda row: "much" if row == 3 else str(row))(ROWS.select(["b", "kind"]))
    write_table(texts, tmp_path / "new.csv")
    done = fwl("predict", model, tmp_path / "new.csv", "--out", tmp_path / "out.csv")
    assert refused(done, "column 'a': expected numbers, got 'much'")
    assert [path.name for path in tmp_path.iterdir()] == ["new.csv"]
