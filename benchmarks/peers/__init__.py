"""The teachers of `benchmarks.teachers`, one module for each library, each run in a process of its own.

`common.py` says what a peer is, `child.py` fits one, lets it predict and measures. Both import numpy and scikit-learn
only, so that they also run where `fwl` and torch are not installed.
"""
