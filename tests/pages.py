"""The pages of the documentation and the blocks of code in them."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [*ROOT.glob("*.md"), *DOCS.glob("*.md"), *DOCS.glob("api/*.md"), *DOCS.glob("rooms/*.md")]
PAGES = sorted([*PAGES, *ROOT.glob("examples/**/*.md")])
BLOCK = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^\s*(```|~~~)", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its page, the line it begins in, its language and what stands in it."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{name_of(self.page)}, line {self.line}"


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = [Block(page, text.count("\n", 0, match.start()) + 1, match[1], match[2]) for match in BLOCK.finditer(text)]
    assert len(FENCE.findall(text)) == 2 * len(found), f"{name_of(page)} has a fence that does not begin its line"
    return found


def prose_of(page: Path) -> str:
    """A page without its blocks."""
    return BLOCK.sub("", page.read_text(encoding="utf-8"))


def with_outputs(blocks: list[Block], language: str) -> list[tuple[Block, str | None]]:
    """The blocks of a language, each with the `text` that follows it: what it prints, where the page shows that."""
    pairs = zip(blocks, [*blocks[1:], None], strict=True)
    return [
        (one, after.text if after and after.language == "text" else None)
        for one, after in pairs
        if one.language == language
    ]


def pages_with(*languages: str) -> list[Path]:
    return [page for page in PAGES if any(block.language in languages for block in blocks_of(page))]
