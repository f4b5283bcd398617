"""Evaluation: predictions become numbers, and numbers become claims."""

from fwl.evaluate.folds import folds
from fwl.evaluate.measures import rmse
from fwl.evaluate.ranking import mean_over_queries, rank_measures
from fwl.evaluate.significance import compare

__all__ = ["compare", "folds", "mean_over_queries", "rank_measures", "rmse"]
