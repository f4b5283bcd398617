from fwl.report.parts import Picture, Section, Table, as_html, as_markdown


def test_sections_become_markdown():
    table = Table(("name", "value"), (("`a|b`", "**1**"),), frozenset({1}), "What it is.")
    picture = Picture("A figure", "toy/toy.svg", lambda: "<svg/>")
    text = as_markdown("Title", [Section("One", ("Words.",), (table,), (picture,)), Section("Two", level=3)], "below/")
    assert text == (
        "# Title\n\n## One\n\nWords.\n\n"
        "| name | value |\n|---|---:|\n| `a\\|b` | **1** |\n\nWhat it is.\n\n"
        "![A figure](below/toy/toy.svg)\n\n### Two\n"
    )


def test_marks_become_html_and_nothing_else_does():
    assert str(as_html("<b> `toy**` and **best**, `a` & b")) == (
        "&lt;b&gt; <code>toy**</code> and <strong>best</strong>, <code>a</code> &amp; b"
    )


def test_a_figure_is_drawn_only_where_it_is_shown():
    def never():
        raise AssertionError("drawn")

    text = as_markdown("Title", [Section("One", pictures=(Picture("A figure", "a.svg", never),))])
    assert "![A figure](a.svg)" in text
