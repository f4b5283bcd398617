"""How properties are tried: the same examples every time, and never against the clock."""

from hypothesis import settings

PROPERTY = settings(max_examples=60, deadline=None, derandomize=True, database=None)
