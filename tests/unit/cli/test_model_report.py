"""What the page says of a model, apart from its tables."""

import pytest

from fwl.cli.model_report import _on_comparing, _plainly


@pytest.mark.parametrize(("strong", "first"), [(5, "With 10 strong rows or more, fit"), (10, "Fit")])
def test_nobody_is_sent_to_a_comparison_that_would_be_refused(strong, first):
    tells = "again with --compare, and the strong rows will tell which method to use, by how much and how sure."
    assert _on_comparing(strong) == f"{first} {tells}"


def test_what_has_parts_is_told_in_one_line_with_few_digits():
    assert _plainly({"teacher": 0.5165440014851573, "linear": 0.25}) == "teacher: 0.5165, linear: 0.25"
    assert _plainly({"x": {"evidence": -31.41592653, "rows": 50}}) == "x: (evidence: -31.42, rows: 50)"
    assert _plainly(None) == "none"
