"""Estimators: the method behind scikit-learn's contract."""

from fwl.estimators.regressor import FWLRegressor

__all__ = ["FWLRegressor"]
