"""What a page is made of, written once and told in Markdown or in HTML.

Texts know two marks: `code` between backticks and **bold** between double stars.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from markupsafe import Markup, escape

_CODE = re.compile(r"`([^`]+)`")
_BOLD = re.compile(r"\*\*(.+?)\*\*")


@dataclass(frozen=True)
class Table:
    """A table of texts.

    Attributes:
        headings: one for each column.
        lines: the cells, line by line.
        numbers: which columns hold numbers, and stand to the right.
        caption: what the numbers are.
    """

    headings: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()
    caption: str = ""


@dataclass(frozen=True)
class Picture:
    """A figure: linked from a Markdown page, drawn inside an HTML one, which is when it is drawn at all."""

    title: str
    file: str
    svg: Callable[[], str]


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
    level: int = 2


def as_markdown(title: str, sections: Iterable[Section], pictures_below: str = "") -> str:
    """All sections as Markdown; figures are linked below a folder."""
    blocks = [f"# {title}"]
    for section in sections:
        blocks.append(f"{'#' * section.level} {section.title}")
        blocks += section.paragraphs
        blocks += [block for table in section.tables for block in _table_blocks(table)]
        blocks += [f"![{picture.title}]({pictures_below}{picture.file})" for picture in section.pictures]
    return "\n\n".join(blocks) + "\n"


def _table_blocks(table: Table) -> list[str]:
    rule = "".join("---:|" if column in table.numbers else "---|" for column in range(len(table.headings)))
    lines = [_line(table.headings), f"|{rule}", *(_line(line) for line in table.lines)]
    return ["\n".join(lines), *([table.caption] if table.caption else [])]


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def as_html(text: str) -> Markup:
    """A text with its two marks as HTML; whatever else is in it is shown as it is.

    >>> str(as_html("**ours** & `a<b**`"))
    '<strong>ours</strong> &amp; <code>a&lt;b**</code>'
    """
    parts = _CODE.split(text)  # every second one stood between backticks
    told = [Markup("<code>{}</code>").format(part) if i % 2 else _bold(part) for i, part in enumerate(parts)]
    return Markup("").join(told)


def _bold(text: str) -> Markup:
    parts = _BOLD.split(text)
    return Markup("").join(
        Markup("<strong>{}</strong>").format(part) if i % 2 else escape(part) for i, part in enumerate(parts)
    )
