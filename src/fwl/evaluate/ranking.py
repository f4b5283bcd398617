"""How good rankings are, by ir_measures (extra `ranking`): the numbers that trec_eval gives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from fwl.errors import InvalidInput

PAPERS = ("AP@1000", "nDCG@20")  # what the paper reports: MAP over the first 1,000, and nDCG over the first 20
KNOWN = "AP, AP@1000, nDCG@20, P@10 or RR"


def rank_measures(
    judgments: Mapping[str, Mapping[str, int]],
    run: Mapping[str, Sequence[tuple[str, float]]],
    measures: Sequence[str] = PAPERS,
) -> dict[str, dict[str, float]]:
    """Each measure's value for each judged query: 0 for one without results, nothing for one that nobody judged.

    The order of a ranking is taken as it is, even between documents that score alike.

    >>> ranking = [("b", 0.7), ("a", 0.7)]
    >>> rank_measures({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ranking}, ["AP", "P@1"])
    {'AP': {'q1': 0.5, 'q2': 0.0}, 'P@1': {'q1': 0.0, 'q2': 0.0}}

    Args:
        judgments: query id -> document id -> grade; above 0 is relevant, and nDCG's gain is the grade.
        run: query id -> documents with their scores, the best first.
        measures: as ir_measures names them, of those that trec_eval knows.
    """
    if not judgments:
        raise InvalidInput("judgments: expected those of at least one query, got none")
    ir_measures = _require_ir_measures()
    parsed = {name: _parsed(name, ir_measures) for name in measures}
    grades = {query: dict(its_grades) for query, its_grades in judgments.items()}
    places = {query: _places(query, run[query]) for query in judgments if query in run}
    found: dict[Any, dict[str, float]] = {measure: {} for measure in parsed.values()}
    for metric in ir_measures.pytrec_eval.iter_calc(list(found), grades, places):
        found[metric.measure][metric.query_id] = float(metric.value)
    return {name: {query: found[measure][query] for query in grades} for name, measure in parsed.items()}


def mean_over_queries(values: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure over its queries.

    >>> mean_over_queries({"AP": {"q1": 0.5, "q2": 0.0}})
    {'AP': 0.25}
    """
    if not all(values.values()):
        raise InvalidInput("values: expected each measure for at least one query, got none")
    return {name: math.fsum(of_queries.values()) / len(of_queries) for name, of_queries in values.items()}


def _places(query: str, ranking: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Scores that say nothing but the order: trec_eval sees scores in single precision and sorts them itself."""
    places = {document: -float(place) for place, (document, _) in enumerate(ranking)}
    if len(places) < len(ranking):
        raise InvalidInput(f"run: query {query!r} has a document twice; each has one place in a ranking")
    if not all(before >= after for (_, before), (_, after) in pairwise(ranking)):
        raise InvalidInput(f"run: the scores of query {query!r} rise or are no numbers; expected the best first")
    return places


def _parsed(name: str, ir_measures: Any) -> Any:
    try:
        measure = ir_measures.parse_measure(name)
        measure.validate_params()
    except (NameError, ValueError, TypeError, AssertionError) as error:
        raise InvalidInput(f"measure {name!r} cannot be read ({error}); expected one such as {KNOWN}") from error
    # What it has from elsewhere would run other programs, with ties of their own.
    if not ir_measures.pytrec_eval.supports(measure):
        raise InvalidInput(f"measure {name!r} is not one of trec_eval's; expected one such as {KNOWN}")
    return measure


def _require_ir_measures() -> Any:
    try:
        import ir_measures
    except ImportError as error:
        raise InvalidInput("rank_measures needs ir_measures; install it with: pip install 'fwl[ranking]'") from error
    return ir_measures
