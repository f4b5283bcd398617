"""Progress as a bar on standard error, when somebody is watching."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from fwl.progress import Progress as Listener
from fwl.progress import Silent


class Bar:
    """A progress bar."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("", total=None)

    def start(self, total: int, what: str) -> None:
        """Show the bar, from its beginning: there may have been other work before."""
        self._bar.remove_task(self._task)  # a reset would keep a total that is no longer known
        self._task = self._bar.add_task(what, total=total or None)
        self._bar.start()

    def advance(self, amount: int = 1) -> None:
        """Move it on."""
        self._bar.advance(self._task, amount)

    def finish(self) -> None:
        """Take it away."""
        self._bar.stop()


def progress_for(quiet: bool) -> Listener:
    """A bar when standard error is a terminal and quiet was not asked for."""
    return Silent() if quiet or not sys.stderr.isatty() else Bar()


@contextmanager
def saying(progress: Listener, what: str) -> Iterator[None]:
    """Tell that something is under way of which nobody knows how much is left."""
    progress.start(0, what)
    try:
        yield
    finally:
        progress.finish()
