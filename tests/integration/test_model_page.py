"""`fwl report` on a user's own model, and its page in a real browser."""

import csv
import shutil

import pytest
from tests.browser import DESK, PHONE, browser, needs_chromium
from tests.commands import fwl, refused
from tests.integration.test_own_data_commands import ROWS, STRONG, TABLE, fit, written
from tests.unit.report.stories import HOSTILE, doubted, rows, story

from fwl.estimators import load_model
from fwl.learn import compare_methods
from fwl.report.model_page import write_model_page
from fwl.tables import read_table

LONG = "x" * 2_000_000


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A model of texts, compared, some of which are hostile or far too long."""
    folder = tmp_path_factory.mktemp("texts")
    texts = ROWS["text"].to_pylist()
    texts[STRONG] += f" {HOSTILE}"
    texts[STRONG + 1] += f" {LONG}"
    for name, label, end in (("strong", "gold", STRONG), ("weak", "says", None)):
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow(["id", "text", "label"])
            out.writerows(zip(ROWS["id"].to_pylist()[:end], texts[:end], ROWS[label].to_pylist()[:end], strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compare_methods, "COMPARED", ("LR_S", "NN_W->S", "FWL_auto"))
        patch.setattr(compare_methods, "ON_THE_CURVE", ("NN_W->S", "FWL_auto"))
        patch.setattr(compare_methods, "WANTED", 1)
        options = ("--text", "text", "--compare", "--set", "committee=1")
        done = fit(folder / "strong.csv", folder / "weak.csv", folder / "model", *options)
    assert done.returncode == 0, done.stderr
    return done, folder


def copied(folder, to):
    """The model and its weak file, moved: what it noted of them still holds."""
    return shutil.copytree(folder / "model", to / "model")


def test_a_compared_model_becomes_a_page_that_says_what_fit_said(fitted):
    done, folder = fitted
    page = folder / "model" / "report.html"
    told = fwl("report", folder / "model")
    assert (told.returncode, told.stdout) == (0, f"{page}\n"), told.stderr
    text = page.read_text(encoding="utf-8")
    (use,) = (line for line in done.stdout.splitlines() if line.startswith("Use "))
    assert use.replace(">", "&gt;") in text
    assert text.index("Verdict") < text.index("Methods compared") < text.index("Learning curves")
    assert "on the strong rows that each fold left out" in text
    assert HOSTILE not in text
    assert len(text) < 1_000_000
    assert load_model(folder / "model").method in text


def test_the_doubted_rows_are_those_of_soft_labels(fitted, tmp_path):
    folder = fitted[1]
    assert fwl("soft-labels", folder / "model", "--out", tmp_path / "soft.parquet").returncode == 0
    soft = [row for row in read_table(tmp_path / "soft.parquet").to_pylist() if row["verdict"] != "kept"]
    expected = [row["id"] for row in sorted(soft, key=lambda row: -row["doubt"])[:5]]
    fwl("report", folder / "model", "--rows", 5, "--out", tmp_path / "page.html")
    table = (tmp_path / "page.html").read_text(encoding="utf-8").split('id="doubted"')[1].split("</table>")[0]
    cells = [row.split("</td>")[0].split(">")[-1] for row in table.split("<tr data-verdict")[1:]]
    assert cells == expected


def test_a_page_does_not_keep_a_model_from_being_replaced(tmp_path):
    strong, weak = written(tmp_path, "csv", TABLE, "gold", "says")
    assert fit(strong, weak, tmp_path / "model").returncode == 0
    assert fwl("report", tmp_path / "model").returncode == 0
    text = (tmp_path / "model" / "report.html").read_text(encoding="utf-8")
    assert "no comparison was run" in text
    assert "The teacher on each strong row without that row" in text
    assert "<dt>beta</dt>" in text
    assert fit(strong, weak, tmp_path / "model").returncode == 0
    assert not (tmp_path / "model" / "report.html").exists()  # it was the old model's


def test_numbers_are_told_on_their_own_scale(tmp_path):
    strong, weak = written(tmp_path, "tsv", ("a", "b"), "number", "guess")
    assert fit(strong, weak, tmp_path / "model").returncode == 0
    done = fwl("report", tmp_path / "model", "--out", tmp_path / "page.html")
    assert done.stdout == f"{tmp_path}/page.html\n", done.stderr
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "errs by " in text
    assert "what it predicts against what is true" in text
    assert "probability" not in text


def test_without_the_weak_file_the_page_says_so_and_a_moved_one_is_named(fitted, tmp_path):
    folder = fitted[1]
    model, weak = copied(folder, tmp_path), folder / "weak.csv"
    moved = shutil.move(weak, tmp_path / "moved.csv")
    try:
        assert fwl("report", model).returncode == 0
        text = (model / "report.html").read_text(encoding="utf-8")
        assert f"the weak rows of {model} were in {weak}, which is not there; name it by --weak." in text
        assert "Fidelity of the weak rows" in text
        assert fwl("report", model, "--weak", moved).returncode == 0
        assert "Missing." not in (model / "report.html").read_text(encoding="utf-8")
        (tmp_path / "other.csv").write_text("id,text,label\n")
        assert refused(
            fwl("report", model, "--weak", tmp_path / "other.csv"),
            f"{tmp_path}/other.csv is not the file that {model} was fitted on, or was changed; fit again",
        )
    finally:
        shutil.move(moved, weak)


def test_what_is_neither_a_run_nor_a_model_is_refused(fitted, tmp_path):
    ending = (
        "is neither a run (it has no results.json) nor a model (no manifest.json); expected a folder that "
        "`fwl reproduce EXPERIMENT --out DIR` or `fwl fit --out DIR` wrote"
    )
    assert refused(fwl("report", tmp_path), f"{tmp_path} {ending}")
    assert refused(fwl("report", fitted[1] / "weak.csv"), f"{fitted[1]}/weak.csv {ending}")
    (tmp_path / "manifest.json").write_text("{}")
    assert refused(
        fwl("report", tmp_path),
        f"{tmp_path}/manifest.json cannot be read; it is truncated or no manifest of a model",
    )
    page = tmp_path / "none" / "page.html"
    assert refused(
        fwl("report", fitted[1] / "model", "--out", page),
        f"cannot write {page} (there is no folder {page.parent}); make it, or name another file",
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A browser for all tests of this file."""
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A page of made-up rows, one of them hostile."""
    given = rows()
    given[4][1] = HOSTILE
    return write_model_page(story(doubted=doubted(rows=given)), tmp_path_factory.mktemp("page") / "made.html")


def opened(page, path, size):
    """The page anew, and a check of what every page promises."""
    page.open(path, size)
    assert page.complaints == []
    assert page.requests == [path.as_uri()]
    assert page.run("document.title").startswith("fwl: ")  # no script of the data's ran
    return page


def column(page, name, table="doubted"):
    """The texts of a column, of rows that are shown."""
    return page.run(
        f"(() => {{ const table = document.getElementById('{table}');"
        f"const at = [...table.tHead.rows[0].cells].findIndex((cell) => cell.textContent.trim() === '{name}');"
        "return [...table.tBodies[0].rows].filter((row) => row.offsetParent !== null)"
        ".map((row) => row.cells[at].textContent.trim()); })()"
    )


def focus(page, selector):
    page.run(f"document.querySelector({selector!r}).focus()")


@needs_chromium
@pytest.mark.parametrize("size", [PHONE, DESK])
def test_no_page_is_wider_than_the_window_nor_asks_for_anything(page, made, fitted, size):
    fwl("report", fitted[1] / "model")
    for path in (made, fitted[1] / "model" / "report.html"):
        opened(page, path, size)
        wide = "[document.documentElement.scrollWidth <= document.documentElement.clientWidth, scrollX]"
        assert page.run(f"(scrollTo(9999, 0), {wide})") == [True, 0]
        boxes = "[...document.querySelectorAll('.scroll')].map((box) => box.getBoundingClientRect().right)"
        assert all(right <= size[0] for right in page.run(boxes))


@needs_chromium
def test_columns_are_sorted_by_clicks_and_by_keys_and_gaps_come_last(page, made):
    opened(page, made, DESK)
    assert column(page, "doubt") == sorted(column(page, "doubt"), reverse=True)
    press = "[...document.querySelectorAll('#doubted th button')].find((b) => b.textContent === '{}')"
    page.run(press.format("length") + ".click()")
    assert column(page, "length") == sorted(filter(None, column(page, "length")), key=int, reverse=True) + [""] * 10
    page.run(press.format("length") + ".focus()")
    page.press("Enter")
    assert column(page, "length") == sorted(filter(None, column(page, "length")), key=int) + [""] * 10
    sorts = "[...document.querySelectorAll('#doubted th[aria-sort]')].map((h) => [h.textContent.trim(), h.ariaSort])"
    assert page.run(sorts) == [["length", "ascending"]]
    page.run(press.format("id") + ".focus()")
    page.press(" ")
    assert column(page, "id") == [f"r{i}" for i in range(30)]  # r2 before r10
    page.run("document.querySelector('#methods th button').click()")
    assert [name.split()[0] for name in column(page, "method", "methods")] == ["FWL_auto", "LR_S", "NN_W->S"]


@needs_chromium
def test_rows_are_searched_and_filtered(page, made):
    opened(page, made, PHONE)
    told = "document.getElementById('found').textContent"
    assert page.run(told) == "30 rows"
    focus(page, "#search")
    page.write("ODD comment")
    assert column(page, "id") == [f"r{i}" for i in range(1, 30, 2)]
    assert page.run(told) == "15 of 30 rows"
    page.run(
        "{ const v = document.getElementById('verdict'); v.value = 'ignored'; v.dispatchEvent(new Event('change')); }"
    )
    assert column(page, "id") == [f"r{i}" for i in range(3, 30, 6)]
    assert page.run(told) == "5 of 30 rows"
    page.run(
        "{ const s = document.getElementById('search'); s.value = '<script>'; s.dispatchEvent(new Event('input')); }"
    )
    assert page.run(told) == "0 of 30 rows"
    page.run("{ const v = document.getElementById('verdict'); v.value = ''; v.dispatchEvent(new Event('change')); }")
    assert column(page, "id") == ["r4"]
    assert page.complaints == []


@needs_chromium
def test_every_control_can_be_reached_by_the_keyboard(page, made):
    opened(page, made, DESK)
    place = "[...document.querySelectorAll('button, input, select, summary, .scroll')]"
    wanted = page.run(f"{place}.length")
    seen = set()
    for _ in range(wanted + 2):
        page.press("Tab")
        seen.add(page.run(f"{place}.indexOf(document.activeElement)"))
    assert set(range(wanted)) <= seen


@needs_chromium
def test_the_page_is_dark_where_dark_is_asked_for(page, made):
    ground = "getComputedStyle(document.body).backgroundColor"
    page.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    opened(page, made, DESK)
    assert page.run(ground) == "rgb(15, 19, 24)"
    page.ask("Emulation.setEmulatedMedia", features=[])
    assert page.run(ground) == "rgb(251, 251, 253)"
