"""Estimators: the method behind scikit-learn's contract."""

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
