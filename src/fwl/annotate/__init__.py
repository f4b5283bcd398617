"""Annotators: samples become weak labels, cheaply and with errors."""

from fwl.annotate.contract import Annotator
from fwl.annotate.formula import Formula
from fwl.annotate.lexicon import Lexicon, SentiWordNet
from fwl.annotate.vader import Vader

__all__ = ["Annotator", "Formula", "Lexicon", "SentiWordNet", "Vader"]
