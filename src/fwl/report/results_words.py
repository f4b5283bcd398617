"""Plain paragraphs about a run: what of the paper holds, what does not, and why, in sentences made of its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fwl.records import Result, Row
from fwl.report.analysis import budgets
from fwl.report.claims import FAILS, HOLDS, OF_THE_TEACHER, OPEN, Finding, Judged, difference, first_metrics, p_told
from fwl.report.tables import is_best

# What the paper says of its tables: the first of each pair is the better one.
ORDER = (
    *(("FWL", "NN_W->S"), ("FWL", "WA"), ("FWL", "FWL_noSigma"), ("FWL", "FWL_unsuprep")),
    *(("NN_W->S", "NN_W"), ("NN_W", "WA")),
)
TABLES = ("toy", "sentiment", "ranking")  # the runs that have all methods
SKEW = "effective share"  # how the metric of the fidelities' skew begins
LEADS = {HOLDS: "**Holds:**", FAILS: "**Does not hold:**", OPEN: "**Not decided here:**"}


def table_story(result: Result) -> tuple[str, ...]:
    """A paragraph for each dataset of a table: who leads, what of the paper's order holds, and why."""
    several = len(first_metrics(result)) > 1
    return tuple(_of_dataset(result, rows, several) for rows in first_metrics(result))


def _of_dataset(result: Result, rows: Sequence[Row], named: bool) -> str:
    by_method = {row.method: row for row in rows}
    said = [_leader(rows), *_order(by_method), *_why(result, by_method, rows[0])]
    return (f"On `{rows[0].dataset}`: " if named else "") + " ".join(said)


def _leader(rows: Sequence[Row]) -> str:
    best, others = next(row for row in rows if is_best(row, rows)), len(rows) - 1
    beaten = len(best.better_than)
    ahead = "every other row" if beaten == others else f"{beaten or 'none'} of {others} other rows"
    clearly = f", clearly better than {ahead}" if others else ""
    return f"`{best.method}` has the best {best.metric}, {best.mean:.4f}{clearly}."


def _order(by_method: Mapping[str, Row]) -> list[str]:
    """The pairs of the paper's order, sorted by what became of them here."""
    sorted_: dict[str, list[str]] = {verdict: [] for verdict in LEADS}
    for better, worse in ORDER:
        if better in by_method and worse in by_method:
            verdict, told = _pair(by_method[better], by_method[worse])
            sorted_[verdict].append(told)
    return [f"{LEADS[verdict]} {'; '.join(told)}." for verdict, told in sorted_.items() if told]


def _pair(better: Row, worse: Row) -> tuple[str, str]:
    found = difference(better, worse)
    told = (
        f"`{better.method}` ahead of `{worse.method}` ({better.mean:.4f} against {worse.mean:.4f}, "
        f"{p_told(found.p, better)})"
    )
    return {1: HOLDS, 0: OPEN, -1: FAILS}[found.direction], told


def _why(result: Result, by_method: Mapping[str, Row], first: Row) -> list[str]:
    reasons = [*_of_the_teacher(result, first.dataset), *_of_the_annotator(by_method), *_of_the_weights(by_method)]
    return [f"**Why:** {' '.join(reasons)}"] if reasons else []


def _of_the_teacher(result: Result, dataset: str) -> list[str]:
    """Whether the teacher knows more than the student it teaches knew before, by the metric both were measured on."""
    here = {(row.metric, row.method): row for row in result.rows if row.dataset == dataset}
    for (metric, method), teacher in here.items():
        before = here.get((metric.removesuffix(OF_THE_TEACHER), "NN_W"))
        if metric.endswith(OF_THE_TEACHER) and method == "FWL" and before is not None:
            return [_teacher_told(teacher, before)]
    return []


def _teacher_told(teacher: Row, before: Row) -> str:
    found = difference(teacher, before)
    figures = f"{before.metric} {teacher.mean:.4f} against {before.mean:.4f}, {p_told(found.p, teacher)}"
    if found.direction > 0:
        return f"The teacher of `FWL` knows more than the student it teaches knew after step 1 ({figures})."
    if found.direction < 0:
        return (
            f"The teacher of `FWL` knows less than the student it teaches knew after step 1 ({figures}): its soft "
            "labels have little to add."
        )
    return f"The teacher of `FWL` and the student it teaches, after step 1, cannot be told apart ({figures})."


def _of_the_annotator(by_method: Mapping[str, Row]) -> list[str]:
    annotator = by_method.get("WA")
    if annotator is None or annotator.paper is None:
        return []
    return [f"Our annotator reaches {annotator.mean:.4f} by itself, the paper's {annotator.paper:.4f}."]


def _of_the_weights(by_method: Mapping[str, Row]) -> list[str]:
    """What the fidelities alone are worth."""
    full, flat = by_method.get("FWL"), by_method.get("FWL_noSigma")
    if full is None or flat is None:
        return []
    effect = {1: "helps", 0: "makes no difference that can be seen", -1: "does harm"}[difference(full, flat).direction]
    return [f"Weighting by fidelity {effect}: {full.mean:.4f} with, {flat.mean:.4f} without."]


def claim_story(judged: Iterable[Judged], result: Result, others: Iterable[Result] = ()) -> tuple[str, ...]:
    """Paragraphs on an analysis: its claims, where each holds, does not, or stays open; and what lies behind that.

    Args:
        judged: its claims.
        result: the analysis.
        others: runs on the same data, in which a reason may be found.
    """
    behind = {
        "How much is at stake": [_span(rows) for rows in first_metrics(result) if rows[0].at],
        "Label budget": [str(budget).removesuffix(".") for budget in budgets(result)],
        "Why": [*_skews(result), *_teachers_alone(result), *_found_elsewhere(result, others)],
    }
    told = [_claim_told(entry) for entry in judged]
    return (*told, *(f"**{head}:** {'; '.join(parts)}." for head, parts in behind.items() if parts))


def _skews(result: Result) -> list[str]:
    """How uneven the fidelities are by which samples are drawn."""
    rows = {row.dataset: row for row in result.rows if row.metric.startswith(SKEW) and row.method == "FWL_s"}
    return [
        f"on `{name}` the fidelities are worth {row.mean:.1%} of the soft set as equal ones (100 % is no skew at all)"
        for name, row in rows.items()
    ]


def _teachers_alone(result: Result) -> list[str]:
    """What teachers reach by themselves, where an analysis compares them."""
    told = []
    for first in first_metrics(result):
        metric = f"{first[0].metric}{OF_THE_TEACHER}"
        own = [row for row in result.rows if (row.dataset, row.metric) == (first[0].dataset, metric)]
        figures = ", ".join(f"`{row.method}` {row.mean:.4f}" for row in own)
        told += [f"on `{own[0].dataset}` the teachers alone have {first[0].metric} {figures}"] if own else []
    return told


def _found_elsewhere(result: Result, others: Iterable[Result]) -> list[str]:
    """Reasons that stand in other runs: even fidelities, a teacher that knows little, a student that does."""
    own = {row.dataset.partition(", ")[0] for row in result.rows}
    told = []
    for other in others:
        for dataset in dict.fromkeys(row.dataset for row in other.rows if row.dataset in own):
            told += [f"on `{dataset}` {reason}" for reason in _reasons(result.experiment, other, dataset)]
    return told


def _reasons(experiment: str, other: Result, dataset: str) -> list[str]:
    """What another run says about one dataset of an analysis."""
    of_dataset = replace(other, rows=tuple(row for row in other.rows if row.dataset == dataset))
    if experiment == "beta" and other.experiment == "sampling":
        return [f"{told.partition('` ')[2]}, at β = 1" for told in _skews(of_dataset)]
    if experiment == "learning-curve" and other.experiment in TABLES:
        return [f"the{told.removeprefix('The').removesuffix('.')}" for told in _of_the_teacher(other, dataset)]
    if experiment == "annotators" and other.experiment in TABLES:
        return _step_1_told({row.method: row for row in first_metrics(of_dataset)[0]})
    return []


def _step_1_told(by_method: Mapping[str, Row]) -> list[str]:
    student, annotator = by_method.get("NN_W"), by_method.get("WA")
    if student is None or annotator is None:
        return []
    effect = {1: "is ahead of", 0: "is level with", -1: "falls short of"}[difference(student, annotator).direction]
    figures = f"{student.metric} {student.mean:.4f} against {annotator.mean:.4f}"
    return [f"the student {effect} its annotator before it has seen a strong label ({figures})"]


def _claim_told(entry: Judged) -> str:
    parts = [
        f"{LEADS[verdict]} {_where(finding for finding in entry.findings if finding.verdict == verdict)}."
        for verdict in LEADS
        if any(finding.verdict == verdict for finding in entry.findings)
    ]
    return f"The paper: {entry.claim.text}. {' '.join(parts)}"


def _where(findings: Iterable[Finding]) -> str:
    return "; ".join(f"{data_told(finding.data)}{finding.figures}" for finding in findings)


def data_told(data: str) -> str:
    """Of which data a finding is, before its figures; the name first, as it may have stars in it."""
    name, comma, rest = data.partition(", ")
    return f"`{name}`{comma}{rest}: " if data else ""


def _span(rows: Sequence[Row]) -> str:
    best, worst = sorted((max(rows, key=_goodness), min(rows, key=_goodness)), key=_goodness, reverse=True)
    return f"`{best.dataset}` {best.metric} from {worst.mean:.4f} to {best.mean:.4f}"


def _goodness(row: Row) -> float:
    return -row.mean if row.lower_is_better else row.mean


# What stands in folders of these names, where nobody measures it.
KNOWN_DATA = {
    "sentiment": "323,047 tweets",
    "cranfield": "1,400 abstracts and 225 queries",
    "nfcorpus": "3,395 abstracts and 3,244 queries",
    "wikiqa": "26,270 sentences and 3,047 questions",
}


def scale_story(runs: Mapping[str, Result]) -> tuple[str, ...]:
    """Which data, and how much of it: ours beside the paper's."""
    head = (
        "Every number below is of a stored run, its `results.json`, with the paper's number beside it where the paper "
        "has one for the same data. Our scale is smaller than the paper's throughout, so what cannot be seen here may "
        "still be there with more."
    )
    return (head, *_scales(runs))


def _scales(runs: Mapping[str, Result]) -> list[str]:
    said = [told for run in runs.values() for told in (_scale(run),) if told]
    return [*dict.fromkeys(said)]


def _scale(run: Result) -> str:
    tell = {"sentiment": _tweets_scale, "ranking": _ranking_scale}.get(run.experiment)
    return "" if tell is None else tell(run)


def _tweets_scale(run: Result) -> str:
    pool = run.settings.get("n_pool", 0)
    drawn = f"{pool:,} of " if pool else ""
    return f"Sentiment: {drawn}{_data(run)} for the weak set, where the paper has 50 million tweets."


def _ranking_scale(run: Result) -> str:
    s = run.settings
    return (
        f"Ranking, `{run.rows[0].dataset}`: {_data(run)}, with up to {s.get('weak_queries', 0):,} weak queries and "
        f"{s.get('weak_pairs', 0):,} weak pairs, where the paper has 500 thousand (Robust04) and 50 million "
        "(ClueWeb09) documents and six million queries."
    )


def _data(run: Result) -> str:
    name = str(run.settings.get("data", ""))
    return KNOWN_DATA.get(name, f"what the folder `{name}` holds") if name else "made-up data"
