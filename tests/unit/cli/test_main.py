"""The command answers at once: what it lists is known without loading what does the work."""

import subprocess
import sys

import pytest

HEAVY = ("torch", "numpy", "scipy", "sklearn", "pyarrow", "matplotlib", "numba")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["reproduce", "--help"], ["fit", "--help"], ["tune", "--help"]]
)
def test_help_and_version_load_nothing_heavy(arguments):
    code = (
        "import sys, atexit; from fwl.cli.main import run;"
        f"atexit.register(lambda: print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr));"
        "run()"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "[]\n")
    assert done.stdout.startswith(("Usage: ", "fwl "))
