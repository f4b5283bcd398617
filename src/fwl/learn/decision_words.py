"""A verdict on methods, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fwl.learn.compare_methods import Comparison
from fwl.learn.fold_work import ANNOTATOR, AUTO, AUTO_READING
from fwl.learn.own_data import LINEAR_ALONE

if TYPE_CHECKING:
    from fwl.learn.decide import Lead, Verdict
    from fwl.learn.reach import Range, Reach

CLEARLY, PROBABLY = 0.95, 0.8  # how sure one has to be to say so
DESCRIBED = {
    ANNOTATOR: "the annotator alone",
    LINEAR_ALONE: "a linear model of the strong labels",
    "NN_S": "the student on strong labels alone",
    "NN_W": "the student on weak labels alone",
    "NN_S+/W": "the student on both kinds of labels by turns",
    "NN_W->S": "weak labels first, then fine-tuned on the strong ones",
    "NN_W->Sx4": "four students, weak then strong, averaged",
    "FWL_noSigma": "the teacher's labels without fidelity",
    "FWL": "the paper's fidelity-weighted learning",
    AUTO: "students, teacher and linear model averaged",
    AUTO_READING: "students, teacher and linear model averaged, the teacher reading the weak labels of new rows",
}
OF_NUMBERS = {
    AUTO: "a student taught by the teacher, all choices made by the strong labels",
    AUTO_READING: "the teacher itself, reading the weak labels of new rows",
}


def described(method: str, of_numbers: bool) -> str:
    """What a method is, in a few words; none for one that was not compared."""
    words = {**DESCRIBED, **OF_NUMBERS} if of_numbers else DESCRIBED
    return words.get(method, "")


def in_words(verdict: Verdict, comparison: Comparison) -> tuple[str, ...]:
    """The verdict as sentences."""
    said = [_use(verdict, comparison)]
    if verdict.over_simple is not None:
        said.append(_against_simple(verdict, comparison))
    else:
        said += _simple_wins(verdict, comparison)
    said += _on_the_level(verdict, comparison)
    if verdict.reach is not None:
        said.append(_on_reach(verdict.reach, comparison))
    if verdict.best != verdict.kept:
        said.append(_on_the_best(verdict, comparison))
    if comparison.copies:
        said.append(
            f"{comparison.copies:,} weak rows nearly repeat a strong row and were left out of the comparison: "
            "its figures are for texts of which no copy was learned from."
        )
    return tuple(said)


def _on_the_best(verdict: Verdict, comparison: Comparison) -> str:
    lead = next(lead for lead in verdict.leads if lead.over == verdict.best)
    if verdict.best == ANNOTATOR and lead.probability <= 1.0 - CLEARLY:
        return "The annotator alone is clearly better: where it can be run on new rows, no model is needed."
    return (
        f"{_named(verdict.best, comparison)} had the best mean on these rows, but not by enough to go against what is "
        "known of these methods from elsewhere."
    )


def _use(verdict: Verdict, comparison: Comparison) -> str:
    mean, error = verdict.score
    figure = _figure(mean, comparison)
    said = f"Use {_named(verdict.kept, comparison)}: {comparison.metric} {figure} ± {_figure(error, comparison)} "
    said += f"on strong rows it had not seen ({comparison.strong} rows)."
    if verdict.kept == AUTO_READING:
        said += f" For rows that come without a weak label, {_named(verdict.without_weak, comparison)}."
    return said


def _against_simple(verdict: Verdict, comparison: Comparison) -> str:
    lead = verdict.over_simple
    assert lead is not None
    surely = "clearly" if lead.probability >= CLEARLY else "probably"
    measured = _measured(lead, comparison)
    chance = f"{100 * lead.probability:.0f} % sure"
    rival = _named(lead.over, comparison)
    if lead.over not in verdict.called_worse:
        return f"Whether that is better than {rival} cannot be told from these rows ({measured}, {chance})."
    return f"It is {surely} better than {rival} ({measured}, {chance})."


def _simple_wins(verdict: Verdict, comparison: Comparison) -> list[str]:
    leads = [lead for lead in verdict.leads if lead.over == AUTO]
    return [
        f"The simpler method wins: {_signed(lead.observed, comparison)} over {_named(AUTO, comparison)}."
        for lead in leads
    ]


def _on_the_level(verdict: Verdict, comparison: Comparison) -> list[str]:
    """Methods that no other sentence speaks of and that these rows cannot tell from the one kept."""
    simple = AUTO if verdict.over_simple is None else verdict.over_simple.over
    spoken_of = {simple, verdict.best, verdict.without_weak}
    level = [
        f"{_named(lead.over, comparison)} ({_measured(lead, comparison)})"
        for lead in verdict.level
        if lead.over not in spoken_of
    ]
    return [f"As good, for all that these rows can tell: {'; '.join(level)}."] if level else []


def _on_reach(reach: Reach, comparison: Comparison) -> str:
    """With how many strong labels FWL leads, as far as that is believed, and what of it is sure."""
    much = "a twentieth of the error" if comparison.lower_is_better else "half a point"
    should = "should" if reach.believed else "should not"
    leads, sure = f"{reach.method} {should} lead by {much} or more {_believed(reach)}", []
    if reach.probably is not None:
        sure.append(f"probably ahead {_between(reach.probably)}")
    if reach.probably_behind_from is not None:
        sure.append(f"probably behind {_between((reach.probably_behind_from, None))}")
    if not sure:
        return f"{leads}, but that is a guess: these rows cannot tell."
    return f"{leads} ({', '.join(sure)}; of other numbers these rows cannot tell)."


def _believed(reach: Reach) -> str:
    """With how many labels the lead is worth having; the first that were tried are no beginning."""
    if reach.believed is None:
        return "with any number of strong labels that can be seen from here"
    begins, ends = reach.believed
    if begins > reach.sizes[0]:
        return f"{_between(reach.believed)} strong labels" if ends else f"from about {_about(begins)} strong labels on"
    return f"up to about {_about(ends)} strong labels" if ends else f"with {_about(begins)} strong labels and more"


def _between(labels: Range) -> str:
    begins, ends = labels
    return f"from {_about(begins)} on" if ends is None else f"with {_about(begins)} to {_about(ends)}"


def _about(labels: int) -> str:
    """A number of labels to two digits."""
    return f"{float(f'{labels:.2g}'):,.0f}"


def _named(method: str, comparison: Comparison) -> str:
    return f"{method} ({described(method, comparison.lower_is_better)})"


def _measured(lead: Lead, comparison: Comparison) -> str:
    return f"measured {_signed(lead.observed, comparison)} ± {_figure(lead.standard_error, comparison)}"


def _figure(value: float, comparison: Comparison) -> str:
    return f"{value:.3g}" if comparison.lower_is_better else f"{100 * value:.1f} %"


def _signed(value: float, comparison: Comparison) -> str:
    return f"{value:+.3g}" if comparison.lower_is_better else f"{100 * value:+.1f} points"
