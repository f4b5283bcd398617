"""Annotators: samples become weak labels, cheaply and with errors."""

from fwl.annotate.contract import Annotator
from fwl.annotate.formula import Formula

__all__ = ["Annotator", "Formula"]
