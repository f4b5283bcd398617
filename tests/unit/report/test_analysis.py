import pytest
from tests.unit.report.examples import row, table_result

from fwl.report.analysis import budgets, gains, sentences
from fwl.report.page import claims


def curve_of(taught, untaught, amounts=(100, 300, 1000), **options):
    return [
        row(method, value, at={"n_strong": n}, lower=False, **options)
        for method, values in (("FWL", taught), ("NN_W->S", untaught))
        for n, value in zip(amounts, values, strict=True)
    ]


def curve_result(*rows):
    weak = row("FWL", 0.9, at={"n_weak": 5}, lower=False, metric="F1", dataset="tweets")
    return table_result(experiment="learning-curve", rows=(weak, *rows))


def test_a_label_budget_is_told_for_each_dataset():
    rows = [
        *curve_of((0.5, 0.6, 0.7), (0.4, 0.5, 0.55), metric="F1", dataset="tweets"),
        *curve_of((0.5, 0.6, 0.7), (0.4, 0.5, 0.5), metric="F1", dataset="others"),
        *curve_of((0.1, 0.2, 0.3), (0.1, 0.2, 0.4), metric="MAP", dataset="cranfield"),
    ]
    assert sentences(curve_result(*rows)) == [
        "tweets: FWL needs 200 strong labels for what NN_W->S reaches with all 1,000 (F1 0.5500).",
        "others: FWL needs at most 100 strong labels for what NN_W->S reaches with all 1,000 (F1 0.5000).",
        "cranfield: with no number of judged queries up to that does FWL reach what NN_W->S reaches with all 1,000 "
        "(MAP 0.4000).",
    ]


def test_other_students_are_compared_among_themselves():
    rows = [
        row(f"{method}{end}", value, at={"n_strong": n}, lower=False, metric="MAP")
        for end, values in (("", (0.1, 0.2)), ("_score", (0.3, 0.4)))
        for method, shift in (("NN_W->S", -0.05), ("FWL", 0.0))
        for n, value in zip((5, 10), (v + shift for v in values), strict=True)
    ]
    found = budgets(curve_result(*rows))
    assert [(b.method, b.other) for b in found] == [("FWL", "NN_W->S"), ("FWL_score", "NN_W->S_score")]
    assert [b.needed for b in found] == pytest.approx([7.5, 7.5])


def test_the_gain_over_the_annotator_is_told_as_a_share_of_its_own_figure():
    rows = (
        *(row(method, value, dataset="tweets, VADER", lower=False) for method, value in (("WA", 0.5), ("FWL", 0.6))),
        *(row(method, value, dataset="toy, weak") for method, value in (("WA", 0.5), ("FWL", 0.6))),
        *(row(method, value, dataset="tweets, none", lower=False) for method, value in (("WA", 0.0), ("FWL", 0.6))),
    )
    result = table_result(experiment="annotators", rows=rows)
    expected = [
        "tweets, VADER: FWL 0.6000 beside the annotator's 0.5000 (+20.0%).",
        "toy, weak: FWL 0.6000 beside the annotator's 0.5000 (-20.0%).",
        "tweets, none: FWL 0.6000 beside the annotator's 0.0000.",
    ]
    assert sentences(result) == expected
    assert claims(result) == expected


def test_other_results_have_neither():
    assert budgets(table_result()) == []
    assert gains(table_result()) == []
