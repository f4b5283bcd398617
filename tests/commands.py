"""The command `fwl` in this process: a new one would load torch each time."""

import contextlib
import io
import sys
from dataclasses import dataclass

import pytest

from fwl.cli.main import run


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def fwl(*arguments) -> Done:
    """Run the command and say how it ended."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(sys, "argv", ["fwl", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            run()
    return Done(stopped.value.code or 0, out.getvalue(), err.getvalue())


def refused(done: Done, message: str) -> bool:
    """Exit code 2, exactly this message, and nothing else."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr == f"error: {message}\n"
    assert done.stdout == ""
    return True
