from tests.unit.report.examples import metrics_result, row, sweep_result, table_result

from fwl.report.results_tables import gain_tables, method_tables, sweep_tables


def test_methods_stand_below_each_other_with_ours_the_papers_and_the_triangles():
    (table,) = method_tables(table_result())
    assert table.headings == ("method", "toy rmse", "paper", "better than")
    assert table.lines == (
        ("`1 NN_W`", "0.8500 ± 0.1000", "0.8406", ""),
        ("`2 FWL`", "**0.4000** ± 0.1000", "0.4143", "▲ 1"),
    )
    assert table.numbers == {1, 2}
    assert table.caption.startswith(
        "rmse: lower is better; mean ± standard deviation over 2 seeds; ▲ better at p < 0.05"
    )


def test_every_dataset_and_metric_has_its_columns_and_an_empty_cell_where_nothing_was_measured():
    rows = (row("WA", 0.4), row("FWL", 0.3), row("FWL", 0.7, dataset="b", metric="F1", lower=False))
    (table,) = method_tables(table_result(rows=rows))
    assert table.headings == ("method", "toy rmse", "b F1")
    assert table.lines == (("`1 WA`", "0.4000", ""), ("`2 FWL`", "**0.3000**", "0.7000"))
    assert "over 1 seed;" in table.caption


def test_teachers_have_a_table_of_their_own():
    rows = (row("FWL", 0.3, 0.4), row("FWL", 0.5, metric="rmse of the teacher"))
    students, teachers = method_tables(table_result(rows=rows))
    assert students.headings == ("method", "toy rmse")
    assert teachers.headings == ("method", "toy rmse of the teacher")


def test_triangles_count_the_rows_of_the_whole_table():
    (table,) = method_tables(metrics_result())
    assert table.headings == ("method", "toy rmse", "better than", "classes accuracy", "classes ECE")
    assert table.lines[1][1:3] == ("**0.4000** ± 0.1000", "▲ 1")


def test_a_sweep_has_a_column_for_each_value():
    (table,) = sweep_tables(sweep_result().rows)
    assert table.headings == ("data", "metric", "method", "beta = 0", "beta = 1", "beta = 2")
    assert table.lines[0] == (
        "`toy`", "rmse", "`FWL`", "**0.0500** ± 0.1000", "1.0500 ± 0.1000", "2.0500 ± 0.1000",
    )  # fmt: skip
    assert table.caption.endswith("bold: the best of a line.")


def test_sweeps_over_other_values_have_other_tables_and_equal_values_no_best():
    rows = [row("FWL", 0.3, at={"n_weak": n}) for n in (1, 2)] + [row("FWL", 0.3, at={"n_strong": 5}, dataset="b")]
    weak, strong = sweep_tables(rows)
    assert weak.lines == (("`toy`", "rmse", "`FWL`", "0.3000", "0.3000"),)
    assert strong.headings[3:] == ("n_strong = 5",)


def test_seeds_are_those_of_the_rows():
    rows = [row("FWL", 0.3, at={"beta": 1}), row("FWL", 0.3, 0.4, 0.5, at={"beta": 1}, dataset="b")]
    assert "over 1 to 3 seeds;" in sweep_tables(rows)[0].caption


def test_annotators_are_told_with_the_gain_of_what_they_taught():
    rows = (
        row("WA", 0.2, 0.2, dataset="nfcorpus, BM25", metric="MAP", lower=False),
        row("FWL", 0.3, 0.3, dataset="nfcorpus, BM25", metric="MAP", lower=False, better_than=("WA",)),
        row("FWL", 0.3, dataset="alone", metric="MAP", lower=False),
    )
    (table,) = gain_tables(table_result(experiment="annotators", rows=rows))
    assert table.lines == (
        ("`nfcorpus`", "BM25", "MAP", "0.2000 ± 0.1000", "`FWL`", "0.3000 ± 0.1000", "+50.0%", "yes"),
    )
    assert gain_tables(table_result(rows=rows[2:])) == ()
