"""How the documentation is built: `make docs`, or `python -m sphinx -W -c docs . FOLDER` in the project's folder.

The source is the whole project, so that a link from a page to DECISIONS.md, to an example or to a file of code is the
same link here as where the repository is read.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import fwl.estimators

for _name in fwl.estimators.__all__:  # opened when asked for: autodoc lists what is there
    getattr(fwl.estimators, _name)

_PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = _PROJECT["name"]
release = version = _PROJECT["version"]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md", "examples/**.md"]
exclude_patterns = [".*", "site", "runs", "src", "tests", "benchmarks", "docs/results/*", "**/__pycache__"]

myst_heading_anchors = 3
smartquotes = False  # two hyphens are an option's
default_role = "code"  # a docstring's `name` is code, as in Markdown

autosummary_generate = False
autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
napoleon_attr_annotations = False
napoleon_numpy_docstring = False

html_theme = "furo"  # asks no other host for fonts, scripts or styles
html_title = f"{project} {release}"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False

# How a signature is told in short: names without their modules, arrays as the code writes them, a task by its name.
_SHORTER = (
    (re.compile(r"~(?:\w+\.)*(\w+)"), r"\1"),
    (re.compile(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[([^\[\]]+)\]\]"), r"NDArray[\1]"),
    (re.compile(r"Task\(name='(\w+)'(?:[^()]|\([^()]*\))*\)"), r"<the task \1>"),
)


class Commands(SphinxDirective):
    """Every command of `fwl` with its arguments and options, as `--help` has them."""

    def run(self) -> list[nodes.Node]:
        """The text, parsed as the page is."""
        from fwl.cli.main import app

        commands = vars(typer.main.get_command(app))["commands"].values()
        return self.parse_text_to_nodes("\n\n".join(map(_command_text, commands)))


def _command_text(command: Any) -> str:
    return "\n\n".join([f"**`fwl {command.name}`**", command.help, "\n".join(map(_parameter_text, command.params))])


def _parameter_text(parameter: Any) -> str:
    name = (
        ", ".join(parameter.opts) if parameter.opts[0].startswith("-") else parameter.metavar or parameter.name.upper()
    )
    return f"- `{name}`: {parameter.help}"


def write_code_as_meant(_app: Sphinx, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """A docstring's `Query`s and |c| are reStructuredText's syntax, and are not meant as such."""
    lines[:] = [re.sub(r"\|(\w+)\|", r"\\|\1\\|", re.sub(r"(`\w+`)(?=\w)", r"\1\\ ", line)) for line in lines]


def leave_out(_app: Sphinx, what: str, name: str, member: Any, _skip: bool, _options: Any) -> bool | None:
    """What is no text of ours: scikit-learn's requests, a named tuple's fields, a field that holds a function."""
    told = getattr(member, "__doc__", None) or ""
    named = getattr(member, "__name__", name)
    theirs = re.fullmatch(r"set_\w+_request", name) or "Alias for field number" in told
    return True if theirs or (what == "class" and named != name) else None


def tell_in_short(
    _app: Sphinx, _what: str, _name: str, _object: Any, _options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """A signature that can be read."""
    return _shortened(signature), _shortened(returns)


def _shortened(text: str | None) -> str | None:
    for pattern, short in _SHORTER if text else ():
        text = pattern.sub(short, text or "")
    return text


def setup(app: Sphinx) -> None:
    """What this project adds to Sphinx."""
    app.add_directive("commands", Commands)
    app.connect("autodoc-process-docstring", write_code_as_meant)
    app.connect("autodoc-skip-member", leave_out)
    app.connect("autodoc-process-signature", tell_in_short)
