import signal
import subprocess
import sys
import threading

import pytest
import torch
from threadpoolctl import threadpool_info

from fwl.threads import deaf_workers, one_thread


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def of_blas() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_inside_everything_has_one_thread(two_threads):
    with one_thread():
        assert torch.get_num_threads() == 1
        assert set(of_blas()) == {1}


def test_afterwards_everything_has_as_many_as_before(two_threads):
    before = of_blas()
    with one_thread():
        pass
    assert torch.get_num_threads() == 2
    assert of_blas() == before


def test_an_error_inside_changes_nothing_about_that(two_threads):
    before = of_blas()
    with pytest.raises(ZeroDivisionError), one_thread():
        raise ZeroDivisionError
    assert torch.get_num_threads() == 2
    assert of_blas() == before


def test_one_inside_another_changes_nothing_until_the_outer_ends(two_threads):
    with one_thread():
        with one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 1
        assert set(of_blas()) == {1}
    assert torch.get_num_threads() == 2


def test_threads_started_inside_have_one_too(two_threads):
    seen = []
    with one_thread():
        worker = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
        worker.start()
        worker.join()
    assert seen == [1]


def test_it_can_be_entered_by_several_threads_at_once(two_threads):
    def work():
        with one_thread():
            torch.ones(20, 20) @ torch.ones(20, 20)

    with one_thread():
        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert torch.get_num_threads() == 1
        assert set(of_blas()) == {1}
    assert torch.get_num_threads() == 2


ASKS = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"


def hears_nothing():
    return subprocess.run([sys.executable, "-c", ASKS], capture_output=True, text=True, check=True).stdout == "True\n"


def test_processes_started_inside_are_deaf_to_ctrl_c_and_this_one_is_not():
    before = signal.getsignal(signal.SIGINT)
    with deaf_workers():
        assert hears_nothing()
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_leaves_signals_alone():
    seen = []

    def work():
        with deaf_workers():
            seen.append(signal.getsignal(signal.SIGINT))

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    assert seen == [signal.getsignal(signal.SIGINT)]
