"""Estimators: the method behind scikit-learn's contract."""

from fwl.estimators.ranker import FWLRanker
from fwl.estimators.regressor import FWLRegressor

__all__ = ["FWLRanker", "FWLRegressor"]
