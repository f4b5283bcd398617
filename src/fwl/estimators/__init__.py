"""Estimators: the method behind scikit-learn's contract."""

from fwl.estimators.classifier import FWLClassifier
from fwl.estimators.ranker import FWLRanker
from fwl.estimators.regressor import FWLRegressor
from fwl.estimators.saving import load_model, load_notes, save_model

__all__ = ["FWLClassifier", "FWLRanker", "FWLRegressor", "load_model", "load_notes", "save_model"]
