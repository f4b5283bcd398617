"""What `__all__` says is what there is: exact and sorted, in the package and in every room."""

import importlib
import pkgutil
import subprocess
import sys
from types import ModuleType

import pytest

import fwl

ROOMS = ["fwl", *(f"fwl.{info.name}" for info in pkgutil.iter_modules(fwl.__path__) if info.ispkg)]


def public_names(module):
    return {
        name for name, value in vars(module).items() if not name.startswith("_") and not isinstance(value, ModuleType)
    }


@pytest.mark.parametrize("name", [room for room in ROOMS if room != "fwl.cli"])
def test_all_is_exact(name):
    module = importlib.import_module(name)
    for public in module.__all__:
        getattr(module, public)  # the package itself looks its names up when they are asked for
    assert set(module.__all__) == public_names(module) - {"annotations"}
    assert len(module.__all__) == len(set(module.__all__))


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_opens_with_one_sentence(name):
    docstring = importlib.import_module(name).__doc__
    assert docstring is not None
    assert docstring.strip().count("\n") == 0
    assert docstring.strip().endswith(".")


def test_importing_draws_nothing_from_global_generators():
    code = (
        "import numpy as np, torch; np.random.seed(1); torch.manual_seed(1);"
        "a = np.random.get_state()[1].tolist(), torch.get_rng_state().tolist();"
        "import fwl, fwl.cli.main; from fwl import *;"
        "assert a == (np.random.get_state()[1].tolist(), torch.get_rng_state().tolist())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_estimators_are_imported_without_torch():
    code = (
        "import sys; from fwl import FWLClassifier, FWLRegressor, WeakSet, FWLError;"
        "FWLClassifier(beta=2.0).get_params(); assert 'torch' not in sys.modules, 'torch was loaded';"
        "import fwl; fwl.Chance; assert 'torch' in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
