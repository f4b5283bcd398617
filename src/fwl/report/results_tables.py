"""A run's rows as the tables of the results page: methods down and data across, or a sweep across."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fwl.records import Result, Row
from fwl.report.claims import ANNOTATOR, OF_THE_TEACHER, difference, gain
from fwl.report.parts import Table
from fwl.report.tables import in_short, is_best

Column = tuple[str, str]  # (dataset, metric)
_BETTER = "better than"
_TEST = "▲ better at p < 0.05 than the rows with these numbers (paired two-tailed t-test, Bonferroni)"


def method_tables(result: Result) -> tuple[Table, ...]:
    """A line for each method, columns for each dataset and metric; what teachers reach alone in a table of its own."""
    own = [row for row in result.rows if not row.metric.endswith(OF_THE_TEACHER)]
    of_teachers = [row for row in result.rows if row.metric.endswith(OF_THE_TEACHER)]
    return tuple(_method_table(rows) for rows in (own, of_teachers) if rows)


def _method_table(rows: Sequence[Row]) -> Table:
    methods = list(dict.fromkeys(row.method for row in rows))
    columns = list(dict.fromkeys((row.dataset, row.metric) for row in rows))
    groups = {column: {row.method: row for row in rows if (row.dataset, row.metric) == column} for column in columns}
    parts = [_ColumnCells(column, group, methods) for column, group in groups.items()]
    lines = [
        (f"`{i} {method}`", *(cell for part in parts for cell in part.cells(method)))
        for i, method in enumerate(methods, start=1)
    ]
    headings = ("method", *(heading for part in parts for heading in part.headings()))
    numbers = frozenset(i for i, heading in enumerate(headings) if i and heading != _BETTER)
    return Table(headings, tuple(lines), numbers, f"{_caption(rows)}; {_TEST}.")


class _ColumnCells:
    """The cells of one dataset and metric: ours, the paper's where it has one, the triangles."""

    def __init__(self, column: Column, group: dict[str, Row], methods: Sequence[str]) -> None:
        self._column, self._group = column, group
        self._numbers = {method: i for i, method in enumerate(methods, start=1)}
        self._has_paper = any(row.paper is not None for row in group.values())
        self._has_triangles = any(row.better_than for row in group.values())

    def headings(self) -> tuple[str, ...]:
        dataset, metric = self._column
        return (f"{dataset} {metric}", *(("paper",) * self._has_paper), *((_BETTER,) * self._has_triangles))

    def cells(self, method: str) -> tuple[str, ...]:
        row = self._group.get(method)
        paper = "" if row is None or row.paper is None else f"{row.paper:.4f}"
        return (self._ours(row), *((paper,) * self._has_paper), *((self._beaten(row),) * self._has_triangles))

    def _beaten(self, row: Row | None) -> str:
        return f"▲ {in_short(self._numbers[name] for name in row.better_than)}" if row and row.better_than else ""

    def _ours(self, row: Row | None) -> str:
        if row is None:
            return ""
        among = list(self._group.values())
        return _with_spread(row, is_best(row, among) and not _all_alike(among))


def gain_tables(result: Result) -> tuple[Table, ...]:
    """A line for each annotator and what learned from it: by itself, what it taught, and the relative gain."""
    groups: dict[tuple[str, str], dict[str, Row]] = {}
    for row in result.rows:
        groups.setdefault((row.dataset, row.metric), {})[row.method] = row
    lines = [
        _gain_line(rows[ANNOTATOR], row)
        for rows in groups.values()
        if ANNOTATOR in rows
        for method, row in rows.items()
        if method != ANNOTATOR
    ]
    headings = ("data", "annotator", "metric", "by itself", "method", "taught by it", "gain", "clear")
    note = f"{_caption(result.rows)}; clear: told apart at p < 0.05."
    return (Table(headings, tuple(lines), frozenset({3, 5, 6}), note),) if lines else ()


def _gain_line(own: Row, taught: Row) -> tuple[str, ...]:
    data, _, name = own.dataset.partition(", ")
    clear = "yes" if difference(taught, own).is_clear else "no"
    share = f"{gain(taught.mean, own):+.1%}"
    figures = (_with_spread(own, False), f"`{taught.method}`", _with_spread(taught, False), share, clear)
    return (f"`{data}`", name, own.metric, *figures)


def sweep_tables(rows: Iterable[Row]) -> tuple[Table, ...]:
    """A table for each quantity varied and the values it took: a line for each dataset, metric and method."""
    grids: dict[tuple[str, tuple[float, ...]], list[list[Row]]] = {}
    for axis, line in _lines(list(rows)):
        grids.setdefault((axis, tuple(row.at[axis] for row in line)), []).append(line)
    return tuple(_sweep_table(axis, places, lines) for (axis, places), lines in grids.items())


def _lines(rows: Sequence[Row]) -> Iterable[tuple[str, list[Row]]]:
    """(axis, rows along it) of every dataset, metric and method."""
    keys = dict.fromkeys((axis, row.dataset, row.metric, row.method) for row in rows for axis in row.at)
    for axis, *of in keys:
        own = [row for row in rows if axis in row.at and [row.dataset, row.metric, row.method] == of]
        yield axis, sorted(own, key=lambda row: row.at[axis])


def _sweep_table(axis: str, places: Sequence[float], lines: Sequence[list[Row]]) -> Table:
    headings = ("data", "metric", "method", *(f"{axis} = {place:g}" for place in places))
    cells = [
        (
            f"`{line[0].dataset}`",
            line[0].metric,
            f"`{line[0].method}`",
            *(_with_spread(row, is_best(row, line) and not _all_alike(line)) for row in line),
        )
        for line in lines
    ]
    note = f"{_caption([row for line in lines for row in line])}; bold: the best of a line."
    return Table(headings, tuple(cells), frozenset(range(3, len(headings))), note)


def _caption(rows: Sequence[Row]) -> str:
    """The metrics and which way is up, and over how many seeds."""
    said = (f"{row.metric}: {'lower' if row.lower_is_better else 'higher'} is better" for row in rows)
    seeds = sorted({len(row.values) for row in rows})
    counts = f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else str(seeds[0])
    plural = "" if seeds == [1] else "s"
    return f"{', '.join(dict.fromkeys(said))}; mean ± standard deviation over {counts} seed{plural}"


def _all_alike(rows: Sequence[Row]) -> bool:
    return len({row.mean for row in rows}) == 1


def _with_spread(row: Row, best: bool) -> str:
    mean = f"**{row.mean:.4f}**" if best else f"{row.mean:.4f}"
    return f"{mean} ± {row.std:.4f}" if len(row.values) > 1 else mean
