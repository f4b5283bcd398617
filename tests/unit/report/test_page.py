import re
from html.parser import HTMLParser

from tests.unit.report.examples import PROVENANCE, metrics_result, panel_result, row, table_result

from fwl.report.page import claims, named_settings, render_page, write_report

SVG = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"></svg>'


class Outside(HTMLParser):
    """Collects everything a page would fetch."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        found = [v for k, v in attrs if k in {"src", "href", "data"} and v and not v.startswith(("#", "data:"))]
        self.found += found + ([tag] if tag in {"script", "link", "iframe"} else [])


def test_the_page_needs_no_other_file(tmp_path):
    write_report(panel_result(), tmp_path)
    reader = Outside()
    reader.feed((tmp_path / "report.html").read_text())
    assert reader.found == []


def test_what_a_user_typed_is_escaped():
    page = render_page(table_result(settings={"weak": "<script>alert(1)</script>"}), SVG)
    assert "<script>" not in page
    assert "The &lt;toy&gt;" in page


def test_the_page_shows_table_claims_settings_and_every_value():
    page = re.sub(r"\s+", " ", render_page(table_result(), SVG))
    for text in ("0.4143", "▲ 1", "0.3000 0.5000", "beta", "<svg", "What holds"):
        assert text in page


def test_claims_follow_the_papers_order_and_say_when_it_does_not_hold():
    (claim,) = claims(table_result())
    assert claim == (
        "The paper has FWL better than NN_W (0.4143 against 0.8406): here that holds, "
        "0.4000 against 0.8500 (p = 0.01, corrected)."
    )
    turned = table_result(rows=(row("NN_W", 0.2, paper=0.8406), row("FWL", 0.4, paper=0.4143)))
    assert claims(turned)[0].endswith("here that does not hold, 0.4000 against 0.2000.")


def test_claims_name_their_data_where_there_are_several():
    rows = [row(m, v, paper=p, dataset=d) for d in ("a", "b") for m, v, p in (("NN_W", 0.9, 0.8), ("FWL", 0.3, 0.4))]
    assert [claim[:13] for claim in claims(table_result(rows=tuple(rows)))] == ["a: The paper ", "b: The paper "]


def test_claims_and_rows_name_their_metric_where_there_are_several():
    rows = [
        row(m, v, paper=p, metric=metric, lower=metric == "rmse")
        for metric, values in (("rmse", (0.9, 0.3)), ("accuracy", (0.3, 0.9)))
        for (m, p), v in zip((("NN_W", values[0]), ("FWL", values[1])), values, strict=True)
    ]
    result = table_result(rows=tuple(rows))
    said = claims(result)
    assert [claim.split(": The paper has ")[0] for claim in said] == ["toy: rmse", "toy: accuracy"]
    assert all("The paper has FWL better than NN_W" in claim and "here that holds" in claim for claim in said)
    page = render_page(metrics_result(), SVG)
    assert "toy: rmse" in page
    assert "classes: accuracy" in page


def test_claims_know_when_higher_is_better():
    rows = (row("NN_W", 0.5, paper=0.5, lower=False), row("FWL", 0.7, paper=0.6, lower=False))
    assert claims(table_result(rows=rows))[0].startswith(
        "The paper has FWL better than NN_W (0.6 against 0.5): here that holds"
    )


def test_a_result_without_figures_of_the_paper_claims_nothing():
    assert claims(table_result(rows=(row("FWL", 0.4),), provenance=PROVENANCE)) == []


def test_the_same_result_gives_the_same_files(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for name in "ab":
        write_report(panel_result(), tmp_path / name)
    for file in ("toy.svg", "toy.png", "report.html"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_a_study_tells_seeds_and_settings_part_by_part():
    parts = {"toy": {"seeds": [0, 1, 2]}, "ranking": {"seeds": [0, 1]}}
    provenance = {**table_result().provenance, "parts": parts}
    study = table_result(settings={"toy": {"beta": 1.0}, "ranking": {"folds": 3}}, provenance=provenance)
    assert named_settings(study) == {"toy.beta": 1.0, "ranking.folds": 3}
    page = render_page(study, "<svg></svg>")
    assert "size paper, over 2 to 3 seeds," in page
    assert "<dt>ranking.folds</dt><dd>3</dd>" in page
