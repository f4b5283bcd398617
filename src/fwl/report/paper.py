"""Tables of the paper that were measured on data we do not have: shown beside ours, never compared number by number."""

from __future__ import annotations

from fwl.report.parts import Table

_TWO_COLLECTIONS = ("Robust04 MAP", "Robust04 nDCG@20", "ClueWeb09 MAP", "ClueWeb09 nDCG@20")

# Method -> figures in the columns' order, each with the numbers of the rows it beats.
_RANKING = {
    "WA": ("0.2503 ▲ 3 7", "0.4102 ▲ 3 7", "0.1021 ▲ 3 7", "0.2070 ▲ 3 7"),
    "NN_W": ("0.2702 ▲ 1 3 7", "0.4290 ▲ 1 3 7", "0.1297 ▲ 1 3 7", "0.2201 ▲ 1 3 7"),
    "NN_S": ("0.1790", "0.3519", "0.0782", "0.1730"),
    "NN_S+/W": ("0.2763 ▲ 1-3 7", "0.4330 ▲ 1-3 7", "0.1354 ▲ 1-3 7", "0.2319 ▲ 1-3 7"),
    "NN_W->S": ("0.2810 ▲ 1-3 7", "0.4372 ▲ 1-3 7", "0.1346 ▲ 1-3 7", "0.2317 ▲ 1-3 7"),
    "NN_Womega->S": ("0.2899 ▲ 1-5 7", "0.4431 ▲ 1-5 7", "0.1320 ▲ 1-4 7", "0.2309 ▲ 1-4 7"),
    "FWL_unsuprep": ("0.2211 ▲ 3 7", "0.3700 ▲ 3 7", "0.0831 ▲ 3 7", "0.1964 ▲ 3 7"),
    "FWL_noSigma": ("0.2980 ▲ 1-5 7", "0.4516 ▲ 1-5 7", "0.1386 ▲ 1-5 7", "0.2340 ▲ 1-5 7"),
    "FWL": ("**0.3124** ▲ 1-8", "**0.4607** ▲ 1-8", "**0.1472** ▲ 1-8", "**0.2453** ▲ 1-8"),
}
_TEACHERS = {
    "FWL_GP": ("0.2614", "0.4192", "0.1205", "0.2121", "0.6904", "0.6173"),
    "FWL_PCA->GP": ("0.2864", "0.4411", "0.1331", "0.2388", "0.7022", "0.6340"),
    "FWL_clusteredGP": ("**0.3124**", "**0.4607**", "**0.1472**", "**0.2453**", "**0.7470**", "**0.6830**"),
}

RANKING = Table(
    ("method", *_TWO_COLLECTIONS),
    tuple((f"`{i} {name}`", *figures) for i, (name, figures) in enumerate(_RANKING.items(), start=1)),
    frozenset({1, 2, 3, 4}),
    "The paper's figures and triangles, as printed there; other data than ours.",
)
TEACHERS = Table(
    ("method", *_TWO_COLLECTIONS, "SemEval-14 F1", "SemEval-15 F1"),
    tuple((f"`{name}`", *figures) for name, figures in _TEACHERS.items()),
    frozenset(range(1, 7)),
    "The paper's figures, as printed there; the collections are other data than ours.",
)
