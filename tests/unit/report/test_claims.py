"""Each claim on rows made for it: where it holds, where it does not, and where nobody can tell."""

from dataclasses import replace

import pytest
from tests.unit.report.examples import row, table_result

from fwl.report.claims import CLAIMS, FAILS, HOLDS, OPEN, difference, first_metrics, gain, judge

BETA_ONE, BETA_HIGHER, BETA_LOWER, FASTER, ANNOTATORS, SAMPLING, TEACHERS = range(len(CLAIMS))
NOISE = (0.0, 0.01, -0.01, 0.02, -0.02)


def around(mean, scale=1.0):
    """Seeds' values that have this mean."""
    return [mean + scale * noise for noise in NOISE]


def found(number, rows):
    experiment = CLAIMS[number].experiment
    return judge([table_result(experiment=experiment, rows=tuple(rows))])[number].findings


def verdicts(number, rows):
    return {finding.data: finding.verdict for finding in found(number, rows)}


def betas(dataset, means, lower=True, **values):
    given = {beta: around(mean, 0.1 * (i + 1)) for i, (beta, mean) in enumerate(means.items())}
    return [row("FWL", *given[beta], dataset=dataset, at={"beta": beta}, lower=lower, **values) for beta in means]


@pytest.mark.parametrize(
    ("means", "verdict"),
    [
        ({0.0: 0.5, 1.0: 0.3, 2.0: 0.4}, HOLDS),
        ({0.0: 0.2, 1.0: 0.3, 2.0: 0.4}, FAILS),
        ({0.0: 0.3, 1.0: 0.3001, 2.0: 0.4}, OPEN),
    ],
)
def test_beta_of_one_is_best_on_a_task(means, verdict):
    assert verdicts(BETA_ONE, betas("toy", means)) == {"toy": verdict}


def test_beta_of_one_is_asked_of_every_task_and_of_no_extreme_toy():
    rows = [
        *betas("toy*", {0.0: 0.5, 1.0: 0.3}),
        *betas("SemEval-14", {0.0: 0.5, 1.0: 0.7}, lower=False, metric="F1"),
        *betas("nfcorpus", {0.0: 0.3, 1.0: 0.2}, lower=False, metric="MAP"),
    ]
    assert verdicts(BETA_ONE, rows) == {"SemEval-14": HOLDS, "nfcorpus": FAILS}


@pytest.mark.parametrize(("high", "verdict"), [(0.2, HOLDS), (0.4, FAILS), (0.3001, OPEN)])
def test_a_higher_beta_with_few_strong_points(high, verdict):
    rows = [*betas("toy*", {0.0: 0.1, 1.0: 0.3, 2.0: high}), *betas("toy", {1.0: 0.3, 2.0: 0.2})]
    assert verdicts(BETA_HIGHER, rows) == {"toy*": verdict}


@pytest.mark.parametrize(("low", "verdict"), [(0.2, HOLDS), (0.4, FAILS), (0.3001, OPEN)])
def test_a_lower_beta_with_a_bad_annotator(low, verdict):
    rows = [*betas("toy**", {0.0: low, 1.0: 0.3, 2.0: 0.1}), *betas("toy*", {0.0: 0.2, 1.0: 0.3})]
    assert verdicts(BETA_LOWER, rows) == {"toy**": verdict}


def test_p_values_of_beta_are_multiplied_by_the_values_compared():
    rows = betas("toy", {0.0: 0.301, 1.0: 0.3, 2.0: 0.4, 5.0: 0.5})
    a, b = rows[1], rows[0]
    once, thrice = difference(a, b).p, difference(a, b, tests=3).p
    assert thrice == pytest.approx(min(1.0, 3 * once))
    assert found(BETA_ONE, rows)[0].figures.endswith(f"against 0.3010 at β = 0 (the best of 3); p = {thrice:.2g}")


def curve(axis, taught, alone, values=around):
    lines = {"FWL": taught, "NN_W->S": alone}
    return [
        row(method, *values(mean, 0.1 if method == "FWL" else 0.2), at={axis: n}, dataset="d", lower=False, metric="F1")
        for method, means in lines.items()
        for n, mean in enumerate(means, start=1)
    ]


@pytest.mark.parametrize(
    ("taught", "alone", "verdict"),
    [((0.5, 0.6), (0.4, 0.5), HOLDS), ((0.3, 0.4), (0.4, 0.5), FAILS), ((0.3, 0.6), (0.4, 0.5001), OPEN)],
)
def test_the_student_learns_faster_with_a_teacher(taught, alone, verdict):
    assert verdicts(FASTER, curve("n_strong", taught, alone)) == {"d, more strong data": verdict}
    assert verdicts(FASTER, curve("weak_share", taught, alone)) == {"d, more weak data": verdict}


def test_both_ways_to_have_more_data_are_judged_apart():
    rows = [*curve("n_weak", (0.5, 0.6), (0.4, 0.5)), *curve("n_strong", (0.3, 0.4), (0.4, 0.5))]
    assert verdicts(FASTER, rows) == {"d, more weak data": HOLDS, "d, more strong data": FAILS}


def test_our_own_student_is_judged_beside_the_papers():
    papers = curve("n_strong", (0.3, 0.4), (0.4, 0.5))
    ours = [replace(line, method=f"{line.method}_score") for line in curve("n_strong", (0.5, 0.6), (0.4, 0.5))]
    assert verdicts(FASTER, [*papers, *ours]) == {
        "d, more strong data": FAILS,
        "d, more strong data, by our own student": HOLDS,
    }
    taught = annotated({"bm25": 0.2, "rm3": 0.3}, (0.3, 0.31))
    ours = [replace(line, method="FWL_score") for line in taught if line.method == "FWL"]
    assert list(verdicts(ANNOTATORS, [*taught, *ours])) == ["nfcorpus", "nfcorpus, by our own student"]


def one_seed(better_than):
    def at(n, method, beats):
        beaten = better_than if beats else ()
        return row(method, 0.5 + 0.1 * beats, at={"n_strong": n}, dataset="d", lower=False, better_than=beaten)

    return [at(n, method, method == "FWL") for n in (1, 2, 3) for method in ("FWL", "NN_W->S")]


def test_with_one_seed_what_most_amounts_show_over_queries_decides():
    assert verdicts(FASTER, one_seed(("NN_W->S",))) == {"d, more strong data": HOLDS}
    assert verdicts(FASTER, one_seed(())) == {"d, more strong data": OPEN}


def annotated(own, taught, spread=0.1):
    return [
        row(method, *values, dataset=f"nfcorpus, {name}", metric="MAP", lower=False)
        for i, name in enumerate(own)
        for method, values in (("WA", [own[name]] * 5), ("FWL", around(taught[i], spread)))
    ]


@pytest.mark.parametrize(
    ("taught", "spread", "verdict"),
    [
        ((0.2, 0.3, 0.35), 0.1, HOLDS),  # + 100 %, + 50 %, + 17 %
        ((0.11, 0.3, 0.6), 0.1, FAILS),  # + 10 %, + 50 %, + 100 %
        ((0.13, 0.26, 0.39), 1.0, OPEN),  # + 30 % each
    ],
)
def test_the_better_the_annotator_the_smaller_the_gain(taught, spread, verdict):
    own = {"binary": 0.1, "bm25": 0.2, "rm3": 0.3}
    (finding,) = found(ANNOTATORS, annotated(own, taught, spread))
    assert (finding.data, finding.verdict) == ("nfcorpus", verdict)
    assert "MAP of binary 0.1000, FWL" in finding.figures


def test_one_annotator_alone_decides_nothing():
    (finding,) = found(ANNOTATORS, annotated({"bm25": 0.2}, (0.3,)))
    assert (finding.data, finding.verdict) == ("", OPEN)


def test_a_gain_is_a_share_of_the_annotators_own_and_knows_which_way_is_up():
    assert gain(0.3, row("WA", 0.2, lower=False)) == pytest.approx(0.5)
    assert gain(0.1, row("WA", 0.2, lower=True)) == pytest.approx(0.5)
    assert gain(0.1, row("WA", 0.0)) == 0.0


def sampled(first, last):
    means = {"FWL_s": (first, last), "FWL": (0.5, 0.7)}
    return [
        row(method, *around(mean, 0.1 if method == "FWL" else 0.2), at={"finetune_steps": n}, dataset="d", lower=False)
        for method, pair in means.items()
        for n, mean in zip((10, 800), pair, strict=True)
    ]


@pytest.mark.parametrize(
    ("first", "last", "verdict"),
    [(0.6, 0.6, HOLDS), (0.4, 0.6, FAILS), (0.6, 0.8, FAILS), (0.6, 0.7001, OPEN), (0.5001, 0.6, OPEN)],
)
def test_sampling_starts_faster_and_ends_slower(first, last, verdict):
    assert verdicts(SAMPLING, sampled(first, last)) == {"d": verdict}


def taught_by(clustered, reduced, single):
    means = {"FWL_GP": single, "FWL_PCA->GP": reduced, "FWL_clusteredGP": clustered}
    return [row(name, *around(mean, 0.1 * i), dataset="d", lower=False) for i, (name, mean) in enumerate(means.items())]


@pytest.mark.parametrize(
    ("means", "verdict"),
    [((0.7, 0.6, 0.5), HOLDS), ((0.7, 0.5, 0.6), FAILS), ((0.5, 0.6, 0.4), FAILS), ((0.7, 0.6, 0.6001), OPEN)],
)
def test_clustered_then_pca_then_single(means, verdict):
    assert verdicts(TEACHERS, taught_by(*means)) == {"d": verdict}


def test_what_was_not_run_is_not_decided():
    judged = judge([])
    assert [entry.claim for entry in judged] == list(CLAIMS)
    assert {finding.verdict for entry in judged for finding in entry.findings} == {OPEN}
    assert judged[ANNOTATORS].findings[0].figures == "`annotators` has no rows of it here: not run"


def test_rows_of_one_table_bring_their_p_value_along():
    good, bad = row("FWL", 0.3, 0.3, better_than=("NN_W",)), row("NN_W", 0.4, 0.6)
    assert (difference(good, bad).p, difference(bad, good).p) == (0.01, 0.01)
    assert (difference(good, bad).direction, difference(bad, good).direction) == (1, -1)
    elsewhere = row("NN_W", 0.4, 0.6, at={"beta": 1.0})
    assert difference(good, elsewhere).p > 0.05  # two seeds tell little


def test_rows_of_different_seeds_are_not_paired():
    assert difference(row("a", 0.1, 0.1, 0.1), row("b", 0.9, 0.8)).p == 1.0
    mixed = [*curve("n_weak", (0.5,), (0.4,)), row("FWL", 0.9, at={"n_weak": 2}, dataset="d", lower=False, metric="F1")]
    mixed.append(row("NN_W->S", 0.1, 0.2, at={"n_weak": 2}, dataset="d", lower=False, metric="F1"))
    assert "p = 1;" in found(FASTER, mixed)[0].figures


def test_a_claim_is_about_the_first_metric_of_each_dataset():
    rows = (row("a", 0.1), row("a", 0.2, metric="other"), row("a", 0.3, dataset="second", metric="other"))
    groups = first_metrics(table_result(rows=rows))
    assert [(group[0].dataset, group[0].metric) for group in groups] == [("toy", "rmse"), ("second", "other")]
