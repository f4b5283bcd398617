import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from tests.unit.report.stories import compared

import fwl.report
from fwl.learn.compare_methods import ON_THE_CURVE
from fwl.report.model_plots import HEIGHT, WIDTH, draw_curves, draw_histogram, draw_reliability, draw_strip
from fwl.report.model_story import BINS, Reliability, binned

CSS = (Path(fwl.report.__file__).parent / "templates" / "model.css").read_text(encoding="utf-8")
CURVE = compared()["comparison"]["curve"]


def parts(svg, kind):
    return [part for part in ET.fromstring(str(svg)).iter() if part.get("class", "").split()[:1] == [kind]]


def titles(svg):
    return [title.text for title in ET.fromstring(str(svg)).iter("title")]


def test_a_curve_has_a_line_for_each_method_and_a_mark_for_each_point():
    svg = draw_curves(CURVE, is_share=True)
    assert (len(parts(svg, "line")), len(parts(svg, "mark")), len(parts(svg, "bar"))) == (3, 9, 9)
    assert "NN_W->S, 10 strong labels: 61.0 %" in titles(svg)


def test_every_method_that_a_comparison_puts_on_the_curve_has_a_shape_and_a_colour_of_its_own():
    point = {"strong": 8, "scores": dict.fromkeys(ON_THE_CURVE, 0.5)}
    marks = parts(draw_curves([point, {**point, "strong": 16}], is_share=True), "mark")
    shapes = {re.sub(r"^M\S+ \S+?(?=[a-z])", "", mark.get("d")) for mark in marks}
    kinds = {mark.get("class").split()[1] for mark in marks}
    assert len(shapes) == len(kinds) == len(ON_THE_CURVE)
    for kind in kinds:
        assert all(f".{part}.{kind}" in CSS for part in ("line", "bar", "mark"))
        assert CSS.count(f"--{kind}: #") == 2  # in light and in dark


def test_better_scores_stand_higher():
    for line in parts(draw_curves(CURVE, is_share=True), "line"):
        heights = [float(point.split(",")[1]) for point in line.get("points").split()]
        assert heights == sorted(heights, reverse=True)


def test_curves_of_one_point_and_without_errors_can_be_drawn():
    point = {"strong": 8, "scores": {"FWL_auto": 0.5, "LR_S": 0.5}}
    assert len(parts(draw_curves([point], is_share=False), "mark")) == 2


def test_a_histogram_stacks_verdicts_and_hides_nothing():
    counts = {"kept": np.zeros(BINS, np.int64), "corrected": np.zeros(BINS, np.int64)}
    counts["kept"][3], counts["corrected"][3], counts["corrected"][19] = 6, 2, 4
    boxes = parts(draw_histogram(counts), "box")
    heights = [float(box.get("height")) for box in boxes]
    assert heights == pytest.approx([3 * heights[1], heights[1], 2 * heights[1]], rel=0.02)
    assert float(boxes[1].get("y")) + heights[1] == pytest.approx(float(boxes[0].get("y")), abs=0.2)
    assert "fidelity 0.15 to 0.20: 6 kept" in titles(draw_histogram(counts))


def test_a_histogram_of_nothing_can_be_drawn():
    assert parts(draw_histogram({"": np.zeros(BINS, np.int64)}), "box") == []


def test_fidelities_of_nought_and_one_are_counted():
    counts = binned(np.array([0.0, 1.0, 0.999]))
    assert (counts[0], counts[-1], counts.sum()) == (1, 2, 3)


@pytest.mark.parametrize("shares", [True, False])
def test_calibration_has_a_mark_for_each_bin_inside_the_picture(shares):
    scale = 1.0 if shares else 1e4
    bins = [
        {"count": 9, "said": said * scale, "was": 0.8 * scale, "low": 0.5 * scale, "high": 0.9 * scale}
        for said in (0.6, 0.9, 1.0)
    ]
    svg = draw_reliability(Reliability("FWL", True, shares, bins))
    assert len(parts(svg, "mark")) == 3
    for bar in parts(svg, "bar"):
        assert 0 <= float(bar.get("x1")) <= WIDTH
        assert 0 <= float(bar.get("y2")) <= float(bar.get("y1")) <= HEIGHT


def test_a_perfect_point_can_be_drawn():
    bins = [{"count": 9, "said": 1.0, "was": 1.0, "low": 1.0, "high": 1.0}]
    assert len(parts(draw_reliability(Reliability("FWL", True, True, bins)), "mark")) == 1


def test_a_flat_curve_of_shares_ends_at_the_whole():
    point = {"strong": 8, "scores": {"FWL_auto": 1.0}, "standard_errors": {"FWL_auto": 0.0}}
    svg = ET.fromstring(str(draw_curves([point, {**point, "strong": 16}], is_share=True)))
    ticks = [text.text for text in svg.iter() if text.tag == "text" and text.text and text.text.endswith("%")]
    assert ticks == ["95 %", "96 %", "97 %", "98 %", "99 %", "100 %"]


def test_a_strip_without_width_is_in_the_middle():
    (bar,) = parts(draw_strip(1.0, 1.0, 1.0, (1.0, 1.0)), "bar")
    assert bar.get("x1") == bar.get("x2") == "60.0"


def test_a_strip_stays_inside_its_cell():
    (bar,) = parts(draw_strip(0.5, -3.0, 7.0, (0.0, 1.0)), "bar")
    assert (float(bar.get("x1")), float(bar.get("x2"))) == (4, 116)
