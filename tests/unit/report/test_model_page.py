import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from tests.unit.report.stories import HOSTILE, annotators, compared, doubted, rows, story

from fwl.report.model_page import render_model_page, write_model_page
from fwl.report.model_story import BINS, Reliability


class Reader(HTMLParser):
    """Collects tags, headings, the text, and everything the page would fetch."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.fetched, self.text, self.headings = [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        names = {"src", "href", "data", "action", "srcset", "poster"}
        self.fetched += [v for k, v in attrs if k in names and v and not v.startswith(("#", "data:"))]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.text.append(data)


def words(page):
    return re.sub(r"\s+", " ", " ".join(Reader(page).text))


def test_the_page_needs_no_other_file():
    page = render_model_page(story())
    assert Reader(page).fetched == []
    assert "@import" not in page
    assert "url(" not in page


def test_the_verdict_comes_first_and_headings_are_in_order():
    page = render_model_page(story())
    assert page.index("Use FWL_auto: it is good.") < page.index("Methods compared") < page.index("Learning curves")
    headings = Reader(page).headings
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(headings))


def test_methods_stand_with_their_errors_the_best_first():
    table = words(render_model_page(story()).split('id="methods"')[1].split("</table>")[0])
    assert "86.0 % ± 3.0 %" in table
    assert "-5.0 ± 2.0 points" in table
    assert table.index("FWL_auto advised in this model") < table.index("NN_W->S") < table.index("LR_S")


def test_errors_are_smaller_the_better():
    page = render_model_page(story(compared=compared(lower_is_better=True)))
    table = words(page.split('id="methods"')[1].split("</table>")[0])
    assert "0.86 ± 0.03" in table
    assert table.index("LR_S") < table.index("NN_W->S")
    assert "in units of their standard deviation" in words(page)


def test_what_comes_from_data_is_escaped_wherever_it_stands():
    hostile = rows(1)
    for place in (0, 1, 2, 3):
        hostile[0][place] = HOSTILE
    hostile[0][-1] = [HOSTILE]
    page = render_model_page(
        story(
            label=HOSTILE,
            told=HOSTILE,
            sentences=[HOSTILE],
            doubted=doubted(rows=hostile),
            annotators=annotators(),
            provenance={HOSTILE: {HOSTILE: HOSTILE}},
        )
    )
    reader = Reader(page)
    assert reader.tags.count("script") == 1
    assert "img" not in reader.tags
    assert words(page).count("onerror") == 13  # once for each place


def test_long_cells_are_shortened_and_strange_letters_survive():
    long = rows(2)
    long[0][1] = "x" * 10_000_000
    long[1][1] = "日本 🎵 ‮ \x00 \ud800"
    page = render_model_page(story(doubted=doubted(rows=long)))
    assert len(page) < 100_000
    assert "… (10,000,000 characters)" in page
    assert "日本 🎵" in page
    assert "\x00" not in page
    page.encode()


def test_without_the_weak_file_the_page_says_what_is_missing():
    page = render_model_page(
        story(doubted=None, missing="the weak rows were in weak.csv", fidelity={"": np.arange(BINS)})
    )
    assert "Missing. the weak rows were in weak.csv." in words(page)
    assert 'id="doubted"' not in page


def test_where_nothing_is_doubted_that_is_said():
    assert "None: the teacher would have said the same" in words(
        render_model_page(story(doubted=doubted(rows=[], differing=0)))
    )


@pytest.mark.parametrize("reliability", [None, Reliability("the teacher", False, True, [])])
def test_without_a_comparison_nothing_is_claimed(reliability):
    page = words(render_model_page(story(compared=None, reliability=reliability)))
    assert "Methods compared" not in page
    assert "Learning curves" not in page
    assert "Nothing is known: too few strong rows" in page


def test_the_caption_says_whose_calibration_it_is():
    bins = compared()["comparison"]["scores"]["LR_S"]["reliability"]
    page = words(render_model_page(story(reliability=Reliability("the teacher", False, False, bins))))
    assert "The teacher on each strong row without that row's label: what it predicts against what is true." in page
    page = words(render_model_page(story()))
    assert "FWL_auto on the strong rows that each fold left out" in page


def test_numbers_have_annotators_with_errors():
    judged = {"name": "guess", "coverage": 1.0, "compared": 9, "rmse": 0.123456, "mean_error": -0.5}
    table = words(render_model_page(story(annotators=[judged])).split('id="annotators"')[1].split("</table>")[0])
    assert "root mean square error" in table
    assert "0.1235 -0.5" in table


def test_columns_that_are_left_out_are_counted():
    assert "7 more columns are not shown." in words(render_model_page(story(doubted=doubted(hidden_columns=7))))


def test_the_same_story_gives_the_same_file(tmp_path):
    paths = [write_model_page(story(), tmp_path / name) for name in ("a.html", "b.html")]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html"]
