import numpy as np
import pytest
from tests.unit.report.examples import metrics_result, panel_result, row, sweep_result, table_result

from fwl.report.figures import as_bytes, draw

RESULTS = {"panels": panel_result(), "sweep": sweep_result(), "dots": table_result(), "metrics": metrics_result()}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
@pytest.mark.parametrize(("kind", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_every_kind_of_result_has_its_figure(result, kind, start):
    content = as_bytes(draw(result), kind)
    assert content.startswith(start)
    assert len(content) > 5000


def test_the_papers_figure_has_four_panels_with_points_and_band():
    axes = draw(panel_result()).axes
    titles = [axis.get_title() for axis in axes]
    assert titles[0] == "NN_W: the student after step 1 (0.800)"
    assert titles[3] == "FWL: fine-tuned on soft labels by their fidelity (0.300)"
    labels = [axis.get_legend_handles_labels()[1] for axis in axes]
    assert "weak points" in labels[0]
    assert "± 2 sd" in labels[1]
    assert all("strong points" in names for names in labels[1:])


def test_a_panel_of_a_method_that_was_not_run_is_left_empty():
    result = panel_result()
    del result.curves["method:NN_W->S"]
    axes = draw(result).axes
    assert axes[2].get_title().startswith("FWL")
    assert not axes[3].axison


def test_a_sweep_draws_the_means_where_they_lie():
    (axis,) = draw(sweep_result()).axes
    x, y = axis.get_lines()[0].get_data()
    assert np.allclose(x, [0, 1, 2])
    assert np.allclose(y, [0.05, 1.05, 2.05])


def test_dots_have_a_panel_for_each_metric_with_its_own_data():
    axes = draw(metrics_result()).axes
    assert [axis.get_xlabel() for axis in axes] == [
        f"{metric} (bars: one standard deviation)" for metric in ("rmse", "accuracy", "ECE")
    ]
    assert [[text.get_text() for text in axis.get_yticklabels()] for axis in axes] == [
        ["toy"],
        ["classes"],
        ["classes"],
    ]
    assert [axis.get_legend() is not None for axis in axes] == [True, False, False]


def test_dots_lie_at_the_means_and_datasets_run_downwards():
    rows = tuple(row(m, v, dataset=d) for d, v in (("a", 0.2), ("b", 0.6)) for m in ("GP", "PCA"))
    (axis,) = draw(table_result(rows=rows)).axes
    dots = [container.lines[0].get_data() for container in axis.containers]
    assert [x.tolist() for x, _ in dots] == [[0.2, 0.6], [0.2, 0.6]]
    assert np.allclose([y for _, y in dots], [[-0.06, 0.94], [0.06, 1.06]])
    assert axis.yaxis_inverted()
    assert [container.get_label() for container in axis.containers] == ["GP", "PCA"]


def test_a_panel_is_as_high_as_it_has_data():
    rows = (*(row("GP", 0.2, dataset=d) for d in "abcde"), row("GP", 0.5, dataset="a", metric="ECE"))
    figure = draw(table_result(rows=rows))
    figure.draw_without_rendering()
    many, one = (axis.get_position().height for axis in figure.axes)
    assert many > one


def test_there_are_markers_for_more_methods_than_kinds_of_marker():
    rows = tuple(row(f"m{i}", 0.1 * i) for i in range(9))
    assert len(draw(table_result(rows=rows)).axes[0].containers) == 9


def test_a_method_looks_alike_in_every_panel_whoever_else_is_in_it():
    rows = (*(row(m, 0.2) for m in ("WA", "NN_W", "FWL")), row("FWL", 0.5, metric="ECE"))
    first, second = draw(table_result(rows=rows)).axes
    (alone,) = second.containers
    same = next(container for container in first.containers if container.get_label() == "FWL")
    for look in ("get_color", "get_marker"):
        assert getattr(alone.lines[0], look)() == getattr(same.lines[0], look)()


def test_lines_of_one_dataset_never_reach_into_the_next():
    rows = tuple(row(f"m{i}", 0.1, dataset=d) for d in "ab" for i in range(11))
    (axis,) = draw(table_result(rows=rows)).axes
    first, second = zip(*(container.lines[0].get_ydata() for container in axis.containers), strict=True)
    assert max(first) < 0.5 < min(second)


def test_the_legend_stands_beside_the_dots():
    figure = draw(table_result(rows=tuple(row(f"m{i}", 0.1 * i) for i in range(11))))
    figure.draw_without_rendering()
    (axis,) = figure.axes
    assert axis.get_legend().get_window_extent().x0 >= axis.get_window_extent().x1


def test_a_study_has_a_panel_for_each_dataset_and_quantity_with_its_first_metric():
    rows = (
        *(row("FWL", n, at={"n_weak": n}) for n in (5, 10)),
        *(row("FWL", n, at={"n_strong": n}) for n in (3, 6)),
        *(row("FWL", s, at={"weak_share": s}, dataset="tweets", metric="F1") for s in (0.1, 1.0)),
        *(row("FWL", 7.0, at={"weak_share": s}, dataset="tweets", metric="ECE") for s in (0.1, 1.0)),
        *(row("FWL", n, at={"n_strong": n}, dataset="tweets", metric="F1") for n in (100, 11_338)),
    )
    axes = draw(table_result(rows=rows)).axes
    assert [(axis.get_title(), axis.get_ylabel(), axis.get_xlabel()) for axis in axes] == [
        ("toy", "rmse", "weak samples |D_w|"),
        ("toy", "rmse", "strong samples |D_s|"),
        ("tweets", "F1", "share of the weak samples D_w"),
        ("tweets", "F1", "strong samples |D_s|"),
    ]
    assert [axis.get_xscale() for axis in axes] == ["linear", "linear", "linear", "log"]
    assert axes[2].get_lines()[0].get_ydata().tolist() == [0.1, 1.0]


def test_every_seed_is_shown_beside_the_mean():
    (axis,) = draw(table_result(rows=(row("FWL", 0.1, 0.5, at={"beta": 1.0}),))).axes
    assert axis.collections[-1].get_offsets().tolist() == [[1.0, 0.1], [1.0, 0.5]]


def test_the_skew_of_the_fidelities_stands_above_its_panel():
    skew = row("FWL", 0.25, at={"finetune_steps": 10}, metric="effective share of D_sw", lower=False)
    (axis,) = draw(table_result(rows=(row("FWL", 0.1, at={"finetune_steps": 10}), skew))).axes
    assert axis.get_title() == "toy (effective share of the soft data: 0.250)"


def test_the_gain_over_the_annotator_stands_beside_its_dot_and_the_legend_knows_every_method():
    rows = (
        *(row(m, v, dataset="tweets, VADER", metric="F1", lower=False) for m, v in (("WA", 0.5), ("FWL", 0.6))),
        *(row(m, v, dataset="made, BM25", metric="MAP", lower=False) for m, v in (("WA", 0.4), ("other", 0.3))),
    )
    first, second = draw(table_result(experiment="annotators", rows=rows)).axes
    assert [text.get_text() for text in first.texts] == ["+20%"]
    assert [text.get_text() for text in second.texts] == ["-25%"]
    assert [text.get_text() for text in first.get_legend().get_texts()] == ["WA", "FWL", "other"]


def test_many_metrics_stand_in_two_columns():
    figure = draw(table_result(rows=tuple(row("GP", 0.2, metric=f"m{i}") for i in range(7))))
    figure.draw_without_rendering()
    assert len({round(axis.get_position().x0, 1) for axis in figure.axes}) == 2
    assert len(figure.axes) == 7
