"""Estimators: the method behind scikit-learn's contract."""

import typing as _typing
from importlib import import_module as _import_module

if _typing.TYPE_CHECKING:
    from fwl.estimators.auditing import Audit, audit, suggest_rows
    from fwl.estimators.classifier import FWLClassifier
    from fwl.estimators.comparing import Compared, compare_on
    from fwl.estimators.ranker import FWLRanker
    from fwl.estimators.regressor import FWLRegressor
    from fwl.estimators.saving import load_model, load_notes, save_model

__all__ = [
    "Audit",
    "Compared",
    "FWLClassifier",
    "FWLRanker",
    "FWLRegressor",
    "audit",
    "compare_on",
    "load_model",
    "load_notes",
    "save_model",
    "suggest_rows",
]

# The modules that these names come from are opened when one is asked for: an estimator is there before torch is.
_MODULES = {
    "auditing": ("Audit", "audit", "suggest_rows"),
    "classifier": ("FWLClassifier",),
    "comparing": ("Compared", "compare_on"),
    "ranker": ("FWLRanker",),
    "regressor": ("FWLRegressor",),
    "saving": ("load_model", "load_notes", "save_model"),
}


def _find(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            globals()[name] = getattr(_import_module(f"fwl.estimators.{module}"), name)  # found once
            return globals()[name]
    raise AttributeError(f"module 'fwl.estimators' has no attribute {name!r}")


if not _typing.TYPE_CHECKING:  # type checkers know the names from above, and should not take any other
    __getattr__ = _find
