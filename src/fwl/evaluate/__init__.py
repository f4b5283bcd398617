"""Evaluation: predictions become numbers, and numbers become claims."""

from fwl.evaluate.folds import folds
from fwl.evaluate.measures import rmse
from fwl.evaluate.significance import compare

__all__ = ["compare", "folds", "rmse"]
