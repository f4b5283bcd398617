"""An error message is part of the interface: it is tested in full."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def expect_refusal(error: type[Exception], message: str) -> Iterator[None]:
    """What happens inside is refused with exactly this error and this message."""
    with pytest.raises(error) as caught:
        yield
    assert type(caught.value) is error
    assert str(caught.value) == message
