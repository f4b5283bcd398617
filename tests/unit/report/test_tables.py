from rich.console import Console
from tests.unit.report.examples import metrics_result, row, sweep_result, table_result

from fwl.report.tables import (
    caption,
    cells,
    groups,
    has_several_metrics,
    markdown_table,
    screen_table,
    wide_markdown_table,
)


def test_markdown_puts_ours_beside_the_papers_and_marks_the_best():
    assert markdown_table(table_result()).splitlines() == [
        "| data | method | ours | ± sd | paper | better than |",
        "|---|---|---:|---:|---:|---|",
        "| toy | `1 NN_W` | 0.8500 | 0.1000 | 0.8406 |  |",
        "| toy | `2 FWL` | **0.4000** | 0.1000 | 0.4143 | ▲ 1 |",
        "",
        "rmse (lower is better); mean and standard deviation over 2 seeds; ▲ better at p < 0.05.",
    ]


def test_a_sweep_says_where_each_row_lies():
    assert "| toy, beta=1 | `2 FWL_s` |" in markdown_table(sweep_result())


def test_a_wide_table_has_a_column_for_each_method():
    assert wide_markdown_table(table_result()).splitlines() == [
        "| data | `NN_W` | `FWL` |",
        "|---|---:|---:|",
        "| toy | 0.8500 | **0.4000** |",
        "",
        "rmse (lower is better); mean over 2 seeds; bold where it beats every other column at p < 0.05.",
    ]


def test_the_screen_shows_the_same_numbers():
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    console.print(screen_table(table_result()))
    text = console.export_text()
    console.file.close()
    assert "The <toy>" in text
    assert "0.4143" in text
    assert "▲ 1" in text


def test_one_seed_is_not_seeds():
    provenance = {**table_result().provenance, "seeds": [7]}
    assert "over 1 seed;" in caption(table_result(provenance=provenance))


def test_a_row_says_what_it_measures_where_several_things_are():
    assert not has_several_metrics(table_result())
    assert not has_several_metrics(sweep_result())
    assert has_several_metrics(metrics_result())
    one = row("FWL", 0.5, at={"beta": 2.0})
    assert cells(one, [one])[0] == "toy, beta=2"
    assert cells(one, [one], with_metric=True)[0] == "toy, beta=2: rmse"


def test_rows_are_compared_within_their_metric_only():
    assert [[(r.dataset, r.metric, r.method) for r in group] for group in groups(metrics_result())] == [
        [(dataset, metric, method) for method in ("GP", "PCA")]
        for dataset, metric in (("toy", "rmse"), ("classes", "accuracy"), ("classes", "ECE"))
    ]


def test_a_table_of_several_metrics_marks_the_best_of_each():
    assert markdown_table(metrics_result()).splitlines() == [
        "| data | method | ours | ± sd | paper | better than |",
        "|---|---|---:|---:|---:|---|",
        "| toy: rmse | `1 GP` | 0.5000 | 0.1000 |  |  |",
        "| toy: rmse | `2 PCA` | **0.4000** | 0.1000 |  | ▲ 1 |",
        "| classes: accuracy | `1 GP` | **0.8500** | 0.1000 |  |  |",
        "| classes: accuracy | `2 PCA` | 0.7500 | 0.1000 |  |  |",
        "| classes: ECE | `1 GP` | 0.2500 | 0.1000 |  |  |",
        "| classes: ECE | `2 PCA` | **0.1500** | 0.1000 |  |  |",
        "",
        "rmse (lower is better), accuracy (higher is better), ECE (lower is better); "
        "mean and standard deviation over 2 seeds; ▲ better at p < 0.05.",
    ]


def test_so_does_a_wide_one():
    assert wide_markdown_table(metrics_result()).splitlines()[:5] == [
        "| data | `GP` | `PCA` |",
        "|---|---:|---:|",
        "| toy: rmse | 0.5000 | **0.4000** |",
        "| classes: accuracy | 0.8500 | 0.7500 |",
        "| classes: ECE | 0.2500 | 0.1500 |",
    ]


def test_so_does_the_screen():
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    console.print(screen_table(metrics_result()))
    text = console.export_text()
    console.file.close()
    assert "toy: rmse" in text
    assert "classes: accuracy" in text
