"""Threads and processes: one thread around many small solves, and workers that leave Ctrl-C to who started them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from threadpoolctl import threadpool_limits


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, BLAS, LAPACK and torch use one thread each.

    More would only wait for each other, and change the order of sums.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def deaf_workers() -> Iterator[None]:
    """Processes that are started inside never hear Ctrl-C, which a terminal tells to all.

    Who started them hears it and ends them; if they did too, each would print its own traceback, and who waits for
    them might learn first that they died.
    """
    if threading.current_thread() is not threading.main_thread():  # no other may say what becomes of signals
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
