"""Annotators: samples become weak labels, cheaply and with errors."""

from fwl.annotate.bm25 import BM25
from fwl.annotate.contract import Annotator
from fwl.annotate.formula import Formula
from fwl.annotate.index import InvertedIndex
from fwl.annotate.lexicon import Lexicon, SentiWordNet
from fwl.annotate.preference import WeakPairs, strong_pairs
from fwl.annotate.ranking import Hits
from fwl.annotate.rm3 import RM3
from fwl.annotate.vader import Vader
from fwl.annotate.vector_space import VectorSpace
from fwl.annotate.votes import Ballots, DawidSkene, Majority, Reliability, Votes, fit_dawid_skene, reliability
from fwl.annotate.weak_queries import WeakQueries, kept_queries

__all__ = [
    "BM25",
    "RM3",
    "Annotator",
    "Ballots",
    "DawidSkene",
    "Formula",
    "Hits",
    "InvertedIndex",
    "Lexicon",
    "Majority",
    "Reliability",
    "SentiWordNet",
    "Vader",
    "VectorSpace",
    "Votes",
    "WeakPairs",
    "WeakQueries",
    "fit_dawid_skene",
    "kept_queries",
    "reliability",
    "strong_pairs",
]
