"""What the paper's analysis says, and whether the stored rows bear it out: holds, does not hold, or not decided here.

Every verdict comes from differences that are paired (over seeds, or over what stands in the rows' own p-values) and
counts only what the paired two-tailed t-test tells apart at 0.05.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fwl.evaluate.significance import LEVEL, paired_p
from fwl.records import Array, Result, Row

HOLDS, FAILS, OPEN = "holds", "does not hold", "not decided here"
OF_THE_TEACHER = " of the teacher"  # how metrics of a teacher alone end
AXES = {"n_weak": "more weak data", "n_strong": "more strong data", "weak_share": "more weak data"}
TEACHERS = ("FWL_clusteredGP", "FWL_PCA->GP", "FWL_GP")  # best first, as the paper has them
ANNOTATOR = "WA"
STUDENTS = {"": "", "_score": ", by our own student"}  # how the rows of a task's other student end, and how it is told


Groups = Sequence[Sequence[Row]]  # rows of one dataset and metric


@dataclass(frozen=True)
class Finding:
    """What some rows say of a claim: on which data, the verdict, and the figures behind it."""

    data: str
    verdict: str
    figures: str


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper's analysis.

    Attributes:
        text: what it says.
        experiment: whose rows decide it.
        rule: how, in words.
        decide: the rows of each dataset's first metric -> what they say; nothing of data it is not about.
    """

    text: str
    experiment: str
    rule: str
    decide: Callable[[Groups], list[Finding]]


@dataclass(frozen=True)
class Judged:
    """A claim with everything that was found of it."""

    claim: Claim
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Difference:
    """By how much the first of two is better than the second, and how likely that is chance."""

    amount: float
    p: float

    @property
    def is_clear(self) -> bool:
        """Whether the test tells the two apart."""
        return self.p < LEVEL

    @property
    def direction(self) -> int:
        """1 where the first is clearly better, -1 where it is clearly worse, 0 where nobody can tell."""
        return int(np.sign(self.amount)) if self.is_clear else 0


def judge(results: Iterable[Result]) -> list[Judged]:
    """Every claim of the paper's analysis with what these runs say of it."""
    known = list(results)
    return [Judged(claim, _findings(claim, known)) for claim in CLAIMS]


def _findings(claim: Claim, results: Sequence[Result]) -> tuple[Finding, ...]:
    runs = [first_metrics(result) for result in results if result.experiment == claim.experiment]
    found = [finding for groups in runs for finding in claim.decide(groups)]
    missing = Finding("", OPEN, f"`{claim.experiment}` has no rows of it here: not run")
    return tuple(found) or (missing,)


def _each(decide: Callable[[Sequence[Row]], list[Finding]]) -> Callable[[Groups], list[Finding]]:
    """A decision on one dataset, made on every one."""
    return lambda groups: [finding for rows in groups for finding in decide(rows)]


def first_metrics(result: Result) -> list[list[Row]]:
    """The rows of each dataset's first metric: the one that the experiment is about."""
    metric: dict[str, str] = {}
    for row in result.rows:
        metric.setdefault(row.dataset, row.metric)
    return [[row for row in result.rows if (row.dataset, row.metric) == pair] for pair in metric.items()]


def difference(a: Row, b: Row, tests: int = 1) -> Difference:
    """How much better one row is than another.

    Rows of one table bring their p-value along, corrected there. Others are paired over seeds, and their p-value is
    multiplied by the number of tests that are made.
    """
    amount = (b.mean - a.mean) if a.lower_is_better else (a.mean - b.mean)
    stored = _stored_p(a, b)
    return Difference(amount, min(1.0, tests * _seeds_p(a.values, b.values)) if stored is None else stored)


def _stored_p(a: Row, b: Row) -> float | None:
    if (a.dataset, a.metric, a.at) != (b.dataset, b.metric, b.at):
        return None
    return a.p_values.get(b.method, b.p_values.get(a.method))


def _seeds_p(a: Sequence[float] | Array, b: Sequence[float] | Array) -> float:
    return paired_p(list(a), list(b)) if len(a) == len(b) else 1.0


def _best(rows: Iterable[Row]) -> Row:
    return max(rows, key=_goodness)


# beta


def _one_is_best(rows: Sequence[Row]) -> list[Finding]:
    return [] if rows[0].dataset in ("toy*", "toy**") else _beta_duel(rows, lambda beta: beta == 1.0, _is_not_one)


def _higher_with_few(rows: Sequence[Row]) -> list[Finding]:
    return _beta_duel(rows, lambda beta: beta > 1.0, _is_one) if rows[0].dataset == "toy*" else []


def _lower_with_bad(rows: Sequence[Row]) -> list[Finding]:
    return _beta_duel(rows, lambda beta: beta < 1.0, _is_one) if rows[0].dataset == "toy**" else []


def _is_one(beta: float) -> bool:
    return beta == 1.0


def _is_not_one(beta: float) -> bool:
    return beta != 1.0


def _beta_duel(
    rows: Sequence[Row], claimed: Callable[[float], bool], against: Callable[[float], bool]
) -> list[Finding]:
    """The best of the values of beta that the paper prefers against the best of the others."""
    own = [row for row in rows if "beta" in row.at and row.method == "FWL"]
    ours, theirs = ([row for row in own if test(row.at["beta"])] for test in (claimed, against))
    if not ours or not theirs:
        return []
    a, b = _best(ours), _best(theirs)
    found = difference(a, b, tests=max(len(ours), len(theirs)))
    told = f"{a.metric} {_at_beta(a)}{_best_of(ours)} against {_at_beta(b)}{_best_of(theirs)}; {p_told(found.p, a)}"
    return [Finding(a.dataset, _verdict(found.direction), told)]


def _best_of(rows: Sequence[Row]) -> str:
    return f" (the best of {len(rows)})" if len(rows) > 1 else ""


def _at_beta(row: Row) -> str:
    return f"{row.mean:.4f} at β = {row.at['beta']:g}"


# the learning curve


def _learns_faster(rows: Sequence[Row]) -> list[Finding]:
    axes = dict.fromkeys(name for row in rows for name in row.at)
    return [found for axis in axes for end in STUDENTS for found in _on_axis(rows, axis, end)]


def _on_axis(rows: Sequence[Row], axis: str, end: str) -> list[Finding]:
    """The two curves, each averaged over the places where both were measured, seed by seed."""
    with_teacher, without = (_by_place(rows, axis, method + end) for method in ("FWL", "NN_W->S"))
    places = [place for place in with_teacher if place in without]
    if not places:
        return []
    pairs = [(with_teacher[place], without[place]) for place in places]
    found = _mean_difference(pairs)
    better, worse = (sum(difference(a, b).direction == side for a, b in pairs) for side in (1, -1))
    told = (
        f"{pairs[0][0].metric} averaged over {len(places)} amounts: FWL{end} {_mean(a for a, _ in pairs):.4f}, "
        f"NN_W->S{end} {_mean(b for _, b in pairs):.4f}; {p_told(found.p, pairs[0][0])}; clearly better at {better} of "
        f"{len(places)} amounts and clearly worse at {worse}"
    )
    direction = found.direction or _agreed(better, worse, len(places))
    return [Finding(f"{rows[0].dataset}, {AXES.get(axis, axis)}{STUDENTS[end]}", _verdict(direction), told)]


def _agreed(better: int, worse: int, places: int) -> int:
    """What most places say where none says the opposite: of use where seeds are too few to test over."""
    return int(better > places / 2 and not worse) - int(worse > places / 2 and not better)


def _by_place(rows: Sequence[Row], axis: str, method: str) -> dict[float, Row]:
    found = {row.at[axis]: row for row in rows if axis in row.at and row.method == method}
    return dict(sorted(found.items()))


def _mean(rows: Iterable[Row]) -> float:
    return float(np.mean([row.mean for row in rows]))


def _mean_difference(pairs: Sequence[tuple[Row, Row]]) -> Difference:
    sign = -1.0 if pairs[0][0].lower_is_better else 1.0
    amount = sign * (_mean(a for a, _ in pairs) - _mean(b for _, b in pairs))
    if len({len(row.values) for pair in pairs for row in pair}) > 1:
        return Difference(amount, 1.0)  # not the same seeds everywhere
    first, second = (np.mean([pair[side].values for pair in pairs], axis=0) for side in (0, 1))
    return Difference(amount, _seeds_p(first, second))


# annotators


def _better_annotator_smaller_gain(groups: Groups) -> list[Finding]:
    """Of data on which several annotators taught FWL: their datasets have the same name, then a comma and theirs."""
    by_data: dict[tuple[str, str], dict[str, tuple[Row, Row]]] = {}
    for rows in groups:
        data, _, annotator = rows[0].dataset.partition(", ")
        by_method = {row.method: row for row in rows}
        for end in STUDENTS:
            if ANNOTATOR in by_method and f"FWL{end}" in by_method:
                pair = by_method[ANNOTATOR], by_method[f"FWL{end}"]
                by_data.setdefault((data, STUDENTS[end]), {})[annotator] = pair
    return [_gains(data + student, pairs) for (data, student), pairs in by_data.items() if len(pairs) > 1]


def _gains(data: str, pairs: Mapping[str, tuple[Row, Row]]) -> Finding:
    """Whether the gain falls as the annotator rises: the slope of a line through the annotators, seed by seed."""
    least_to_best = sorted(pairs.items(), key=lambda item: _goodness(item[1][0]))
    slopes = _slopes([pair for _, pair in least_to_best])
    p = paired_p(slopes, [0.0] * len(slopes))
    first = least_to_best[0][1][0]
    told = "; ".join(
        f"{name} {own.mean:.4f}, {taught.method} {taught.mean:.4f} ({gain(taught.mean, own):+.1%})"
        for name, (own, taught) in least_to_best
    )
    found = Difference(-float(np.mean(slopes)), p)
    return Finding(data, _verdict(found.direction), f"{first.metric} of {told}; slope {p_told(p, first)}")


def _slopes(pairs: Sequence[tuple[Row, Row]]) -> list[float]:
    seeds = min(len(row.values) for pair in pairs for row in pair)
    return [_slope([(own.values[s], gain(taught.values[s], own, s)) for own, taught in pairs]) for s in range(seeds)]


def _slope(points: Sequence[tuple[float, float]]) -> float:
    """Of the line through points by least squares; 0 where all annotators are equally good."""
    x, y = np.array(points).T
    spread = float(np.sum((x - x.mean()) ** 2))
    return float(np.sum((x - x.mean()) * (y - y.mean())) / spread) if spread > 0 else 0.0


def gain(value: float, annotator: Row, seed: int | None = None) -> float:
    """By which share of it a value is better than the annotator's own."""
    own = annotator.mean if seed is None else annotator.values[seed]
    return (own - value if annotator.lower_is_better else value - own) / own if own else 0.0


def _goodness(row: Row) -> float:
    return -row.mean if row.lower_is_better else row.mean


# sampling


def _starts_faster_ends_slower(rows: Sequence[Row]) -> list[Finding]:
    """FWL_s against FWL where least of the soft data was seen, and where most was."""
    axis = next((name for row in rows for name in row.at), "")
    sampled, weighted = (_by_place(rows, axis, method) for method in ("FWL_s", "FWL"))
    places = [place for place in sampled if place in weighted]
    if len(places) < 2:
        return []
    ends = [(sampled[place], weighted[place]) for place in (places[0], places[-1])]
    first, last = (difference(a, b) for a, b in ends)
    told = "; ".join(
        f"{when}: FWL_s {a.mean:.4f}, FWL {b.mean:.4f}, {p_told(found.p, a)}"
        for when, (a, b), found in zip(("first", "last"), ends, (first, last), strict=True)
    )
    verdict = _both(first.direction, -last.direction)
    return [Finding(rows[0].dataset, verdict, f"{rows[0].metric} {told}")]


# teachers


def _clustered_then_pca_then_single(rows: Sequence[Row]) -> list[Finding]:
    by_method = {row.method: row for row in rows if row.method in TEACHERS}
    if len(by_method) < len(TEACHERS):
        return []
    clustered, reduced, single = (by_method[name] for name in TEACHERS)
    found = [difference(clustered, reduced), difference(reduced, single)]
    told = (
        f"{clustered.metric}: clustered {clustered.mean:.4f}, PCA {reduced.mean:.4f}, single {single.mean:.4f}; "
        f"clustered against PCA {p_told(found[0].p, clustered)}, PCA against single {p_told(found[1].p, single)}"
    )
    return [Finding(rows[0].dataset, _both(*(d.direction for d in found)), told)]


def _verdict(direction: int) -> str:
    return {1: HOLDS, 0: OPEN, -1: FAILS}[direction]


def _both(*directions: int) -> str:
    """Of a claim with several parts: all have to hold, and one that does not is enough."""
    return _verdict(min(directions))


def p_told(p: float, row: Row) -> str:
    """A p-value as text; of one seed there is none over seeds."""
    if len(row.values) < 2 and p >= 1.0:
        return "one seed: no test over seeds"
    return f"p = {p:.2g}" if p >= 1e-4 else "p < 0.0001"


CLAIMS = (
    Claim(
        "β = 1 gives the best results",
        "beta",
        "β = 1 against the best other value, paired over seeds, p-value times the number of other values",
        _each(_one_is_best),
    ),
    Claim(
        "with very few strong points (`toy*`) a higher β is better",
        "beta",
        "the best β above 1 against β = 1, paired over seeds, p-value times the number of values above 1",
        _each(_higher_with_few),
    ),
    Claim(
        "with a very bad annotator (`toy**`) a lower β is better",
        "beta",
        "the best β below 1 against β = 1, paired over seeds, p-value times the number of values below 1",
        _each(_lower_with_bad),
    ),
    Claim(
        "the student learns faster with a teacher",
        "learning-curve",
        "FWL against NN_W->S, each averaged over the amounts of data, paired over seeds; where that decides nothing, "
        "what most amounts show clearly and none contradicts",
        _each(_learns_faster),
    ),
    Claim(
        "the better the annotator, the smaller the gain of FWL over it",
        "annotators",
        "the slope of the relative gain over the annotator's own quality, seed by seed, against 0",
        _better_annotator_smaller_gain,
    ),
    Claim(
        "sampling by fidelity (`FWL_s`) starts faster than FWL and ends slower",
        "sampling",
        "FWL_s clearly better than FWL at the first amount of soft data and clearly worse at the last",
        _each(_starts_faster_ends_slower),
    ),
    Claim(
        "as a teacher, a clustered GP is better than PCA before a GP, and that better than a single GP",
        "teachers",
        "both differences clear, by the table's own paired tests",
        _each(_clustered_then_pca_then_single),
    ),
)
