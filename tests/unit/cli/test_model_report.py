"""What the page says where no comparison was run."""

import pytest

from fwl.cli.model_report import _on_comparing


@pytest.mark.parametrize(("strong", "first"), [(5, "With 10 strong rows or more, fit"), (10, "Fit")])
def test_nobody_is_sent_to_a_comparison_that_would_be_refused(strong, first):
    tells = "again with --compare, and the strong rows will tell which method to use, by how much and how sure."
    assert _on_comparing(strong) == f"{first} {tells}"
