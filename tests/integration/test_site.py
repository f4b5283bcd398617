"""The documentation as a site: it is built without a warning, is whole, and asks no other host for anything."""

import importlib
import pkgutil
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import typer
from tests.pages import DOCS, PAGES, ROOT, name_of

import fwl
from fwl.cli.main import app

ROOMS = sorted(info.name for info in pkgutil.iter_modules(fwl.__path__) if info.ispkg)
LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("link", "href")}


class Page(HTMLParser):
    """What a page links to, what it loads, and the places in it that can be linked to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.places = [], [], {""}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id":
                self.places.add(value)
            if (tag, name) == ("a", "href"):
                self.links.append(value)
            if (tag, name) in LOADED:
                self.loads.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs", "-d", out / "trees"]
    done = subprocess.run([*command, ".", out / "html"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out / "html"


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_every_page_is_there(site):
    assert {str(path.relative_to(site).with_suffix(".md")) for path in site.rglob("*.html")} >= set(map(name_of, PAGES))


def test_every_public_name_is_in_the_reference(site, pages):
    rooms = [importlib.import_module(f"fwl.{room}") for room in ROOMS if room != "cli"]
    described = set().union(*(pages[path].places for path in (site / "docs" / "api").glob("*.html")))
    public = {f"{room.__name__}.{name}" for room in rooms for name in room.__all__}
    assert public - described == set()


def test_every_name_of_the_package_is_on_the_first_page_of_the_reference(site):
    text = (site / "docs" / "api" / "index.html").read_text(encoding="utf-8")
    assert [name for name in fwl.__all__ if f'<span class="pre">{name}</span>' not in text] == []


def test_every_command_and_option_is_in_the_reference(site):
    text = re.sub(r"<[^>]*>", "", (site / "docs" / "api" / "cli.html").read_text(encoding="utf-8"))
    for name, command in vars(typer.main.get_command(app))["commands"].items():
        assert f"fwl {name}\n" in text
        assert [o for p in command.params for o in p.opts if o.startswith("-") and o not in text] == []


def test_no_internal_link_is_broken(pages):
    broken = [
        f"{path.name}: {link}" for path, page in pages.items() for link in page.links if not leads(path, link, pages)
    ]
    assert broken == []


def leads(path, link, pages):
    """Whether a link from a page leads somewhere; what is elsewhere is not asked."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    return target.exists() and (target not in pages or unquote(parts.fragment) in pages[target].places)


def test_no_page_asks_another_host_for_anything(site, pages):
    assert [load for page in pages.values() for load in page.loads if urlsplit(load).netloc] == []
    styles = [style for path in site.rglob("*.css") for style in re.findall(r"url\(([^)]*)\)", path.read_text())]
    assert [style for style in styles if urlsplit(style.strip("\"'")).scheme not in {"", "data"}] == []


def test_every_room_has_a_page_and_every_page_a_room():
    assert {path.stem for path in (DOCS / "rooms").glob("*.md")} == set(ROOMS)
    assert {path.stem for path in (DOCS / "api").glob("*.md")} == {*ROOMS, "foundations", "index"}


@pytest.mark.parametrize("room", ROOMS)
def test_the_page_of_a_room_names_files_that_are_there(room):
    text = (DOCS / "rooms" / f"{room}.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+\.py)`", text))
    assert named
    assert named <= {path.name for path in Path(fwl.__path__[0], room).glob("*.py")}


def test_the_tour_names_files_that_are_there_and_can_be_read_in_ten_minutes():
    text = (DOCS / "tour.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(\w+\.py)`", text)) <= {path.name for path in Path(fwl.__path__[0]).rglob("*.py")}
    assert len(text.split()) <= 2000  # two hundred words a minute
