import re
from dataclasses import dataclass

import pytest

from fwl.errors import InvalidInput, UnknownName
from fwl.experiments.settings import apply_settings, change_settings


@dataclass(frozen=True)
class Example:
    steps: int = 10
    rate: float = 0.5
    name: str = "a"
    widths: tuple[int, ...] = (8, 8)
    fast: bool = False


def test_texts_are_read_as_their_fields_kind():
    got = apply_settings(Example(), ["steps=3", "rate=1e-3", "name=b = c", "widths=4,5,6", "fast=true"])
    assert got == Example(3, 1e-3, "b = c", (4, 5, 6), True)


def test_quotes_around_a_text_are_dropped():
    assert apply_settings(Example(), ['name="sin(x) + 1"']).name == "sin(x) + 1"


def test_the_last_of_two_wins():
    assert apply_settings(Example(), ["steps=1", "steps=2"]).steps == 2


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("setps=3", "unknown setting 'setps'; did you mean 'steps'? known: steps, rate, name, widths, fast"),
        ("steps", "--set 'steps': expected key=value, as in --set beta=0.5"),
        ("=3", "--set '=3': expected key=value, as in --set beta=0.5"),
        ("steps=2.5", "setting steps='2.5': expected a whole number, such as 10"),
        ("rate=fast", "setting rate='fast': expected a number, such as 0.5"),
        ("widths=8,x", "setting widths='8,x': expected numbers with commas between, such as 8,8"),
        ("fast=maybe", "setting fast='maybe': expected true or false, such as False"),
    ],
)
def test_what_cannot_be_read_is_refused(assignment, message):
    with pytest.raises((InvalidInput, UnknownName), match=f"^{re.escape(message)}$"):
        apply_settings(Example(), [assignment])


def test_changes_that_are_no_texts_are_taken_as_they_are():
    assert change_settings(Example(), {"widths": (1,)}).widths == (1,)
