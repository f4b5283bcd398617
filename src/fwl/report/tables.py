"""Rows as tables: on the screen, in Markdown, and as plain cells for the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table

from fwl.records import Result, Row

HEADINGS = ("data", "method", "ours", "± sd", "paper", "better than")
FACE = {"FWL_auto": "auto", "NN_W->Sx4": "control"}


def cells(row: Row, among: Sequence[Row], with_metric: bool = False) -> tuple[str, ...]:
    """One row as texts; methods that it beats are given by their numbers, like the paper's triangles."""
    numbers = {other.method: i for i, other in enumerate(among, start=1)}
    where = "".join(f", {name}={value:g}" for name, value in row.at.items())
    beaten = in_short(numbers[name] for name in row.better_than if name in numbers)
    paper = "" if row.paper is None else f"{row.paper:.4f}"
    return (
        f"{row.dataset}{where}" + (f": {row.metric}" if with_metric else ""),
        f"{numbers[row.method]} {row.method}",
        f"{row.mean:.4f}",
        f"{row.std:.4f}",
        paper,
        f"▲ {beaten}" if beaten else "",
    )


def in_short(numbers: Iterable[int]) -> str:
    """Numbers with spaces between; three or more in a row as the first and the last.

    >>> in_short([1, 2, 4, 5, 6, 9])
    '1 2 4-6 9'
    """
    rows: list[list[int]] = []
    for number in sorted(numbers):
        if rows and number == rows[-1][-1] + 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    return " ".join(f"{row[0]}-{row[-1]}" if len(row) > 2 else " ".join(map(str, row)) for row in rows)


def groups(result: Result) -> list[list[Row]]:
    """The rows that stand beside each other: same data, same metric, same place on a sweep."""
    found: dict[tuple[str, str, str], list[Row]] = {}
    for row in result.rows:
        found.setdefault((row.dataset, row.metric, str(row.at)), []).append(row)
    return list(found.values())


def has_several_metrics(result: Result) -> bool:
    """Whether a row has to say what it measures."""
    return len({row.metric for row in result.rows}) > 1


def is_best(row: Row, among: Iterable[Row]) -> bool:
    """Whether no row beside it has a better mean."""
    means = [other.mean for other in among]
    return row.mean == (min(means) if row.lower_is_better else max(means))


def caption(result: Result) -> str:
    """What the numbers are, in one line."""
    return f"{metrics(result)}; mean and standard deviation {over_seeds(result)}; ▲ better at p < 0.05"


def metrics(result: Result) -> str:
    """The metrics and which way is up."""
    return ", ".join(
        dict.fromkeys(f"{r.metric} ({'lower' if r.lower_is_better else 'higher'} is better)" for r in result.rows)
    )


def over_seeds(result: Result) -> str:
    """How many seeds there were; of a study's parts the fewest and the most."""
    parts = result.provenance.get("parts", {"": result.provenance})
    numbers = sorted({len(part["seeds"]) for part in parts.values()})
    told = " to ".join(str(number) for number in dict.fromkeys((numbers[0], numbers[-1])))
    return f"over {told} seed{'s' if numbers[-1] != 1 else ''}"


def screen_table(result: Result) -> Table:
    """The whole result for a terminal."""
    table = Table(title=result.title, caption=caption(result), title_justify="left", caption_justify="left")
    for heading in HEADINGS:
        is_number = heading in HEADINGS[2:5]
        table.add_column(
            heading, justify="right" if is_number else "left", no_wrap=True, min_width=6 if is_number else None
        )
    several = has_several_metrics(result)
    for group in groups(result):
        for row in group:
            table.add_row(*cells(row, group, several), style="bold" if len(group) > 1 and is_best(row, group) else None)
        if len(group) > 1:
            table.add_section()
    return table


def markdown_table(result: Result) -> str:
    """The whole result as a Markdown table."""
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---|---|---:|---:|---:|---|"]
    several = has_several_metrics(result)
    for group in groups(result):
        lines += ["| " + " | ".join(_bold_best(row, group, several)) + " |" for row in group]
    return "\n".join([*lines, "", caption(result) + "."])


def wide_markdown_table(result: Result) -> str:
    """A sweep as a Markdown table: a line for each place on it, a column for each method."""
    methods = list(dict.fromkeys(row.method for row in result.rows))
    lines = ["| data | " + " | ".join(f"`{method}`" for method in methods) + " |", "|---|" + "---:|" * len(methods)]
    for group in groups(result):
        means = {
            row.method: f"**{row.mean:.4f}**" if _is_clear_best(row, group) else f"{row.mean:.4f}" for row in group
        }
        place = cells(group[0], group, has_several_metrics(result))[0]
        lines.append(f"| {place} | " + " | ".join(means.get(m, "") for m in methods) + " |")
    note = f"{metrics(result)}; mean {over_seeds(result)}; bold where it beats every other column at p < 0.05."
    return "\n".join([*lines, "", note])


def _is_clear_best(row: Row, group: list[Row]) -> bool:
    return len(group) > 1 and len(row.better_than) == len(group) - 1


def _bold_best(row: Row, group: list[Row], with_metric: bool) -> list[str]:
    texts = [f"`{text}`" if i == 1 else text for i, text in enumerate(cells(row, group, with_metric))]
    if len(group) > 1 and is_best(row, group):
        texts[2] = f"**{texts[2]}**"
    return texts
