"""The benchmarks of verdicts and of the label loop, on a small set that is made here."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks import label_loop, reach, verdicts
from benchmarks.weak_sets import read_tweets
from benchmarks.weak_tables import CHOOSING, REPORTING, TABLES, mistakes, read_table

GOOD, BAD = ("lovely", "fine", "great"), ("awful", "poor", "broken")
OTHERS = ("the", "a", "parcel", "came", "today", "again", "shop", "box")


@pytest.fixture
def folder(tmp_path):
    """Comments of one good or bad word among others; annotators know a third of the words each, or err."""
    (tmp_path / "youtube").mkdir()
    rng = np.random.default_rng(0)
    for part, n in (("train", 160), ("test", 60)):
        rows = {}
        for i in range(n):
            label = int(rng.integers(2))
            word = str(rng.choice((BAD, GOOD)[label]))
            text = " ".join([*rng.choice(OTHERS, size=4).tolist(), word])
            votes = [label if rng.random() < 0.8 else 1 - label, -1 if rng.random() < 0.5 else label]
            rows[str(i)] = {"data": {"text": text}, "label": label, "weak_labels": votes}
        (tmp_path / "youtube" / f"{part}.json").write_text(json.dumps(rows))
    return tmp_path


KEPT = "what the verdict kept"


def quick(monkeypatch, module):
    small = {"pretrain_steps": 30, "finetune_steps": 30, "committee": 1}
    whole = module.FWLClassifier
    monkeypatch.setattr(module, "FWLClassifier", lambda **given: whole(**{**given, **small}))


def test_a_verdict_is_held_against_the_test_rows(folder, monkeypatch, capsys):
    quick(monkeypatch, verdicts)
    out = folder / "verdicts.json"
    verdicts.main(["--data", str(folder), "--sets", "youtube", "--draws", "1", "--workers", "1", "--json", str(out)])
    rows, (draw,) = json.loads(out.read_text()), json.loads((folder / "verdicts-draws.json").read_text())
    assert [row["method"] for row in rows] == [*draw["on_test"], KEPT]
    assert rows[-1]["test accuracy"] == draw["on_test"][draw["kept"]]
    assert draw["regret"] == pytest.approx(max(draw["on_test"].values()) - draw["on_test"][draw["kept"]])
    assert draw["holds"] == (draw["regret"] <= draw["error"])
    assert (rows[-1]["holds in"], rows[-1]["stands in"]) == (draw["holds"], draw["stands"])
    assert (rows[-1]["called worse"], rows[-1]["rightly"]) == (len(draw["called worse"]), len(draw["rightly"]))
    assert f"the verdict holds in {int(draw['holds'])} of 1 draws" in capsys.readouterr().out


def test_a_method_is_rightly_called_worse_where_it_is_not_ahead():
    rows = np.arange(100)
    right = {"FWL_auto": rows < 50, "NN_W": rows < 40, "NN_S": rows < 60, "LR_S": rows >= 50, "FWL": rows < 70}
    verdict = SimpleNamespace(kept="FWL_auto", called_worse=("WA", "NN_W", "NN_S", "LR_S"), leads=(), sentences=())
    compared = SimpleNamespace(verdict=verdict, comparison=SimpleNamespace(scores={}))
    outcome = verdicts.outcome(compared, right)
    assert (outcome["best"], outcome["holds"]) == ("FWL", False)
    assert outcome["called worse"] == ["NN_W", "NN_S", "LR_S"]  # the annotator is not tested
    assert outcome["rightly"] == ["NN_W", "LR_S"]
    assert outcome["would hold"] == ["FWL"]
    assert not outcome["stands"]  # NN_S is called worse and is ahead by 10 points
    verdict.called_worse = ("NN_W", "LR_S")
    assert verdicts.outcome(compared, right)["stands"]  # FWL is further ahead, but was not called worse
    flat = verdicts.flat_rows("toy", [{"set": "toy", **outcome}] * 2)
    assert {row["method"]: row["holds in"] for row in flat} == {**dict.fromkeys(right, 0), "FWL": 2, KEPT: 0}


def test_both_ways_of_labelling_start_alike(folder, monkeypatch, capsys):
    quick(monkeypatch, label_loop)
    for name, few in (("START", 6), ("ROUNDS", 1), ("MORE", 4)):
        monkeypatch.setattr(label_loop, name, few)
    out = folder / "loop.json"
    label_loop.main(["--data", str(folder), "--sets", "youtube", "--draws", "2", "--workers", "1", "--json", str(out)])
    rows = json.loads(out.read_text())
    assert [row["weak labels"] for row in rows] == ["read", "read", "not read", "not read"]
    for suggested, any_rows in (rows[:2], rows[2:]):
        assert (suggested["rows"], any_rows["rows"]) == ("suggested", "random")
        assert suggested["6"] == any_rows["6"]
        assert suggested["area"] == pytest.approx((suggested["6"] + suggested["10"]) / 2)
    assert rows[0]["6"] > rows[2]["6"]  # annotators are right more often than not
    assert capsys.readouterr().out.count("of 2 draws ahead") == 2


def both_ways(suggested, random):
    """Curves of both ways of labelling, alike whether weak labels are read or not."""
    return {"suggested": {"read": suggested, "not read": suggested}, "random": {"read": random, "not read": random}}


def test_draws_that_are_stored_are_not_run_again(folder, monkeypatch):
    out, beside = folder / "loop.json", folder / "loop-draws.json"

    def quickly(data, seed, encoder):
        return {**both_ways([0.5, 0.6 + 0.1 * seed], [0.5, 0.5]), "ran": seed}

    monkeypatch.setattr(label_loop, "compared", quickly)
    call = ["--data", str(folder), "--sets", "youtube", "--workers", "1", "--json", str(out)]
    label_loop.main([*call, "--draws", "2"])
    first = [{**row, "ran": "before"} for row in json.loads(beside.read_text())]
    beside.write_text(json.dumps(first))
    label_loop.main([*call, "--draws", "3", "--resume"])
    assert [row["ran"] for row in json.loads(beside.read_text())] == ["before", "before", 2]
    assert json.loads(out.read_text())[0]["ahead in"] == 3
    label_loop.main([*call, "--draws", "2"])
    assert [row["ran"] for row in json.loads(beside.read_text())] == [0, 1]


def test_a_draw_that_fails_loses_no_other(folder, monkeypatch):
    def second_fails(data, seed, encoder):
        if seed == 1:
            raise ZeroDivisionError
        return both_ways([0.5], [0.5])

    monkeypatch.setattr(label_loop, "compared", second_fails)
    with pytest.raises(ZeroDivisionError):
        label_loop.main(
            ["--data", str(folder), "--sets", "youtube", "--workers", "1", "--json", str(folder / "loop.json")]
        )
    assert [row["draw"] for row in json.loads((folder / "loop-draws.json").read_text())] == [0]
    assert not (folder / "loop.json").exists()


def test_with_how_many_labels_fwl_leads_is_held_against_the_test_rows(folder, monkeypatch, capsys):
    quick(monkeypatch, reach)
    monkeypatch.setattr(reach, "DOUBLINGS", 3)
    out = folder / "reach.json"
    reach.main(["--data", str(folder), "--sets", "youtube", "--draws", "1", "--workers", "1", "--json", str(out)])
    rows, (draw,) = json.loads(out.read_text()), json.loads((folder / "reach-draws.json").read_text())
    assert [row["strong labels"] for row in rows] == [10, 20, 40]
    assert draw["told"]["sizes"] == [10, 20, 40]
    for row in rows:
        tested = draw["on_test"][str(row["strong labels"])]
        assert set(tested) == {"LR_S", "NN_W->S", "NN_W->Sx4", "FWL_auto", "FWL_auto+W"}
        assert (row["FWL_auto+W"], row["its accuracy"]) == (tested["FWL_auto+W"], tested[row["best other"]])
        assert row["its accuracy"] == max(tested[name] for name in ("LR_S", "NN_W->S", "NN_W->Sx4"))
        lead = row["FWL_auto+W"] - row["its accuracy"]
        assert row["guessed right"] == (reach.guessed_to_lead(draw["told"], row["strong labels"]) == (lead >= 0.005))
    assert "youtube     40 labels" in capsys.readouterr().out


def test_what_a_comparison_says_of_a_number_of_labels():
    told = {"believed": [10, None], "probably": [10, 40], "probably_behind_from": 300}
    assert [reach.said_to_lead(told, labels) for labels in (10, 40, 41, 299, 300)] == [True, True, None, None, False]
    assert [reach.guessed_to_lead(told, labels) for labels in (9, 10, 10**6)] == [False, True, True]
    silent = {"believed": None, "probably": None, "probably_behind_from": None}
    assert reach.said_to_lead(silent, 10) is None
    assert not reach.guessed_to_lead(silent, 10)


def test_a_tie_that_rounding_hides_is_not_ahead():
    gain = np.array([0.1 + 0.2 - 0.3, 0.01, -0.01])
    assert gain[0] > 0
    assert label_loop.draws_ahead(gain) == 1


def test_tweets_come_with_what_the_lexicon_finds_most_of(tmp_path):
    synsets = "a\t1\t0.75\t0\tlovely#1\nn\t2\t0\t0.75\tmess#1\n"
    (tmp_path / "SentiWordNet_3.0.0.tsv").write_text("# POS\tID\tPosScore\tNegScore\tSynsetTerms\n" + synsets)
    (tmp_path / "semeval").mkdir()
    for part, rows in (
        ("2013train", "1\tpositive\tlovely day\n2\tnegative\tlovely mess , a mess\n"),
        ("2013dev", "3\tneutral\tmonday\n"),
        ("2014test", "4\tnegative\twhat a mess\n"),
    ):
        (tmp_path / "semeval" / f"{part}.tsv").write_text(rows)
    data = read_tweets(tmp_path)
    assert data.train.samples == ["lovely day", "lovely mess , a mess", "monday"]
    assert data.train.truth.tolist() == ["positive", "negative", "neutral"]
    assert data.train.weak.tolist() == ["positive", "negative", "neutral"]
    assert (data.test.weak.tolist(), data.test.truth.tolist()) == (["negative"], ["negative"])


@pytest.fixture
def tables(tmp_path):
    """Every table that is asked for, as KEEL writes one: a number and a word that tell the class, and noise."""
    rng = np.random.default_rng(0)
    for name in (*CHOOSING, *REPORTING):
        rows = [(x, "high" if x > 0 else "low", z, int(x > 0)) for x, z in rng.normal(size=(400, 2)).round(3)]
        lines = ["@relation made", "@data", *(", ".join(map(str, row)) for row in rows)]
        (tmp_path / f"{name}.dat").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_a_table_has_numbers_words_and_the_class_last(tables):
    X, truth = read_table(tables / "wdbc.dat")
    assert X.dtypes.map(lambda kind: kind.kind).tolist() == ["f", "O", "f"]
    assert ((X["column 0"] > 0) == (truth == "class 1")).all()
    assert ((X["column 1"] == "high") == (truth == "class 1")).all()


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_draw_of_tables_is_apart_in_its_rows_and_alike_each_time(tables, name):
    drawn, again = (TABLES[name](tables).drawn(3) for _ in range(2))
    parts = (drawn.strong, drawn.weak, drawn.test)
    assert [len(part) for part in parts] == [100, 400 - 60 - 100 - 113, 113]
    assert len({tuple(row) for part in parts for row in part.X.to_numpy().tolist()}) == 400 - 60
    assert drawn.weak.weak.tolist() == again.weak.weak.tolist()
    assert TABLES[name](tables).for_choosing().drawn(3).test.X.shape == drawn.test.X.shape


def test_mistakes_have_no_pattern_and_are_three_of_ten():
    truth = np.repeat(np.array(["a", "b", "c"], dtype=object), 2000)
    said = mistakes(np.zeros((6000, 1)), truth, np.arange(60), np.random.default_rng(0))
    assert np.mean(said != truth) == pytest.approx(0.3, abs=0.02)
    wrong = said[(truth == "a") & (said != "a")]
    assert np.mean(wrong == "b") == pytest.approx(0.5, abs=0.05)


def test_a_verdict_on_tables_is_held_against_the_test_rows(tables, monkeypatch, capsys):
    quick(monkeypatch, verdicts)
    verdicts.main(["--data", str(tables), "--sets", "tables-rules", "--draws", "1", "--workers", "1"])
    assert "tables-rules: the verdict holds in" in capsys.readouterr().out
