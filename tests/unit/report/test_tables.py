from rich.console import Console
from tests.unit.report.examples import sweep_result, table_result

from fwl.report.tables import caption, markdown_table, screen_table, wide_markdown_table


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
